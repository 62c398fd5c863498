package props

import (
	"context"
	"fmt"
	"sync"
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// groupProgram is a test case for a group: some callers take turns, and the
// group is shut down meanwhile.
type groupProgram struct {
	Children, Callers, Calls int
	Body                     time.Duration // how long each task takes
	ShutdownAt               time.Duration
	Quiet, Timeout           time.Duration
	Hard                     bool // Shutdown instead of ShutdownGracefully
	OneFirst                 bool // the first child is shut down by itself before
}

// GroupProperty is the property of G21: Next is exactly fair whoever calls, a
// shutdown of the group reaches every child, the group is done after its last
// child and not before, its report is the sum of theirs, and what they accepted
// has run.
func GroupProperty(observe func(Verdict)) func(*rapid.T) {
	return func(t *rapid.T) {
		p := groupProgram{
			Children: rapid.IntRange(1, 5).Draw(t, "children"), Callers: rapid.IntRange(1, 4).Draw(t, "callers"),
			Calls:      rapid.IntRange(0, 12).Draw(t, "calls"),
			Body:       rapid.SampledFrom(grid).Draw(t, "body"),
			ShutdownAt: rapid.SampledFrom(grid).Draw(t, "shutdown at"),
			Quiet:      rapid.SampledFrom(grid).Draw(t, "quiet"),
			Hard:       rapid.Bool().Draw(t, "hard"),
			OneFirst:   rapid.Bool().Draw(t, "one first"),
		}
		p.Timeout = p.Quiet + rapid.SampledFrom(grid).Draw(t, "slack")
		var broken string
		rapid.SyncTest(t, func(*rapid.T) { broken = p.run() })
		v := Verdict{Exercised: map[string]bool{"G21": p.Children > 1 && p.Calls > 0}}
		if broken != "" {
			v.Violations = []history.Violation{{Guarantee: "G21", Predicate: "GroupProperty", Sentence: "a group ends as one", Text: broken}}
		}
		if observe != nil {
			observe(v)
		}
		if broken != "" {
			t.Fatalf("G21 %s\nprogram %+v", broken, p)
		}
	}
}

// run runs the program in the caller's bubble and says what was wrong, or "".
func (p groupProgram) run() string {
	g, err := core.NewExecutorGroup(p.Children)
	if err != nil {
		return err.Error()
	}
	watch := watchGroup(g)
	var mu sync.Mutex
	accepted, ran := 0, 0
	var callers sync.WaitGroup
	for range p.Callers {
		callers.Go(func() {
			for range p.Calls {
				err := g.Execute(func() { time.Sleep(p.Body); mu.Lock(); ran++; mu.Unlock() })
				if err == nil {
					mu.Lock()
					accepted++
					mu.Unlock()
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	if text := p.withOneChildLess(g); text != "" {
		return text
	}
	time.Sleep(p.ShutdownAt)
	if p.Hard {
		g.Shutdown()
	} else if _, err := g.ShutdownGracefully(p.Quiet, p.Timeout); err != nil {
		return err.Error()
	}
	callers.Wait()
	report, err := g.Termination().Wait(context.Background())
	switch {
	case err != nil:
		return fmt.Sprintf("ended with %v", err)
	case accepted != ran || report.Accepted != int64(accepted) || report.Ran != int64(ran):
		return fmt.Sprintf("accepted %d, ran %d, and the report says %d and %d", accepted, ran, report.Accepted, report.Ran)
	case g.State() != core.StateTerminated:
		return fmt.Sprintf("done, and the state is %v", g.State())
	case g.Context().Err() == nil:
		return "done, and the Context has not ended"
	}
	if text := watch(); text != "" {
		return text
	}
	return p.turns(g)
}

// withOneChildLess shuts one child down, if there are others, and says whether the
// group took that for its own end: its State is the least of the children's, and its
// Context ends with the last of them.
func (p groupProgram) withOneChildLess(g *core.Group) string {
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

// watchGroup returns a function that says whether Done was closed too early. It
// looks from a listener of the group's, which runs as Done is closed.
func watchGroup(g *core.Group) func() string {
	result := make(chan string, 1)
	g.Termination().OnDone(func(core.Report, error) {
		for child := range g.All() {
			if child.State() != core.StateTerminated {
				result <- fmt.Sprintf("Done is closed, and a child is %v", child.State())
				return
			}
		}
		result <- ""
	})
	return func() string { return <-result }
}

// turns calls Next from many goroutines: k calls per child, each child k times.
func (p groupProgram) turns(g *core.Group) string {
	var mu sync.Mutex
	counts := map[core.EventExecutor]int{}
	var callers sync.WaitGroup
	for range p.Children {
		callers.Go(func() {
			for range p.Callers {
				child := g.Next()
				mu.Lock()
				counts[child]++
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	for child := range g.All() {
		if counts[child] != p.Callers {
			return fmt.Sprintf("%d calls of Next on %d children gave one of them %d turns, want %d", p.Children*p.Callers, p.Children, counts[child], p.Callers)
		}
	}
	return ""
}
