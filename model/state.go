package model

import "slices"

// Config is what an executor was made with.
type Config struct {
	Policy TimerPolicy
	Drain  DrainPolicy
	Limit  int // room in the queue for tasks accepted and not begun (G19); 0: unbounded
}

// State is everything the model knows at one moment. Only this package makes
// states: by [New] and [Next]. Two states share no slice that is written.
type State struct {
	Config
	Phase Phase

	// Starting (G17).
	Up          bool // the spawner accepted: there is a loop
	StartFailed bool // some start failed; a waiter may learn of it late

	// The shutdown. The first call's parameters stand (G16).
	Quiet        bool       // quiet > 0
	Timeout      bool       // timeout > 0
	QuietElapsed bool       // no body has ended for the quiet period
	ClosedBy     ActionKind // what ended admission; meaningful from Shutdown on

	// What was accepted and has not ended.
	Running    Body    // the one body that runs (G2)
	LastHook   bool    // Running is a hook accepted after the close: it may add none (G6)
	Queue      []int   // tasks not begun, in order of acceptance (G4)
	Tails      []int   // tail tasks not begun, likewise
	Marked     int     // how many at the head of Queue were accepted before the first shutdown call (G6)
	MarkedTail int     // the same of Tails
	Timers     []Timer // not ended
	Hooks      []Hook  // not begun, in order of addition (G6)
	Regs       []Reg   // registrations whose owners have not been told of their end

	// Counters of tasks and tail tasks, each kept where it happens (G20).
	Accepted, Ran, Cancelled, Refused int

	// Ledger is the history of every body ever submitted, sort by sort, each in
	// order. It is for the invariants: apart from "was this number used before"
	// and "was it cancelled" no rule reads it.
	Ledger []Record
}

// Hook is a shutdown hook that has not begun.
type Hook struct {
	ID int
	At Phase // when it was accepted
}

// Reg is a registration, plain or a channel, whose owner has not been told that
// it has ended.
type Reg struct {
	Body
	Asked  Part // of a channel: Drain or Abort, once the loop has requested it; Ready before
	Lost   bool // the poller has given it up
	Closed bool // it has ended: nothing of it begins any more (G22)
}

// TimerStatus says how far a live timer is.
type TimerStatus uint8

const (
	// TimerWaiting may begin at any moment: there is no clock.
	TimerWaiting TimerStatus = iota
	// TimerDue was due at the call or close that settled the timers: it must run.
	TimerDue
	// TimerDoomed will end with ErrCancelled without another run.
	TimerDoomed
	// TimerRunning has its body running.
	TimerRunning
	// TimerLastRun is running and was cancelled meanwhile. Periodic ones only.
	TimerLastRun

	// timerUnsettled is due or doomed: [Next] returns a state for each.
	timerUnsettled
	// timerUnplaced waits if its deadline is before the timeout of the shutdown,
	// and is doomed if not: likewise.
	timerUnplaced
)

// Timer is a timer that has not ended.
type Timer struct {
	ID       int
	At       Phase // when it was accepted
	Periodic bool
	Status   TimerStatus
}

// Record is what became of one submitted body.
type Record struct {
	Body
	At        Phase // when it was accepted; 0 if it was refused
	Periodic  bool  // may begin again: a periodic timer, a registration
	Refused   bool
	Cancelled bool  // by its owner or by the timer policy
	Begun     uint8 // 0, 1, or 2 for more than once; at most 1 for what may begin again
	Inside    bool  // begun and not ended
	Ran       bool  // ended, and will not run again; a registration: its owner was told
	Drains    uint8 // of a channel: how often it was asked to drain: 0, 1, or 2 for more
	Aborts    uint8 // likewise
	Closed    bool  // of a registration: it has ended
}

// New returns the state of an executor nobody has used.
func New(c Config) State { return State{Config: c} }

// clone returns a copy that shares nothing with s.
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

// queued is what takes room in a bounded queue (G19).
func (s *State) queued() int { return len(s.Queue) + len(s.Tails) }

// full reports whether a task has no room.
func (s *State) full() bool { return s.Limit > 0 && s.queued() >= s.Limit }

// marksLeft reports whether tasks accepted before the first shutdown call have
// not begun. A running one needs no mark: nothing begins while it runs.
func (s *State) marksLeft() bool { return s.Marked+s.MarkedTail > 0 }

// earlyHookPending reports whether a hook added before the shutdown call waits.
func (s *State) earlyHookPending() bool {
	return len(s.Hooks) > 0 && s.Hooks[0].At < ShuttingDown
}

// timer returns the live timer numbered id, or nil.
func (s *State) timer(id int) *Timer {
	for i := range s.Timers {
		if s.Timers[i].ID == id {
			return &s.Timers[i]
		}
	}
	return nil
}

// hook returns the position of the pending hook numbered id, or -1.
func (s *State) hook(id int) int {
	return slices.IndexFunc(s.Hooks, func(h Hook) bool { return h.ID == id })
}

// reg returns the registration b until its owner was told of its end, or nil.
func (s *State) reg(b Body) *Reg {
	for i := range s.Regs {
		if s.Regs[i].Body == b {
			return &s.Regs[i]
		}
	}
	return nil
}

// open returns the registration b if it has not ended, or nil.
func (s *State) open(b Body) *Reg {
	if r := s.reg(b); r != nil && !r.Closed {
		return r
	}
	return nil
}

// record returns the ledger's entry for b, or nil if b was never submitted.
func (s *State) record(b Body) *Record {
	for i := range s.Ledger {
		if s.Ledger[i].Body == b {
			return &s.Ledger[i]
		}
	}
	return nil
}

// entry returns the ledger's entry for b, made if b was never submitted.
func (s *State) entry(b Body) *Record {
	if r := s.record(b); r != nil {
		return r
	}
	return s.insert(Record{Body: b})
}

// insert puts r behind the records of its sort.
func (s *State) insert(r Record) *Record {
	i := slices.IndexFunc(s.Ledger, func(o Record) bool { return o.Kind > r.Kind })
	if i < 0 {
		i = len(s.Ledger)
	}
	s.Ledger = slices.Insert(s.Ledger, i, r)
	return &s.Ledger[i]
}

// cancelled reports whether b was cancelled or, for a hook, removed.
func (s *State) cancelled(b Body) bool {
	r := s.record(b)
	return r != nil && r.Cancelled
}

// restarts reports whether a body runs whose end restarts the quiet period: all
// but those of registrations, which a shutdown is busy to end.
func (s *State) restarts() bool { return s.Running.Kind != NoBody && !s.Running.registers() }
