package stress

import (
	"runtime"

	"eventide/core"
)

// observer looks at an executor from outside, all the time.
type observer struct {
	looks  int64
	faults faults
}

// run looks until the end has come, and then once more.
func (o *observer) run(ex core.EventExecutor) {
	seen := core.StateNotStarted
	for over := false; !over; {
		over = isClosed(ex.Termination().Done())
		s := ex.Stats()
		o.judge(s, seen, over, isClosed(ex.Termination().Done()))
		seen = s.State
		o.looks++
		runtime.Gosched()
	}
}

// judge judges a snapshot: the state seen before, and whether Done was closed
// before and after it was taken.
func (o *observer) judge(s core.Stats, seen core.State, doneBefore, doneAfter bool) {
	if s.State < seen {
		o.faults.add("G1: a state came after a later one")
	}
	if doneBefore && s.State != core.StateTerminated {
		o.faults.add("G15: Done is closed and the state is not Terminated")
	}
	if s.State == core.StateTerminated && !doneAfter {
		o.faults.add("G15: the state is Terminated and Done is open")
	}
	if s.Accepted != s.Ran+s.Cancelled+int64(s.Pending) {
		o.faults.add("G20: accepted is not ran + cancelled + pending")
	}
	if doneBefore && s.Pending != 0 {
		o.faults.add("G20: tasks are pending after Done")
	}
}
