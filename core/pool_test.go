package core_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// block makes a worker of p busy until release is called.
func block(t testing.TB, p *core.Pool) (release func()) {
	t.Helper()
	began, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, p, func() { close(began); <-gate })
	coretest.Await(t, "the blocking task", began)
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

func TestPoolOneBlockedTaskHoldsUpNobody(t *testing.T) {
	p := coretest.NewPool(t, 2)
	release := block(t, p)
	over := make(chan struct{})
	var ran atomic.Int64
	const n = 1000 // several segments of the queue
	for range n {
		coretest.MustExecute(t, p, func() {
			if ran.Add(1) == n {
				close(over)
			}
		})
	}
	coretest.Await(t, "the tasks behind a blocked one", over)
	s := p.Stats()
	coretest.Want(t, "busy workers", s.Busy >= 1, true)
	release()
	coretest.Must(t, p.Close())
	coretest.Want(t, "ran", p.Stats().Ran, n+1)
}

// Both tasks are in the queue when one worker is woken: it takes the first, which blocks, and
// has to wake the other worker for the second. The lazy task has woken no worker.
func TestPoolG12ALazyTaskThatBlocksHoldsUpNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		a, b := block(t, p), block(t, p)
		a()
		b()
		synctest.Wait() // both workers sleep
		gate, over := make(chan struct{}), make(chan struct{})
		coretest.Must(t, p.ExecuteLazy(func() { <-gate }))
		coretest.MustExecute(t, p, func() { close(over) })
		coretest.Await(t, "the task behind a lazy one that blocks", over)
		close(gate)
		coretest.Must(t, p.Close())
	})
}

func TestPoolG12ATaskWakesOneWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const size = 8
		p := coretest.NewPool(t, size)
		var all []func()
		for range size {
			all = append(all, block(t, p))
		}
		for _, release := range all {
			release()
		}
		synctest.Wait()
		before := p.Stats()
		coretest.Want(t, "workers", before.Workers, int64(size))
		coretest.MustExecute(t, p, func() {})
		synctest.Wait()
		after := p.Stats()
		coretest.Want(t, "wakes for one task", after.Wakes-before.Wakes, 1)
		coretest.Want(t, "parks after one task", after.Parks-before.Parks, 1)
		time.Sleep(time.Hour)
		coretest.Want(t, "parks of an idle pool", p.Stats().Parks, after.Parks)
	})
}

// A timer wakes a worker only if no worker sleeps until its deadline, or until an earlier one.
func TestPoolG12ATimerWakesNoWorkerIfOneWakesInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		a, b := block(t, p), block(t, p)
		a()
		b()
		synctest.Wait() // both workers sleep
		for _, row := range []struct {
			what  string
			delay time.Duration
			wakes int64
		}{
			{"never", math.MaxInt64, 0}, {"in an hour", time.Hour, 1}, {"at the same time", time.Hour, 0},
			{"later", 2 * time.Hour, 0}, {"earlier", time.Minute, 1},
		} {
			before := p.Stats().Wakes
			mustSchedule(t, p, row.delay, func() {})
			synctest.Wait()
			coretest.Want(t, "G12: wakes for a timer that is due "+row.what, p.Stats().Wakes-before, row.wakes)
		}
		before := p.Stats()
		time.Sleep(time.Hour)
		synctest.Wait()
		coretest.Want(t, "timers that have run", p.Stats().TimersRun-before.TimersRun, 3)
	})
}

// Workers start when there is work for them, and no more of them than that.
func TestPoolG17WorkersStartWithWork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var starts atomic.Int64
		p := coretest.NewPool(t, 3, core.WithSpawner(func(loop func()) error {
			starts.Add(1)
			go loop()
			return nil
		}))
		synctest.Wait()
		coretest.Want(t, "starts before the first use", starts.Load(), 0)
		for range 5 {
			coretest.MustExecute(t, p, func() {})
			synctest.Wait()
		}
		coretest.Want(t, "starts for tasks one after the other", starts.Load(), 1)
		block(t, p)
		coretest.MustExecute(t, p, func() {})
		synctest.Wait()
		coretest.Want(t, "starts for a task behind a blocked one", starts.Load(), 2)
	})
}

// A spawner that refuses a further worker causes no refusal of a task, and is called again.
func TestPoolG17ASpawnerThatRefusesOneMoreWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var refuse atomic.Bool
		refused := errors.New("no more goroutines")
		p := coretest.NewPool(t, 2, core.WithSpawner(func(loop func()) error {
			if refuse.Load() {
				return refused
			}
			go loop()
			return nil
		}))
		refuse.Store(true)
		err := p.Execute(func() {})
		coretest.WantErr(t, "the first task", err, core.ErrRejected, refused)
		refuse.Store(false)
		release := block(t, p)
		refuse.Store(true)
		ran := make(chan struct{})
		coretest.MustExecute(t, p, func() { close(ran) })
		synctest.Wait()
		select {
		case <-ran:
			t.Error("the second task ran without a worker")
		default:
		}
		refuse.Store(false)
		coretest.MustExecute(t, p, func() {})
		coretest.Await(t, "the task that the spawner held up", ran)
		release()
	})
}

func TestPoolG14BadEndsLeaveItsCapacity(t *testing.T) {
	for name, spawner := range map[string]func(func()) error{
		"a spawner that starts": func(loop func()) error { go loop(); return nil },
		"a spawner that refuses from the third on": func() func(func()) error {
			var n atomic.Int64
			return func(loop func()) error {
				if n.Add(1) > 2 {
					return errors.New("no more")
				}
				go loop()
				return nil
			}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var panics panicLog
				p := coretest.NewPool(t, 2, core.WithPanicHandler(panics.handle), core.WithSpawner(spawner))
				for range 20 {
					coretest.MustExecute(t, p, func() { panic("boom") })
					coretest.MustExecute(t, p, runtime.Goexit)
				}
				synctest.Wait()
				a, b := block(t, p), block(t, p) // two workers are left
				coretest.Want(t, "panics reported", len(panics.all()), 20)
				s := p.Stats()
				checkConserved(t, s)
				coretest.Want(t, "ran", s.Ran, 40)
				coretest.Want(t, "busy", s.Busy, 2)
				a()
				b()
				coretest.Must(t, p.Close())
			})
		})
	}
}

func TestPoolFuturesOfBadEnds(t *testing.T) {
	p := coretest.NewPool(t, 2, core.WithPanicHandler(func(*core.PanicError) {}))
	var panicked *core.PanicError
	if err := coretest.AwaitErr(t, "the panic", core.Submit(p, func() (int, error) { panic("boom") })); !errors.As(err, &panicked) {
		t.Errorf("G9: a panic: got %v, want a *PanicError", err)
	}
	err := coretest.AwaitErr(t, "the exit", core.Submit(p, func() (int, error) { runtime.Goexit(); return 0, nil }))
	coretest.WantErr(t, "an exit", err, core.ErrGoexit)
	a, b := block(t, p), block(t, p)
	f := core.Submit(p, func() (int, error) { return 1, nil })
	coretest.Want(t, "cancelled", f.Cancel(), true)
	a()
	b()
	coretest.Must(t, p.Close())
	s := p.Stats()
	checkConserved(t, s)
	coretest.Want(t, "cancelled", s.Cancelled, 1)
	coretest.Want(t, "panicked", s.Panicked, 1)
}

// G18: a body may not wait for its own pool, and learns where it runs.
func TestPoolG18BodiesKnowTheirPool(t *testing.T) {
	p, other := coretest.NewPool(t, 2), coretest.NewPool(t, 1)
	var errs []error
	coretest.OnLoop(t, p, func() {
		waited := make(chan struct{}) // the other worker may run the function before Wait, and one that is complete has a result
		_, err := core.Submit(p, func() (int, error) { <-waited; return 1, nil }).Wait(context.Background())
		close(waited)
		errs = append(errs, err, p.AwaitTermination(context.Background()))
		_, err = core.InvokeAll(context.Background(), p, func() (int, error) { return 1, nil })
		errs = append(errs, err)
		if ex, ok := core.Current(); !ok || ex != core.EventExecutor(p) {
			t.Errorf("Current in a body: got %v, %v, want the pool", ex, ok)
		}
		coretest.Want(t, "InEventLoop of another pool", other.InEventLoop(), false)
		coretest.Want(t, "InEventLoop", p.InEventLoop(), true)
	})
	for _, err := range errs {
		coretest.WantErr(t, "a wait in a body", err, core.ErrInEventLoop)
	}
	coretest.Want(t, "InEventLoop outside", p.InEventLoop(), false)
}

func TestPoolBoundIsForTheWholePool(t *testing.T) {
	const room = 16
	p := coretest.NewPool(t, 2, core.WithMaxPendingTasks(room))
	a, b := block(t, p), block(t, p)
	for range room {
		coretest.Must(t, p.TryExecute(func() {}))
	}
	err := p.TryExecute(func() {})
	coretest.WantErr(t, "one more than there is room for", err, core.ErrQueueFull, core.ErrRejected)
	coretest.WantErr(t, "Execute", p.Execute(func() {}), core.ErrQueueFull)
	coretest.Want(t, "rejected", p.Stats().Rejected, 2)
	a()
	b()
	coretest.Must(t, p.Close())
	coretest.Want(t, "ran", p.Stats().Ran, room+2)
}

func TestPoolBadArguments(t *testing.T) {
	for _, size := range []int{0, -1} {
		_, err := core.NewPool(size)
		coretest.WantText(t, "NewPool", err, fmt.Sprintf("core: NewPool: size is %d, want at least 1", size))
		p := coretest.NewPool(t, 3)
		coretest.WantText(t, "Resize", p.Resize(size), fmt.Sprintf("core: Resize: size is %d, want at least 1", size))
		coretest.Want(t, "size after a bad Resize", p.Size(), 3)
	}
	_, err := core.NewPool(1, core.WithPoller(core.NewParkPoller(nil)))
	coretest.WantText(t, "WithPoller", err, "core: NewPool: WithPoller is set, want none: a poller serves one goroutine")
	p := coretest.NewPool(t, 1)
	for what, err := range map[string]error{
		"Execute": p.Execute(nil), "ExecuteLazy": p.ExecuteLazy(nil), "TryExecute": p.TryExecute(nil),
	} {
		if err == nil || errors.Is(err, core.ErrRejected) || !strings.Contains(err.Error(), "task is nil") {
			t.Errorf("%s(nil): got %v, want an error about the argument", what, err)
		}
	}
	coretest.Want(t, "state after bad arguments", p.State(), core.StateNotStarted)
}

func TestPoolLocalsAreOfAWorker(t *testing.T) {
	var made atomic.Int64
	local := core.NewLocal(func() int64 { return made.Add(1) })
	p := coretest.NewPool(t, 2)
	var meet sync.WaitGroup
	meet.Add(2)
	seen := make([]int64, 2)
	for i := range 2 {
		coretest.MustExecute(t, p, func() {
			meet.Done()
			meet.Wait() // on two workers
			seen[i], _ = local.Get()
		})
	}
	coretest.Must(t, p.Close())
	coretest.Want(t, "values", seen[0]+seen[1], 3)
}
