package history

import (
	"fmt"
	"slices"
	"time"
)

// History is a log with an index for the predicates. It is read-only after Of, so
// goroutines may share it.
type History struct {
	Rules  Rules
	Events []Event // Events[i].N == i+1

	calls    []*call          // in the order of their Invoke
	byN      []*call          // by N of the Invoke
	entries  []*entry         // in the order of their submission
	byID     map[int]*entry   // by ID
	spans    []*span          // bodies without listeners, in the order of their Begin
	slow     []*span          // listeners of the loop, outside of bodies, that took time, in the order of their End
	moves    []*Event         // Transit events
	looks    []look           // observations of InEventLoop
	promised []look           // completions of promises that have listeners
	heard    map[int]int      // N of the Begin of a promise's first listener, by its label
	loops    map[int64]bool   // goroutines that ran a body or parked
	named    map[int64]string // goroutines that Name named
	first    *call            // the first shutdown call that was not refused
	asked    int              // N of the first event that shows the shutdown: a Transit, or else the Invoke of first; 0: none
	closed   int              // N of the first Transit to Shutdown or later; 0: none
	done     int              // N of the first Done or of its first observation; 0: never
	askedAt  time.Duration    // At of asked, or of the first shutdown call
	room     *room            // the memory of most of this
}

// call is one Invoke and its Return.
type call struct {
	inv, ret   *Event // ret is nil while the call is open
	admit      *Event // the Admit event of the call; nil if the executor writes none
	entry      *entry // the task, timer, hook or registration concerned, or nil
	within     *span  // the body that made it; nil if made outside
	inListener bool   // it was made in a listener
	number     int    // its position in the calls of the history
}

// entry is a task, timer, hook or registration, from its submission on.
type entry struct {
	id        int
	jitter    time.Duration // of a timer: how much later each of its deadlines is, see Rules.Jitter
	submit    *call
	runs      []*span
	listeners []*span
	cancels   []*call // Cancel calls
	resets    []*call // Reset calls
	removes   []*call // RemoveHook calls
	complete  []*Event
	deadlines []deadline // of the runs and of the next one, if the timer was moved

	// Of a registration.
	ends    []*Event // Ended
	readied []*Event // Readied
	closes  []*call  // OpEnd
	listens []*call  // OpListen
}

// look is one observation of InEventLoop, or of the completion of a promise.
type look struct {
	event    *Event
	within   *span // the body that made it
	listener *span // the listener that made it
}

// span is one run of a body.
type span struct {
	begin, end *Event // end is nil while it runs
	entry      *entry // nil if it was never submitted
}

// Name names goroutines of the log, so that reports use the names of the program. Other
// goroutines are called loop, loop2, ... or g1, g2, ..., skipping names in use. Call it
// before other goroutines use h.
func (h *History) Name(names map[int64]string) { h.named = names }

// Of indexes the events. It returns an error for a malformed log, which is a mistake of its
// writer and not of the executor: positions out of order, a Return without its Invoke,
// an End without its Begin, a label that is used twice, or, in virtual time, a clock that
// runs backwards. Of keeps the slice, so the caller must not change the events afterwards.
func Of(events []Event, rules Rules) (*History, error) {
	h := &History{
		Rules:  rules,
		Events: events,
		loops:  map[int64]bool{},
		heard:  map[int]int{},
	}
	ix := newIndexer(h)
	for i := range events {
		e := &events[i]
		if e.N != i+1 {
			return nil, fmt.Errorf("history: event %d carries position %d", i+1, e.N)
		}
		if rules.Virtual && i > 0 && e.At < events[i-1].At {
			return nil, fmt.Errorf("history: #%d is at %v, before its predecessor at %v, in virtual time", e.N, e.At, events[i-1].At)
		}
		if err := ix.add(e); err != nil {
			return nil, fmt.Errorf("history: #%d: %w", e.N, err)
		}
	}
	h.findShutdown()
	h.placeMoves()
	return h, nil
}

// findShutdown finds the call that began the shutdown and its time.
func (h *History) findShutdown() {
	for _, c := range h.calls {
		if c.inv.Op.Shuts() && c.begins() && (h.first == nil || c.decidedBefore(h.first)) {
			h.first = c
		}
	}
	for i := range h.moves {
		m := h.moves[i]
		if m.To >= ShuttingDown && h.asked == 0 {
			h.asked, h.askedAt = m.N, m.At
		}
		if m.To >= Shutdown && h.closed == 0 {
			h.closed = m.N
		}
	}
	if h.asked == 0 && h.first != nil {
		h.asked, h.askedAt = h.first.inv.N, h.first.inv.At
	}
}

// begins reports whether a shutdown call began a shutdown. Close inside the loop or the spawner
// begins one too, although it refuses to wait (G18).
func (c *call) begins() bool {
	return !c.refused() || c.inv.Op == OpClose && (c.answered(RefusedInLoop) || c.answered(RefusedStarting))
}

// decidedBefore reports whether the log shows that the executor decided c before d. If
// the log shows neither decision, the earlier Invoke counts as earlier.
func (c *call) decidedBefore(d *call) bool {
	return c.admit != nil && (d.admit == nil || c.admit.N < d.admit.N)
}

// callAt returns the call whose Invoke is at n, or nil.
func (h *History) callAt(n int) *call {
	if n < 0 || n >= len(h.byN) {
		return nil
	}
	return h.byN[n]
}

func (h *History) at(n int) time.Duration { return h.Events[n-1].At }

func (c *call) accepted() bool { return c.ret != nil && c.ret.Outcome == Accepted }
func (c *call) refused() bool  { return c.ret != nil && c.ret.Outcome.IsRefusal() }
func (c *call) answered(o Outcome) bool {
	return c.ret != nil && c.ret.Outcome == o
}

// returnedBefore reports whether c returned before n.
func (c *call) returnedBefore(n int) bool { return c.ret != nil && c.ret.N < n }

func (e *entry) op() Op         { return e.submit.inv.Op }
func (e *entry) accepted() bool { return e.submit.accepted() }
func (e *entry) began() bool    { return len(e.runs) > 0 }
func (e *entry) hook() bool     { return e.op() == OpAddHook }
func (e *entry) periodic() bool { return e.op() == OpFixedRate || e.op() == OpFixedDelay }

// registers reports whether it is a registration.
func (e *entry) registers() bool { return e.op().Registers() }

// endedBy returns the first Ended event of a registration, or nil.
func (e *entry) endedBy() *Event {
	if len(e.ends) == 0 {
		return nil
	}
	return e.ends[0]
}

// firstBegin returns the position at which the body first began, or 0.
func (e *entry) firstBegin() int {
	if !e.began() {
		return 0
	}
	return e.runs[0].begin.N
}

// cancelled returns the Cancel call that returned true, or nil.
func (e *entry) cancelled() *call { return sayingTrue(e.cancels) }

// removed returns the remove call that returned true, or nil.
func (e *entry) removed() *call { return sayingTrue(e.removes) }

func sayingTrue(calls []*call) *call {
	i := slices.IndexFunc(calls, func(c *call) bool { return c.answered(True) })
	if i < 0 {
		return nil
	}
	return calls[i]
}

// completedAs reports whether the log has the future or timer complete with o.
func (e *entry) completedAs(o Outcome) bool {
	return slices.ContainsFunc(e.complete, func(ev *Event) bool { return ev.Outcome == o })
}

// firstDeadline returns the earliest instant at which the timer may first run, unless Reset
// moves it.
func (e *entry) firstDeadline() time.Duration {
	return Later(Later(e.submit.inv.At, e.submit.inv.Delay), e.jitter)
}

// what returns the name of the entry in messages, such as "task 2".
func (e *entry) what() string { return fmt.Sprintf("%s %d", noun(e.op()), e.id) }

// noun returns what the call submits.
func noun(o Op) string {
	switch {
	case o == OpAfterIteration:
		return "tail task"
	case o.Tasks():
		return "task"
	case o.Timers():
		return "timer"
	case o == OpAddHook:
		return "hook"
	case o == OpRegister:
		return "registration"
	default:
		return o.String()
	}
}

// endN returns the position at which the body ended, or a position beyond the log.
func (s *span) endN(h *History) int {
	if s.end == nil {
		return len(h.Events) + 1
	}
	return s.end.N
}
