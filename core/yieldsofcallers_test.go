package core_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// On one processor the loop, or the worker of a pool, runs while a producer that never blocks fills the queue. The
// scheduler may give the processor back to the producer at once after one yield, but not after
// each of three.
func TestExecuteYieldsToTheLoop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, ex := range map[string]core.EventExecutor{"executor": coretest.NewExecutor(t), "pool": coretest.NewPool(t, 1)} {
		for range 3*256 + 1 {
			coretest.MustExecute(t, ex, func() {})
		}
		if ran := ex.Stats().Ran; ran == 0 {
			t.Errorf("%s: no task had run when 769 were queued, want the producer to yield at each 256th", name)
		}
	}
}

// A body that fills the queue does not yield: the loop cannot run while it does. On one processor
// nothing else runs during the body, unless the scheduler interrupts it, which it does not do each
// time. Each body has an executor of its own: after a slow yield Execute does not yield for a while.
func TestExecuteInABodyDoesNotYield(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, make := range map[string]func() core.EventExecutor{
		"executor": func() core.EventExecutor { return coretest.NewExecutor(t) },
		"pool":     func() core.EventExecutor { return coretest.NewPool(t, 1) },
	} {
		const bodies = 10
		interrupted := 0
		for range bodies {
			ex := make()
			coretest.OnLoop(t, ex, func() {
				var other atomic.Bool
				go other.Store(true)
				for range 4*256 + 1 {
					coretest.MustExecute(t, ex, func() {})
				}
				if other.Load() {
					interrupted++
				}
			})
		}
		if interrupted == bodies {
			t.Errorf("%s: another goroutine ran during each of %d bodies that filled the queue, want none to yield", name, bodies)
		}
	}
}

// BackOff without a pause yields, so that on one processor the loop makes room.
func TestBackOffWithoutAPauseYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(100, 0)))
	for i := range 200 {
		if err := ex.Execute(func() {}); err != nil {
			t.Fatalf("task %d: %v, want the loop to make room while the caller yields", i, err)
		}
	}
}
