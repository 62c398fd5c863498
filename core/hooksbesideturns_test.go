package core_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestG6HooksAddedBesideTurns: the turns of a loop that shuts down read the list of hooks while other goroutines add and remove
// some. Each hook that is not removed runs once. The race detector sees a list that they share without mu.
func TestG6HooksAddedBesideTurns(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {})
	coretest.MustShutdownGracefully(t, ex, time.Hour, time.Hour)
	const hooks, goroutines = 20000, 2
	var ran, want atomic.Int64
	var callers sync.WaitGroup
	for range goroutines {
		callers.Go(func() {
			for range hooks {
				remove, err := ex.AddShutdownHook(func() { ran.Add(1) })
				if err != nil {
					t.Errorf("AddShutdownHook in the quiet period: %v", err)
					return
				}
				if !remove() {
					want.Add(1)
				}
			}
		})
	}
	var over atomic.Bool
	var task func()
	task = func() { // a turn for each call
		if !over.Load() {
			_ = ex.Execute(task) // refused at the end
		}
	}
	coretest.MustExecute(t, ex, task)
	callers.Wait()
	over.Store(true)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if n := ran.Load(); n != want.Load() {
		t.Errorf("G6: hooks ran %d times, want %d", n, want.Load())
	}
}
