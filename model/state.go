package model

import "slices"

// Config is the configuration of an executor.
type Config struct {
	Policy TimerPolicy
	Drain  DrainPolicy
	Limit  int // capacity for tasks that are accepted and have not begun (G19); 0: unbounded
}

// State is the state of the model. Only [New], [Next] and a [Simulation] make states. [Next]
// copies the slices, so it never changes an earlier state; a Simulation changes only its own
// states.
type State struct {
	Config
	Phase Phase

	// Starting (G17).
	Up          bool // the spawner accepted, so the loop exists
	StartFailed bool // a start failed; a call that waited for the start may return the error later

	// The shutdown, with the parameters of the first call (G16).
	Quiet        bool // quiet > 0
	Timeout      bool // timeout > 0
	QuietElapsed bool // the quiet period has passed since the shutdown call and the last body
	ClosedBy     Op   // the action that ended admission; meaningful from Shutdown on

	// Accepted work that has not ended.
	Running    Body    // the running body (G2)
	LastHook   bool    // Running is a hook accepted after the close, which may not add hooks (G6)
	Queue      []int   // tasks not begun, in order of acceptance (G4)
	Tails      []int   // tail tasks not begun, likewise
	Marked     int     // how many at the head of Queue were accepted before the first shutdown call (G6)
	MarkedTail int     // the same count for Tails
	Timers     []Timer // not ended
	Hooks      []Hook  // not begun, in order of addition (G6)
	Regs       []Reg   // registrations whose owners have not been notified of the end

	// Counters of tasks and tail tasks, each updated where the event happens (G20).
	Accepted, Ran, Cancelled, Refused int

	// Ledger is the history of every submitted body, by kind and then by number. It
	// serves the invariants. Rules read from it only whether a body was submitted,
	// refused or cancelled.
	Ledger []Record
}

// Hook is a shutdown hook that has not begun.
type Hook struct {
	ID int
	At Phase // when it was accepted
}

// Reg is a registration, plain or a channel, whose owner has not been notified of its
// end.
type Reg struct {
	Body
	Asked  Part // of a channel: Drain or Abort, once the loop has requested it; Ready before
	Lost   bool // the poller has lost it
	Closed bool // it has ended: none of its bodies begins any more (G22)
}

// TimerStatus is the progress of a timer that has not ended.
type TimerStatus uint8

const (
	// TimerWaiting may begin at any moment, because there is no clock.
	TimerWaiting TimerStatus = iota
	// TimerDue was due at the shutdown call or when admission closed. It runs unless it is
	// cancelled or the loop fails.
	TimerDue
	// TimerDoomed will end with ErrCancelled without another run.
	TimerDoomed
	// TimerRunning has its body running.
	TimerRunning
	// TimerLastRun is a periodic timer that was cancelled while its body runs.
	TimerLastRun

	// timerUnsettled is replaced before [Next] returns: by TimerDue in one state, and
	// by TimerDoomed in another. A [Simulation] keeps it until an action shows which.
	timerUnsettled
	// timerUnplaced is replaced likewise: by TimerWaiting, for a deadline before the
	// timeout of the shutdown, and by TimerDoomed, for a later one.
	timerUnplaced
)

// Timer is a timer that has not ended.
type Timer struct {
	ID       int
	At       Phase // when it was accepted
	Periodic bool
	Status   TimerStatus
}

// Record is the history of one submitted body.
type Record struct {
	Body
	At        Phase // when it was accepted; 0 if it was refused
	Periodic  bool  // may begin again: a periodic timer, a registration
	Refused   bool
	Cancelled bool  // by its owner or by the timer policy
	Begun     uint8 // times begun: 0, 1, or 2 for more; counting stops at 1 if Periodic
	Inside    bool  // begun and not ended
	Ran       bool  // ended, and will not run again; a registration: its owner was notified
	Drains    uint8 // of a channel: requests to drain: 0, 1, or 2 for more
	Aborts    uint8 // of a channel: requests to abort, likewise
	Closed    bool  // of a registration: it has ended
}

// New returns the state of an unused executor.
func New(c Config) State { return State{Config: c} }

// clone returns a copy that shares no memory with s.
func (s *State) clone() State {
	c := *s
	c.Queue = slices.Clone(s.Queue)
	c.Tails = slices.Clone(s.Tails)
	c.Timers = slices.Clone(s.Timers)
	c.Hooks = slices.Clone(s.Hooks)
	c.Regs = slices.Clone(s.Regs)
	c.Ledger = slices.Clone(s.Ledger)
	return c
}

// queued returns the number of bodies that count towards the limit of the queue (G19).
func (s *State) queued() int { return len(s.Queue) + len(s.Tails) }

// full reports whether the queue is at its limit.
func (s *State) full() bool { return s.Limit > 0 && s.queued() >= s.Limit }

// marksLeft reports whether a task that was accepted before the first shutdown call has
// not begun. A running task needs no mark, because nothing begins while it runs.
func (s *State) marksLeft() bool { return s.Marked+s.MarkedTail > 0 }

// earlyHookPending reports whether a hook that was added before the shutdown call waits.
func (s *State) earlyHookPending() bool {
	return len(s.Hooks) > 0 && s.Hooks[0].At < ShuttingDown
}

// timer returns timer id if it has not ended, or nil.
func (s *State) timer(id int) *Timer {
	for i := range s.Timers {
		if s.Timers[i].ID == id {
			return &s.Timers[i]
		}
	}
	return nil
}

// hook returns the position of pending hook id, or -1.
func (s *State) hook(id int) int {
	return slices.IndexFunc(s.Hooks, func(h Hook) bool { return h.ID == id })
}

// reg returns registration b, or nil once its owner was notified of its end.
func (s *State) reg(b Body) *Reg {
	for i := range s.Regs {
		if s.Regs[i].Body == b {
			return &s.Regs[i]
		}
	}
	return nil
}

// openReg returns registration b, or nil once it has ended.
func (s *State) openReg(b Body) *Reg {
	if r := s.reg(b); r != nil && !r.Closed {
		return r
	}
	return nil
}

// record returns the ledger's entry for b, or nil if b was never submitted.
func (s *State) record(b Body) *Record {
	if i := s.place(b); i < len(s.Ledger) && s.Ledger[i].Body == b {
		return &s.Ledger[i]
	}
	return nil
}

// place returns the position in the ledger of the record of b, or where it would be inserted.
func (s *State) place(b Body) int {
	from, to := 0, len(s.Ledger)
	for from < to {
		i := int(uint(from+to) >> 1)
		if r := &s.Ledger[i]; r.Kind < b.Kind || r.Kind == b.Kind && r.ID < b.ID {
			from = i + 1
		} else {
			to = i
		}
	}
	return from
}

// entry returns the ledger's entry for b, and adds one if b was never submitted.
func (s *State) entry(b Body) *Record {
	if r := s.record(b); r != nil {
		return r
	}
	return s.insert(Record{Body: b})
}

// insert adds r to the ledger, behind any other record of the same body: that would be a
// mistake of a rule, and an invariant finds it.
func (s *State) insert(r Record) *Record {
	i := s.place(Body{r.Kind, r.ID + 1})
	s.Ledger = slices.Insert(s.Ledger, i, r)
	return &s.Ledger[i]
}

// cancelled reports whether b was cancelled or, for a hook, removed.
func (s *State) cancelled(b Body) bool {
	r := s.record(b)
	return r != nil && r.Cancelled
}

// restarts reports whether the running body restarts the quiet period at its end. The bodies of
// registrations do not, because a shutdown itself runs them. (In core a handler that runs at the
// shutdown call restarts it. The model has no clock, and permits both.)
func (s *State) restarts() bool { return s.Running.Kind != NoBody && !s.Running.registers() }
