package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// The calls of this file wait for functions that only the loop can run.
var functionWaits = map[string]func(ctx context.Context, ex core.EventExecutor) error{
	"InvokeAll": func(ctx context.Context, ex core.EventExecutor) error {
		_, err := core.InvokeAll(ctx, ex, give(1))
		return err
	},
	"InvokeAny": func(ctx context.Context, ex core.EventExecutor) error {
		_, err := core.InvokeAny(ctx, ex, give(1))
		return err
	},
	"Future.Wait": func(ctx context.Context, ex core.EventExecutor) error {
		_, err := core.Submit(ex, give(1)).Wait(ctx)
		return err
	},
}

// The spawner of a hand-over runs in the place of the loop, through whatever type a function is
// awaited.
func TestG18FunctionsAwaitedInTheSpawnerOfAHandOver(t *testing.T) {
	for through, wrap := range map[string]func(g *core.Group) core.EventExecutor{
		"the executor":         func(g *core.Group) core.EventExecutor { return g.Next() },
		"a wrapper of it":      func(g *core.Group) core.EventExecutor { return foreign{g.Next()} },
		"a type that has it":   func(g *core.Group) core.EventExecutor { return &embedding{Executor: childOf(g.Next())} },
		"its group":            func(g *core.Group) core.EventExecutor { return g },
		"a wrapper of a group": func(g *core.Group) core.EventExecutor { return &countingGroup{Group: g} },
	} {
		for name, wait := range functionWaits {
			t.Run(name+" through "+through, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					var ex core.EventExecutor
					var got error
					g := coretest.NewExecutorGroup(t, 1, withHandOver(func(loop func()) error {
						ctx, cancel := context.WithTimeout(neverEnds, time.Second)
						defer cancel()
						got = wait(ctx, ex)
						return spawnIt(loop)
					}))
					ex = wrap(g)
					coretest.MustExecute(t, g, goexit)
					time.Sleep(2 * time.Second)
					synctest.Wait()
					if got != core.ErrStarting {
						t.Errorf("G18: %s in the spawner of a hand-over: got %v, want ErrStarting at once", name, got)
					}
				})
			})
		}
	}
}
