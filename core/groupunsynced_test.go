package core_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

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
	{"Execute", func(g *core.Group) { _ = g.Execute(func() { time.Sleep(poolStep) }) }},
	{"ExecuteLazy", func(g *core.Group) { _ = g.ExecuteLazy(func() {}) }},
	{"Schedule", func(g *core.Group) { _, _ = g.Schedule(poolStep, func() { time.Sleep(poolStep) }) }},
	{"ScheduleAtFixedRate", func(g *core.Group) { _, _ = g.ScheduleAtFixedRate(0, 3*poolStep, func() {}) }},
	{"Submit", func(g *core.Group) { _ = core.Submit(g, func() (int, error) { return 1, nil }) }},
	{"InEventLoop", func(g *core.Group) { _ = g.InEventLoop() }},
	{"State", func(g *core.Group) { _ = g.State() }},
	{"Stats", func(g *core.Group) { _ = g.Stats() }},
	{"Report", func(g *core.Group) { _ = g.Termination().Report() }},
	{"Err", func(g *core.Group) { _ = g.Termination().Err() }},
	{"OnDone", func(g *core.Group) { g.Termination().OnDone(func(core.Report, error) { time.Sleep(poolStep) }) }},
	{"AwaitTermination", func(g *core.Group) { _ = g.AwaitTermination(endedContext()) }},
	{"Context", func(g *core.Group) { _ = g.Context().Err() }},
	{"ShutdownContext", func(g *core.Group) { _ = g.ShutdownContext() }},
	{"Shutdown", func(g *core.Group) { g.Shutdown() }},
	{"ShutdownGracefully", func(g *core.Group) { _, _ = g.ShutdownGracefully(poolStep, 2*poolStep) }},
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
		coretest.MustExecute(t, g, func() { time.Sleep(5 * poolStep) })
		time.Sleep(poolStep)
	case "ending":
		coretest.MustShutdownGracefully(t, g, 3*poolStep, 20*poolStep)
		time.Sleep(3 * poolStep)
	}
	return g
}

func callGroupAtOnce(t *testing.T, g *core.Group, first, second func(*core.Group)) {
	coretest.CallBeside(poolStep, 5, func() { first(g) }, func(int) { second(g) })
	g.Shutdown()
	coretest.AwaitDone(t, g)
	time.Sleep(10 * poolStep) // of the bubble: listeners of the end run
	if s := g.Stats(); s.Pending != 0 || s.Timers != 0 || s.Accepted != s.Ran+s.Cancelled {
		t.Errorf("G20: the group has ended, and its counts are %+v", s)
	}
}
