package core_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestPoolResizeStartsWorkersForWaitingTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 1)
		block(t, p)
		var ran atomic.Int64
		gate := make(chan struct{})
		for range 5 {
			coretest.MustExecute(t, p, func() { ran.Add(1); <-gate })
		}
		synctest.Wait()
		coretest.Want(t, "running behind the blocked task", ran.Load(), 0)
		coretest.Must(t, p.Resize(4))
		synctest.Wait()
		coretest.Want(t, "running after a Resize to 4", ran.Load(), 3)
		close(gate)
	})
}

func TestPoolResizeEndsIdleWorkersAndNoBody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 4)
		var all []func()
		for range 4 {
			all = append(all, block(t, p))
		}
		all[0]()
		synctest.Wait()
		coretest.Must(t, p.Resize(1))
		synctest.Wait()
		coretest.Want(t, "workers: those that run a body", p.Stats().Workers, 3)
		for _, release := range all {
			release()
		}
		synctest.Wait()
		coretest.Want(t, "workers after their bodies", p.Stats().Workers, 1)
		over := make(chan struct{})
		coretest.MustExecute(t, p, func() { close(over) })
		coretest.Await(t, "a task on the last worker", over)
	})
}

// The worker that keeps the time for all may be the one that leaves.
func TestPoolResizeLosesNoTimer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 3)
		a, b, c := block(t, p), block(t, p), block(t, p)
		ran := make(chan time.Time, 1)
		start := time.Now()
		_, err := p.Schedule(time.Second, func() { ran <- time.Now() })
		coretest.Must(t, err)
		a()
		b()
		c()
		synctest.Wait()
		coretest.Must(t, p.Resize(1))
		coretest.Want(t, "lateness", (<-ran).Sub(start), time.Second)
	})
}

// A worker that is woken for a task, and finds that there are too many, wakes another.
func TestPoolG12AWorkerThatLeavesPassesTheWakeUpOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for range 100 { // in most of them the Resize comes before the worker
			p := coretest.NewPool(t, 2)
			a, b := block(t, p), block(t, p)
			a()
			b()
			synctest.Wait()
			ran := make(chan struct{})
			coretest.MustExecute(t, p, func() { close(ran) })
			coretest.Must(t, p.Resize(1))
			coretest.Await(t, "a task that was accepted before a Resize", ran)
			coretest.Must(t, p.Close())
		}
	})
}

// Resizing under load loses nothing, at any moment.
func TestPoolG3ResizeUnderLoad(t *testing.T) {
	p := coretest.NewPool(t, 4)
	var ran atomic.Int64
	stop := make(chan struct{})
	resized := make(chan struct{})
	go func() {
		defer close(resized)
		for n := 1; ; n = n%8 + 1 {
			select {
			case <-stop:
				return
			default:
				if err := p.Resize(n); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	const n = 20000
	for range n {
		coretest.MustExecute(t, p, func() { ran.Add(1) })
		if size := p.Size(); size < 1 || size > 8 {
			t.Fatalf("the size is %d, want 1 to 8", size)
		}
	}
	close(stop)
	<-resized
	coretest.Must(t, p.Close())
	coretest.Want(t, "ran", ran.Load(), n)
	coretest.Want(t, "workers at the end", p.Stats().Workers, 0)
}

func TestPoolResizeWhileItEnds(t *testing.T) {
	p := coretest.NewPool(t, 2)
	release := block(t, p)
	p.Shutdown()
	coretest.Must(t, p.Resize(5))
	release()
	coretest.AwaitDone(t, p)
	coretest.Must(t, p.Resize(1))
	coretest.Want(t, "state", p.State(), core.StateTerminated)
}

// Resize waits for no body. If it starts a worker, it waits for the spawner.
func TestPoolResizeWaitsForTheSpawner(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner := newSlow()
		go func() { <-spawner.asked; spawner.decide <- spawnIt }()
		p := coretest.NewPool(t, 1, spawner.option())
		release := block(t, p)
		ran := make(chan struct{})
		coretest.MustExecute(t, p, func() { close(ran) })
		resized := make(chan error, 1)
		go func() { resized <- p.Resize(2) }()
		<-spawner.asked
		synctest.Wait()
		coretest.Want(t, "calls of Resize that returned before the spawner", len(resized), 0)
		spawner.decide <- spawnIt
		coretest.Must(t, <-resized)
		coretest.Await(t, "the task beside the blocked one", ran)
		coretest.Must(t, p.Resize(1))
		release()
	})
}
