package core_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// groupStep is a call of one child of a group.
type groupStep struct {
	op    string // of groupOps
	child int
}

var groupOps = []string{"start", "hold", "release", "shutdown", "graceful"}

// childSpec specifies one child: it holds its loop while a task waits for gate.
type childSpec struct {
	started, called, closed bool
	gate                    chan struct{}
}

func (c *childSpec) state() core.State {
	switch {
	case c.closed && c.gate == nil:
		return core.StateTerminated
	case c.closed:
		return core.StateShutdown
	case c.called:
		return core.StateShuttingDown
	case c.started:
		return core.StateStarted
	}
	return core.StateNotStarted
}

// TestPropG21GroupStates: a group is in the least state of its children, its Context ends with the last of theirs, with
// their cause, and its Done is closed once all have ended. Its counts are the sums of theirs (G1, G11, G21).
func TestPropG21GroupStates(t *testing.T) {
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) groupStep {
		return groupStep{rapid.SampledFrom(groupOps).Draw(t, "op"), rapid.IntRange(0, 2).Draw(t, "child")}
	}), 1, 20)
	rapid.Check(t, func(rt *rapid.T) {
		n, steps := rapid.IntRange(1, 3).Draw(rt, "children"), program.Draw(rt, "steps")
		checkInBubble(t, rt, func(t *testing.T) string { return runGroupStates(t, n, steps) })
	})
}

// runGroupStates returns a description of the first difference, or "".
func runGroupStates(t *testing.T, n int, steps []groupStep) string {
	g, specs, children := coretest.NewExecutorGroup(t, n), make([]childSpec, n), []core.EventExecutor(nil)
	for child := range g.All() {
		children = append(children, child)
	}
	defer func() {
		for _, spec := range specs {
			if spec.gate != nil {
				close(spec.gate)
			}
		}
	}()
	accepted := int64(0)
	for i, s := range steps {
		child, spec := children[s.child%n], &specs[s.child%n]
		switch s.op {
		case "start", "hold":
			gate := make(chan struct{})
			if s.op == "start" || spec.gate != nil {
				close(gate)
			} else if !spec.closed {
				spec.gate = gate
			}
			if err := child.Execute(func() { <-gate }); (err == nil) == spec.closed {
				return fmt.Sprintf("G3: step %d: Execute of a child that is closed (%v): %v", i, spec.closed, err)
			}
			if !spec.closed {
				accepted++
			}
			spec.started = true
		case "release":
			if spec.gate != nil {
				close(spec.gate)
				spec.gate = nil
			}
			spec.closed = spec.closed || spec.called
		case "shutdown":
			child.Shutdown()
			spec.called, spec.closed = true, true
		default: // it closes at once if no body runs
			coretest.MustShutdownGracefully(t, child, 0, 24*time.Hour)
			spec.called, spec.closed = true, spec.closed || spec.gate == nil
		}
		synctest.Wait()
		want, open, cause := core.StateTerminated, false, core.ErrShutdown
		for k := range specs {
			want, open = min(want, specs[k].state()), open || !specs[k].closed
		}
		if open {
			cause = nil
		}
		got, done := g.Stats(), false
		select {
		case <-g.Termination().Done():
			done = true
		default:
		}
		switch {
		case g.State() != want || got.State != want:
			return fmt.Sprintf("G1: step %d of %v: the group is %v, %v in its stats; want %v", i, steps, g.State(), got.State, want)
		case done != (want == core.StateTerminated):
			return fmt.Sprintf("G21: step %d of %v: Done of the group is closed %v, want %v", i, steps, done, !done)
		case context.Cause(g.Context()) != cause:
			return fmt.Sprintf("G11: step %d of %v: the cause of Context is %v, want %v", i, steps, context.Cause(g.Context()), cause)
		case got.Accepted != accepted || g.Termination().Report().Accepted != accepted:
			return fmt.Sprintf("G20: step %d of %v: %d tasks were accepted, want %d", i, steps, got.Accepted, accepted)
		}
	}
	return ""
}
