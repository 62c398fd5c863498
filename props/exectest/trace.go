package exectest

import (
	"time"

	"eventide/props/history"
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// recorder is where a driver writes the events of a run, in order.
type recorder interface {
	Add(e history.Event) (n int)
	Events() []history.Event
}

// trace is the recorder of a run under a chosen schedule, where one goroutine runs until
// its next operation. It has no lock and makes no operation, so that it does not separate
// calls. Its functions are hidden from the race detector, which therefore sees only the
// order that the subject makes.
type trace struct {
	events []history.Event
	start  time.Duration
	over   bool // nothing is recorded any more

	accepted, ended int // tasks
	bodies          int // bodies that run now
	actors          int // actors that have steps left
	done            bool

	awaited func() bool   // the condition of await, or nil
	holds   chan struct{} // closed when the condition holds
}

// spareEvents is the memory for the events of the next schedule.
var spareEvents []history.Event

func newTrace() *trace { return &trace{events: spareEvents[:0], start: control.Now()} }

// close ends the recording and keeps the memory for the next schedule.
//
//go:norace
func (t *trace) close() {
	t.over = true
	spareEvents = t.events
}

// now returns the time since the beginning.
//
//go:norace
func (t *trace) now() time.Duration { return control.Now() - t.start }

// Add implements recorder.
//
//go:norace
func (t *trace) Add(e history.Event) int {
	if t.over {
		return 0
	}
	e.G = goid.Get()
	e.At = t.now()
	e.N = len(t.events) + 1
	if e.Stats != nil {
		stats := *e.Stats // the detector sees no write of this copy, so it reports no race when the judge reads it
		e.Stats = &stats
	}
	t.events = append(t.events, e)
	switch e.Kind {
	case history.Return:
		if e.Op.Tasks() && e.Outcome == history.Accepted {
			t.accepted++
		}
	case history.Begin:
		t.bodies++
	case history.End:
		t.bodies--
		if e.Body == history.BodyTask {
			t.ended++
		}
	case history.Observe:
		t.done = t.done || e.Op == history.OpDone && e.Outcome == history.True
	}
	t.signal()
	return e.N
}

// await returns a channel that is closed once the condition holds.
//
//go:norace
func (t *trace) await(condition func() bool) <-chan struct{} {
	holds := make(chan struct{})
	t.awaited, t.holds = condition, holds
	return holds
}

//go:norace
func (t *trace) signal() {
	if t.awaited != nil && t.awaited() {
		t.awaited = nil
		close(t.holds)
	}
}

// Events returns the recorded events, not a copy.
//
//go:norace
func (t *trace) Events() []history.Event { return t.events }

// act adds n to the number of actors that have steps left.
//
//go:norace
func (t *trace) act(n int) {
	t.actors += n
	t.signal()
}

// atRest reports whether each call has returned and each accepted task has run.
//
//go:norace
func (t *trace) atRest() bool { return t.actors == 0 && t.bodies == 0 && t.accepted <= t.ended }

//go:norace
func (t *trace) isDone() bool { return t.done }
