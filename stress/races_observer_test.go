package stress

import (
	"runtime"

	"eventide/core"
)

// observed is an executor that is shut down while others compare Done with State.
type observed struct {
	ex    *core.Executor
	looks [2]look
}

// look is what one observer saw: whether it came in time, and what was wrong.
type look struct {
	early bool
	wrong string
}

func newObserved() *observed { return &observed{ex: started()} }

func (o *observed) shutdown() { o.ex.Shutdown() }

// watch looks until the end.
func watch(i int) func(*observed) {
	return func(o *observed) {
		seen := core.StateNotStarted
		for over := false; !over; {
			over = isClosed(o.ex.Termination().Done())
			state := o.ex.State()
			wrong := misfit(state, seen, over, isClosed(o.ex.Termination().Done()))
			if o.looks[i].wrong == "" {
				o.looks[i].wrong = wrong
			}
			o.looks[i].early = o.looks[i].early || !over
			seen = state
			runtime.Gosched() // or the loop would wait for a processor
		}
		if r := o.ex.Termination().Report(); r != o.ex.Termination().Report() || r.Accepted != 1 || r.Ran != 1 {
			o.looks[i].wrong = "the report was not sealed"
		}
	}
}

// misfit judges a state read between two looks at Done.
func misfit(state, seen core.State, doneBefore, doneAfter bool) string {
	switch {
	case state < seen:
		return "the state went back"
	case doneBefore && state != core.StateTerminated:
		return "done, and not Terminated"
	case state == core.StateTerminated && !doneAfter:
		return "Terminated, and not done"
	}
	return ""
}

func (o *observed) outcome() string {
	early := 0
	for _, look := range o.looks {
		if look.wrong != "" {
			return look.wrong
		}
		if look.early {
			early++
		}
	}
	return [...]string{"both came after the end", "one saw the end come", "both saw the end come"}[early]
}

func observerRaces() []contest {
	return []contest{{name: "two observers of Done and State against Shutdown", run: Race[*observed]{
		Setup:   newObserved,
		Actors:  []func(*observed){watch(0), watch(1), (*observed).shutdown},
		Outcome: (*observed).outcome,
	}.Run, rows: []Row{
		{"both saw the end come", Acceptable, "They agreed before, during and after."},
		{"one saw the end come", Acceptable, "The other came when all was over."},
		{"both came after the end", Acceptable, "All was over."},
		{"the state went back", Forbidden, "G1: states only move forward."},
		{"done, and not Terminated", Forbidden, "G15: Terminated if and only if Done is closed."},
		{"Terminated, and not done", Forbidden, "G15: Terminated if and only if Done is closed."},
		{"the report was not sealed", Forbidden, "G15: the report is sealed before Done is closed."},
	}}}
}
