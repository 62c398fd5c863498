package core_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// exitsOnce sets a spawner that ends the goroutine of its caller if exit is set, once.
func exitsOnce(exit *atomic.Bool) core.Option {
	return core.WithSpawner(func(loop func()) error {
		if exit.CompareAndSwap(true, false) {
			runtime.Goexit()
		}
		go loop()
		return nil
	})
}

// If a spawner ends the goroutine of the worker that calls it, the task which that worker has
// taken still runs.
func TestPoolG3ASpawnerThatExitsLosesNoTask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var exit atomic.Bool
		p := coretest.NewPool(t, 2, exitsOnce(&exit))
		release := block(t, p)
		var ran atomic.Int64
		for range 2 {
			coretest.Must(t, p.ExecuteLazy(func() { ran.Add(1) })) // starts nobody
		}
		exit.Store(true)
		release() // the worker takes the one, and starts another for the other
		synctest.Wait()
		coretest.Want(t, "ran", ran.Load(), 2)
		coretest.Want(t, "the spawner was asked", exit.Load(), false)
		coretest.Must(t, p.Close())
		checkConserved(t, p.Stats())
	})
}

// A start that fails in a shutdown is the end.
func TestPoolG17AFailedStartInAShutdownIsTheEnd(t *testing.T) {
	refused := errors.New("no goroutine")
	p, err := core.NewPool(2, core.WithSpawner(func(func()) error { return refused }))
	coretest.Must(t, err)
	coretest.WantErr(t, "Execute", p.Execute(func() {}), core.ErrRejected, refused)
	p.Shutdown()
	coretest.Await(t, "the end", p.Termination().Done())
	coretest.WantErr(t, "Err", p.Termination().Err(), refused)
	coretest.Want(t, "state", p.State(), core.StateTerminated)
}

// The start of an additional worker that fails after every other worker has ended is the end.
func TestPoolG17TheLastStartToFailIsTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner, p, release := slowPool(t)
		var ran atomic.Int64
		go func() { _ = p.Execute(func() { ran.Add(1) }) }() // waits for the second start
		<-spawner.asked
		p.Shutdown()
		release()
		synctest.Wait()
		spawner.decide <- refuseIt
		coretest.Await(t, "the end", p.Termination().Done())
		coretest.Want(t, "ran", ran.Load(), 1)
		checkConserved(t, p.Stats())
	})
}

// A worker whose start is in progress runs nothing yet, and may never run: a surplus worker does not
// leave before it has started. Otherwise the tasks would have no worker if the spawner refuses it.
func TestPoolG3AStartThatFailsAfterAResizeLosesNoTask(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner, p, release := slowPool(t)
		ran := make(chan struct{})
		go func() { _ = p.Execute(func() { close(ran) }) }() // waits for the second start
		<-spawner.asked
		coretest.Must(t, p.Resize(1))
		release() // two workers are live, one more than the size
		synctest.Wait()
		spawner.decide <- refuseIt
		coretest.Await(t, "a task that was accepted before the spawner refused a worker", ran)
		synctest.Wait()
		coretest.Want(t, "workers", p.Stats().Workers, 1)
		coretest.Must(t, p.Close())
	})
}

// A worker that starts after a Resize to fewer leaves at once.
func TestPoolAStartThatSucceedsAfterAResizeIsSurplus(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner, p, release := slowPool(t)
		var ran atomic.Int64
		go func() { _ = p.Execute(func() { ran.Add(1) }) }()
		<-spawner.asked
		coretest.Must(t, p.Resize(1))
		release()
		synctest.Wait()
		spawner.decide <- spawnIt
		synctest.Wait()
		coretest.Want(t, "ran", ran.Load(), 1)
		coretest.Want(t, "workers", p.Stats().Workers, 1)
		coretest.Must(t, p.Close())
	})
}

// A call inside of the pool's own spawner that would wait for the start gets an error. A call that waited would be a deadlock of
// the bubble.
func TestPoolG17CallsInsideTheSpawner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var p *core.Pool
		var inside, waits error
		p, err := core.NewPool(2, core.WithSpawner(func(loop func()) error {
			if inside == nil {
				inside, waits = p.Execute(func() {}), p.AwaitTermination(t.Context())
			}
			go loop()
			return nil
		}))
		coretest.Must(t, err)
		coretest.Must(t, p.Execute(func() {}))
		coretest.WantErr(t, "Execute inside of the spawner", inside, core.ErrStarting, core.ErrRejected)
		coretest.WantErr(t, "AwaitTermination inside of the spawner", waits, core.ErrStarting)
		coretest.Must(t, p.Close())
	})
}

// A shutdown call wakes a worker. If it must start one, it does not wait for the spawner, and
// Context ends at once. A call that waited would be a deadlock of the bubble.
func TestPoolG17AShutdownCallDoesNotWaitForTheSpawner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner, p, release := slowPool(t)
		p.Shutdown()
		coretest.WantErr(t, "Context", context.Cause(p.Context()), core.ErrShutdown)
		<-spawner.asked
		spawner.decide <- spawnIt
		release()
		coretest.Await(t, "the end", p.Termination().Done())
	})
}

// The timeout closes admission and ends Context on time, even if the spawner of the worker that
// it starts takes long.
func TestPoolG11TheTimeoutDoesNotWaitForTheSpawner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner, p, release := slowPool(t)
		begin := time.Now()
		go func() { <-spawner.asked; spawner.decide <- refuseIt }() // the start at the call
		_, err := p.ShutdownGracefully(time.Second, 2*time.Second)
		coretest.Must(t, err)
		synctest.Wait()
		<-p.Context().Done()
		coretest.Want(t, "Context ended after", time.Since(begin), 2*time.Second)
		coretest.WantErr(t, "Context", context.Cause(p.Context()), core.ErrShutdownTimeout)
		<-spawner.asked // the start at the timeout
		spawner.decide <- spawnIt
		release()
		coretest.Await(t, "the end", p.Termination().Done())
	})
}

// slowPool returns a pool of two workers with a slow spawner. One worker is busy until release
// is called; the other one has not been started.
func slowPool(t *testing.T) (spawner slow, p *core.Pool, release func()) {
	spawner = newSlow()
	p = coretest.NewPool(t, 2, spawner.option())
	go func() { <-spawner.asked; spawner.decide <- spawnIt }()
	return spawner, p, block(t, p)
}

// If a spawner ends the goroutine of a worker that is to move to a new one, because a task has ended its
// goroutine too, the worker goes on in its deferred call.
func TestPoolG14ASpawnerThatExitsAsAWorkerMoves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var exit atomic.Bool
		p := coretest.NewPool(t, 1, exitsOnce(&exit))
		coretest.MustExecute(t, p, func() {
			exit.Store(true)
			runtime.Goexit()
		})
		coretest.OnLoop(t, p, func() {})
		coretest.Want(t, "the spawner was asked", exit.Load(), false)
		coretest.Must(t, p.Close())
		checkConserved(t, p.Stats())
	})
}
