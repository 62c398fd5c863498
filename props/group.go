package props

import (
	"context"
	"fmt"
	"sync"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/interleave/control"
	"eventide/props/internal/shrink"

	"pgregory.net/rapid"
)

// GroupProgram is a test case for a group, as data: some callers submit tasks, and the
// group is shut down meanwhile.
type GroupProgram struct {
	Children   int           `json:"children"`
	Callers    int           `json:"callers"`
	Calls      int           `json:"calls"`          // of each caller
	Body       time.Duration `json:"body,omitempty"` // how long each task takes
	ShutdownAt time.Duration `json:"shutdownAt,omitempty"`
	Quiet      time.Duration `json:"quiet,omitempty"`
	Timeout    time.Duration `json:"timeout,omitempty"`
	Hard       bool          `json:"hard,omitempty"`     // Shutdown instead of ShutdownGracefully
	Close      bool          `json:"close,omitempty"`    // Close instead of either
	Twice      bool          `json:"twice,omitempty"`    // another goroutine calls Shutdown too
	OneFirst   bool          `json:"oneFirst,omitempty"` // the first child is shut down on its own before
	Mixed      bool          `json:"mixed,omitempty"`    // some calls are timers, hooks, cancelled tasks and tasks that panic
	Main       bool          `json:"main,omitempty"`     // the goroutine that shuts down also makes the calls of one caller, and checks the group instead of a watching goroutine
	Loops      GroupLoops    `json:"loops,omitempty"`    // the children are event loops over epoll, which only RunReal can run
	Cell       GroupCell     `json:"cell,omitzero"`      // instead of all of them
}

// GroupPrograms generates test cases for groups.
func GroupPrograms() *rapid.Generator[GroupProgram] {
	return rapid.Custom(func(t *rapid.T) GroupProgram {
		p := GroupProgram{
			Children: rapid.IntRange(1, 5).Draw(t, "children"), Callers: rapid.IntRange(1, 4).Draw(t, "callers"),
			Calls:      rapid.IntRange(0, 12).Draw(t, "calls"),
			Body:       onGrid.Draw(t, "body"),
			ShutdownAt: onGrid.Draw(t, "shutdown at"),
			Quiet:      onGrid.Draw(t, "quiet"),
			Hard:       rapid.Bool().Draw(t, "hard"),
			Close:      rapid.IntRange(0, 3).Draw(t, "close") == 3,
			Twice:      rapid.Bool().Draw(t, "twice"),
			OneFirst:   rapid.Bool().Draw(t, "one first"),
			Mixed:      rapid.Bool().Draw(t, "mixed"),
		}
		p.Timeout = p.Quiet + onGrid.Draw(t, "slack")
		if oneIn(t, 4, "cell") {
			return GroupProgram{Children: p.Children, Cell: groupCell(t)}
		}
		return p
	})
}

// MinimiseGroup returns a smaller program that is still a violation, as Minimise does.
func MinimiseGroup(p GroupProgram, violates func(GroupProgram) bool) GroupProgram {
	return shrink.Least(p, func(pick *shrink.Pick, p GroupProgram) GroupProgram { return shrink.One(pick, p, p.smaller()) }, violates)
}

// smaller returns the programs that are one step smaller.
func (p GroupProgram) smaller() (list []GroupProgram) {
	keep := func(q GroupProgram) {
		if q != p && q.Children > 0 && q.Callers >= one(q.Cell.Context == "") && q.Calls >= 0 {
			list = append(list, q)
		}
	}
	for _, change := range []func(*GroupProgram){
		func(q *GroupProgram) { q.Children /= 2 }, func(q *GroupProgram) { q.Children-- },
		func(q *GroupProgram) { q.Callers /= 2 }, func(q *GroupProgram) { q.Callers-- },
		func(q *GroupProgram) { q.Calls /= 2 }, func(q *GroupProgram) { q.Calls-- },
		func(q *GroupProgram) { q.Body = 0 }, func(q *GroupProgram) { q.ShutdownAt = 0 },
		func(q *GroupProgram) { q.Quiet, q.Timeout = 0, 0 }, func(q *GroupProgram) { q.Hard = false }, func(q *GroupProgram) { q.Close = false },
		func(q *GroupProgram) { q.Twice = false }, func(q *GroupProgram) { q.OneFirst = false },
		func(q *GroupProgram) { q.Mixed = false }, func(q *GroupProgram) { q.Loops = "" },
	} {
		q := p
		change(&q)
		keep(q)
	}
	for _, cell := range p.Cell.smaller() {
		q := p
		q.Cell = cell
		keep(q)
	}
	return list
}

// Exercises reports whether the program has the premise of G21.
func (p GroupProgram) Exercises() bool { return p.Children > 1 && p.Calls > 0 }

// Violation returns the violation for a text that Run returned.
func (p GroupProgram) Violation(text string) history.Violation {
	return history.Violation{Guarantee: "G21", Predicate: "GroupProperty", Sentence: "a group ends as one", Text: text}
}

// Run runs the program in the caller's bubble, and returns a violation as text, or "".
func (p GroupProgram) Run() string {
	if p.Cell.Context != "" {
		return p.runCell(nil)
	}
	g, err := p.Loops.newGroup(p.Children)
	if err != nil {
		return err.Error()
	}
	return p.runOn(g)
}

// runOn is Run on a new group.
func (p GroupProgram) runOn(g *core.Group) string {
	if text := p.turns(g); text != "" { // before any child has started; turns is called again after all have ended
		return text
	}
	watch := watchGroup(g, !p.Main)
	work := groupWork{p: p, g: g}
	var callers sync.WaitGroup
	caller := func() {
		for i := range p.Calls {
			work.call(i)
			time.Sleep(time.Millisecond)
		}
	}
	others := p.Callers
	if p.Main {
		others--
	}
	for range others {
		callers.Go(caller)
	}
	if text := p.withOneChildLess(g); text != "" {
		g.Shutdown()
		callers.Wait()
		watch()
		return text
	}
	if p.Twice {
		callers.Go(func() {
			time.Sleep(p.ShutdownAt)
			g.Shutdown()
		})
	}
	if p.Main {
		caller()
	}
	time.Sleep(p.ShutdownAt)
	if text := p.shutDown(g); text != "" {
		return text
	}
	callers.Wait()
	report, err := g.Termination().Wait(context.Background())
	switch {
	case err != nil:
		return fmt.Sprintf("ended with %v", err)
	case report.Accepted != work.accepted || report.Ran != work.ran || report.Cancelled != work.accepted-work.ran || work.cancelled != report.Cancelled:
		return fmt.Sprintf("accepted %d, ran %d, cancelled %d, and the report says %d, %d and %d",
			work.accepted, work.ran, work.cancelled, report.Accepted, report.Ran, report.Cancelled)
	}
	if text := wrongSums(g, report); text != "" {
		return text
	}
	if text := unfinished(g); text != "" {
		return text
	}
	for _, text := range watch() {
		if text != "" {
			return text
		}
	}
	return p.turns(g)
}

// shutDown makes the shutdown call. Close returns when the group has ended.
func (p GroupProgram) shutDown(g *core.Group) string {
	var err error
	switch {
	case p.Close:
		err = g.Close()
		if !isClosed(g.Termination().Done()) {
			return fmt.Sprintf("Close has returned %v, and the group has not ended", err)
		}
	case p.Hard:
		g.Shutdown()
	default:
		_, err = g.ShutdownGracefully(p.Quiet, p.Timeout)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// groupWork makes the calls of a program and counts its tasks.
type groupWork struct {
	p GroupProgram
	g *core.Group

	mu                       control.Mutex
	accepted, ran, cancelled int64
}

// call makes the i-th call of a caller.
func (w *groupWork) call(i int) {
	body := func() { time.Sleep(w.p.Body); w.count(&w.ran) }
	kind := i % 6
	if !w.p.Mixed {
		kind = 0
	}
	var err error
	switch kind {
	case 1:
		_, _ = w.g.Schedule(w.p.Body, func() {})
		return
	case 2:
		if child, ok := w.g.Next().(interface {
			AddShutdownHook(run func()) (remove func() bool, err error)
		}); ok {
			_, _ = child.AddShutdownHook(func() {})
		}
		return
	case 3:
		fut := core.Submit(w.g, func() (int, error) { body(); return 0, nil })
		if fut.Cancel() {
			w.count(&w.accepted)
			w.count(&w.cancelled)
			return
		}
		_, err = fut.Wait(context.Background())
	case 4:
		err = w.g.Execute(func() { body(); panic(plannedPanic) })
	default:
		err = w.g.Execute(body)
	}
	if err == nil {
		w.count(&w.accepted)
	}
}

func (w *groupWork) count(n *int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// withOneChildLess shuts one child down, if there are others. It returns a text if the
// group took that for its own end: its State is the least of the children's, and its
// Context ends with that of the last child.
func (p GroupProgram) withOneChildLess(g *core.Group) string {
	if !p.OneFirst || p.Children < 2 {
		return ""
	}
	first := g.Next()
	<-first.Shutdown().Done()
	switch {
	case g.State() > core.StateStarted:
		return fmt.Sprintf("one child of %d has ended, and the state of the group is %v", p.Children, g.State())
	case g.Context().Err() != nil:
		return fmt.Sprintf("one child of %d has ended, and so has the Context of the group", p.Children)
	}
	return ""
}

// watchGroup returns a function that checks whether Done was closed too early. A listener
// of the group checks it, which runs when Done is closed; and a goroutine that waits for
// Done: a separate one, or the caller of that function.
func watchGroup(g *core.Group, byAnother bool) func() [2]string {
	listened, waited := make(chan string, 1), make(chan string, 1)
	g.Termination().OnDone(func(core.Report, error) { listened <- unfinished(g) })
	wait := func() {
		<-g.Termination().Done()
		waited <- unfinished(g)
	}
	if byAnother {
		go wait()
	}
	return func() [2]string {
		if !byAnother {
			wait()
		}
		return [2]string{<-listened, <-waited}
	}
}

// unfinished describes the first property of the group that contradicts its closed Done, or
// returns "".
func unfinished(g *core.Group) string {
	for child := range g.All() {
		switch {
		case child.State() != core.StateTerminated:
			return fmt.Sprintf("Done is closed, and a child is %v", child.State())
		case !isClosed(child.Termination().Done()):
			return "Done is closed, and that of a child is not"
		}
	}
	switch stats := g.Stats(); {
	case g.State() != core.StateTerminated:
		return fmt.Sprintf("done, and the state is %v", g.State())
	case g.Context().Err() == nil:
		return "done, and the Context has not ended"
	case stats.Pending != 0 || stats.Accepted != stats.Ran+stats.Cancelled:
		return fmt.Sprintf("done, and of %d tasks that were accepted %d ran, %d were cancelled and %d are pending", stats.Accepted, stats.Ran, stats.Cancelled, stats.Pending)
	}
	return ""
}

// turns calls Next from many goroutines, or from one if Main is set: k calls per child.
// It returns a text unless each child was returned k times.
func (p GroupProgram) turns(g *core.Group) string {
	var mu control.Mutex
	counts := map[core.EventExecutor]int{}
	var callers sync.WaitGroup
	caller := func() {
		for range p.Callers {
			child := g.Next()
			mu.Lock()
			counts[child]++
			mu.Unlock()
		}
	}
	for range p.Children - 1 {
		if p.Main {
			caller()
		} else {
			callers.Go(caller)
		}
	}
	caller()
	callers.Wait()
	for child := range g.All() {
		if counts[child] != p.Callers {
			return fmt.Sprintf("%d calls of Next on %d children gave one of them %d turns, want %d", p.Children*p.Callers, p.Children, counts[child], p.Callers)
		}
	}
	return ""
}
