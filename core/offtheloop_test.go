package core_test

import (
	"context"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// TestG18ListenersOfTheTerminationAreOffTheLoop: they run on the goroutine that closed Done, which
// is no longer the loop, and so may wait for the executor.
func TestG18ListenersOfTheTerminationAreOffTheLoop(t *testing.T) {
	for name, ex := range map[string]core.EventExecutor{
		"executor": coretest.NewExecutor(t), "pool": coretest.NewPool(t, 2), "group": coretest.NewExecutorGroup(t, 1),
	} {
		t.Run(name, func(t *testing.T) {
			coretest.OnLoop(t, ex, func() {})
			called := make(chan struct{})
			ex.Termination().OnDone(func(core.Report, error) {
				defer close(called)
				if me, ok := core.Current(); ok || ex.InEventLoop() {
					t.Errorf("G2: Current is %v, InEventLoop %v, want neither", me, ex.InEventLoop())
				}
				coretest.Must(t, ex.AwaitTermination(context.Background()))
			})
			ex.Shutdown()
			coretest.Await(t, "the listener", called)
		})
	}
}

// TestG2InEventLoopInTheTracer: it is true in calls of the tracer on the loop's goroutine, between
// two bodies too, and false in those on other goroutines.
func TestG2InEventLoopInTheTracer(t *testing.T) {
	var loop, onLoop, elsewhere atomic.Int64
	var ex *core.Executor
	var err error
	ex, err = core.NewExecutor(core.WithTracer(tracerFunc(func(ev core.Event) {
		id := loop.Load()
		if id == 0 {
			return
		}
		here := goid.Get() == id
		if here != ex.InEventLoop() {
			t.Errorf("InEventLoop is %v at %v on goroutine %d, and the loop's is %d", !here, ev.Kind, goid.Get(), id)
		}
		if here && ev.Kind == core.EventPark {
			onLoop.Add(1)
		}
		if !here && ev.Kind == core.EventAdmit {
			elsewhere.Add(1)
		}
	})))
	coretest.EndWithTest(t, ex, err)
	coretest.OnLoop(t, ex, func() { loop.Store(goid.Get()) })
	for onLoop.Load() == 0 || elsewhere.Load() == 0 {
		coretest.OnLoop(t, ex, func() {})
	}
	loop.Store(0) // the last events come after the loop
}

// TestPoolAwaitTerminationBeginsNoShutdown: it only waits.
func TestPoolAwaitTerminationBeginsNoShutdown(t *testing.T) {
	pool := coretest.NewPool(t, 1)
	coretest.OnLoop(t, pool, func() {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	coretest.WantErr(t, "AwaitTermination", pool.AwaitTermination(ctx), context.Canceled)
	coretest.Want(t, "state", pool.State(), core.StateStarted)
	coretest.OnLoop(t, pool, func() {})
}
