package stress

import (
	"fmt"

	"eventide/core"
)

// hooked is an executor whose hooks change while it is shut down. What hooks write
// is plain and read after Done.
type hooked struct {
	ex      *core.Executor
	remove  func() bool
	removed bool
	err     error // of the AddShutdownHook in the race
	ran     int32
	other   int32 // runs of a hook that nobody touches
	inside  int32 // hooks that add one

	last   meeting
	inHook meeting
	run    int
}

// hookedRuns numbers the runs. Setup and Outcome are called by one goroutine.
var hookedRuns int

func newHooked() *hooked {
	hookedRuns++
	h := &hooked{ex: started(), run: hookedRuns}
	must(h.ex.AddShutdownHook(func() { h.other++ }))
	return h
}

// withHook returns one with a hook that will be taken back.
func withHook() *hooked {
	h := newHooked()
	h.remove = must(h.ex.AddShutdownHook(h.hook))
	return h
}

// takeBefore returns the only actor: it meets the loop in its last task before the
// hooks, and takes one back while that ends.
func takeBefore(end func(*hooked)) func(*hooked) {
	return func(h *hooked) {
		if err := h.ex.Execute(h.last.attend); err != nil {
			panic(err)
		}
		end(h)
		h.last.meet()
		stagger(h.run)
		h.take()
	}
}

// shutdownInHook is an actor: it begins a graceful shutdown, meets the loop in a
// hook, and closes admission while that adds another hook.
func (h *hooked) shutdownInHook() {
	must(h.ex.AddShutdownHook(func() {
		h.inside++
		h.inHook.attend()
		h.add()
	}))
	must(h.ex.ShutdownGracefully(longTime, longTime))
	h.inHook.meet()
	stagger(h.run)
	h.ex.Shutdown()
}

func (h *hooked) hook()     { h.ran++ }
func (h *hooked) add()      { _, h.err = h.ex.AddShutdownHook(h.hook) }
func (h *hooked) take()     { h.removed = h.remove() }
func (h *hooked) shutdown() { h.ex.Shutdown() }

func (h *hooked) outcomeOfAdd() string {
	return h.outcome(func() string { return answer(h.err) })
}

func (h *hooked) outcomeOfRemove() string {
	return h.outcome(func() string { return fmt.Sprintf("remove %v", h.removed) })
}

// outcome asks what was said only after the end: a hook may have heard it.
func (h *hooked) outcome(said func() string) string {
	if !ended(h.ex) {
		return stuck
	}
	if run := h.ex.Termination().Report().HooksRun; h.other != 1 || run != int64(h.ran+h.other+h.inside) {
		return "another hook was harmed"
	}
	return said() + ", " + times(h.ran)
}

var harmedRow = Row{"another hook was harmed", Forbidden, "G6: each hook runs exactly once, and the report says so."}

func hookRaces() []contest {
	addRows := []Row{
		{"accepted, ran once", Acceptable, "It was added before the close."},
		{"refused, never ran", Acceptable, "The close came first."},
		{"accepted, never ran", Forbidden, "G6: an accepted hook runs unless removed."},
		{"refused, ran once", Forbidden, "G3: what was refused never runs."},
		harmedRow,
	}
	removeRows := []Row{
		{"remove true, never ran", Acceptable, "It was taken back before it began."},
		{"remove false, ran once", Acceptable, "It had begun."},
		{"remove true, ran once", Forbidden, "G6: remove is true only if the hook never starts."},
		{"remove false, never ran", Forbidden, "G6: remove is false only if the hook starts."},
		harmedRow,
	}
	insideRows := []Row{
		{"accepted, ran once", Acceptable, "A hook that was accepted before the close may add one, before the close and after it."},
		{"refused, never ran", Forbidden, "G6: a hook that was accepted before the close may add one at any time."},
		{"accepted, never ran", Forbidden, "G6: an accepted hook runs unless removed."},
		harmedRow,
	}
	graceful := func(h *hooked) { must(h.ex.ShutdownGracefully(0, longTime)) }
	race := func(name string, setup func() *hooked, outcome func(*hooked) string, rows []Row, actors ...func(*hooked)) contest {
		return contest{name: name, run: Race[*hooked]{Setup: setup, Actors: actors, Outcome: outcome}.Run, rows: rows}
	}
	inside := race("AddShutdownHook in a hook against Shutdown", newHooked, (*hooked).outcomeOfAdd, insideRows, (*hooked).shutdownInHook)
	inside.oneOutcome = true
	return []contest{
		race("AddShutdownHook against Shutdown", newHooked, (*hooked).outcomeOfAdd, addRows, (*hooked).add, (*hooked).shutdown),
		race("AddShutdownHook against a graceful shutdown", newHooked, (*hooked).outcomeOfAdd, addRows, (*hooked).add, graceful),
		race("remove against the hook, Shutdown", withHook, (*hooked).outcomeOfRemove, removeRows, takeBefore((*hooked).shutdown)),
		race("remove against the hook, graceful shutdown", withHook, (*hooked).outcomeOfRemove, removeRows, takeBefore(graceful)),
		inside,
	}
}
