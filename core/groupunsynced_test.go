package core_test

import (
	"fmt"
	"log/slog"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// groupCallsAtOnce are the calls of a group. Each makes one call only.
var groupCallsAtOnce = []struct {
	name string
	call func(g *core.Group)
}{
	{"Next", func(g *core.Group) { _ = g.Next() }},
	{"All", func(g *core.Group) {
		for range g.All() {
			break
		}
	}},
	{"Execute", func(g *core.Group) { _ = g.Execute(func() { coretest.TakeStep() }) }},
	{"ExecuteLazy", func(g *core.Group) { _ = g.ExecuteLazy(func() {}) }},
	{"Schedule", func(g *core.Group) { _, _ = g.Schedule(coretest.Step, func() { coretest.TakeStep() }) }},
	{"ScheduleAtFixedRate", func(g *core.Group) { _, _ = g.ScheduleAtFixedRate(0, 3*coretest.Step, func() {}) }},
	{"Submit", func(g *core.Group) { _ = core.Submit(g, func() (int, error) { return 1, nil }) }},
	{"InEventLoop", func(g *core.Group) { _ = g.InEventLoop() }},
	{"State", func(g *core.Group) { _ = g.State() }},
	{"Stats", func(g *core.Group) { _ = g.Stats() }},
	{"Report", func(g *core.Group) { _ = g.Termination().Report() }},
	{"Err", func(g *core.Group) { _ = g.Termination().Err() }},
	{"OnDone", func(g *core.Group) { g.Termination().OnDone(func(core.Report, error) { coretest.TakeStep() }) }},
	{"AwaitTermination", func(g *core.Group) { _ = g.AwaitTermination(endedContext()) }},
	{"Context", func(g *core.Group) { _ = g.Context().Err() }},
	{"ShutdownContext", func(g *core.Group) { _ = g.ShutdownContext() }},
	{"Shutdown", func(g *core.Group) { g.Shutdown() }},
	{"ShutdownGracefully", func(g *core.Group) { _, _ = g.ShutdownGracefully(coretest.Step, 2*coretest.Step) }},
}

// TestGroupCallsNeedNoSynchronisation: all methods of a group may be called from many goroutines at once. It works as
// TestPoolCallsNeedNoSynchronisation does.
func TestGroupCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range []string{"new", "busy", "ending"} {
		for _, first := range groupCallsAtOnce {
			t.Run(state+"/"+first.name, func(t *testing.T) {
				for _, second := range groupCallsAtOnce {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a group that is %s", second.name, first.name, state), func(t *testing.T) {
						callGroupAtOnce(t, newCalledGroup(t, state), first.call, second.call)
					})
				}
			})
		}
	}
}

// newCalledGroup returns a group that has not started, or whose first child runs a body, or which is in its quiet period.
func newCalledGroup(t *testing.T, state string) *core.Group {
	g := coretest.NewExecutorGroup(t, 2, core.WithClock(steppingClock{}), core.WithLogger(slog.New(steppingHandler{})))
	switch state {
	case "busy":
		coretest.MustExecute(t, g, func() { coretest.Pass(5 * coretest.Step) })
		coretest.TakeStep()
	case "ending":
		coretest.MustShutdownGracefully(t, g, 3*coretest.Step, 20*coretest.Step)
		coretest.Pass(3 * coretest.Step)
	}
	return g
}

func callGroupAtOnce(t *testing.T, g *core.Group, first, second func(*core.Group)) {
	coretest.CallBeside(5, func() { first(g) }, func(int) { second(g) })
	g.Shutdown()
	coretest.AwaitDone(t, g)
	coretest.Pass(10 * coretest.Step) // listeners of the end run
	if s := g.Stats(); s.Pending != 0 || s.Timers != 0 || s.Accepted != s.Ran+s.Cancelled {
		t.Errorf("G20: the group has ended, and its counts are %+v", s)
	}
}
