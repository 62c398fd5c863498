package core_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// Listeners and the panic handler run on workers; listeners of the Termination on the goroutine
// of the last worker, which is one no more.
func TestPoolBodiesRunOnWorkers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var p *core.Pool
		var handled, listened bool
		p = coretest.NewPool(t, 1, core.WithPanicHandler(func(*core.PanicError) { handled = p.InEventLoop() }))
		var worker int64
		coretest.OnLoop(t, p, func() { worker = goid.Get() })
		promise := core.NewPromise[int](p)
		promise.Future().OnDone(func(int, error) { listened = p.InEventLoop() })
		promise.TrySuccess(1)
		coretest.MustExecute(t, p, panics)
		var at int64
		inside := true
		p.Termination().OnDone(func(core.Report, error) { at, inside = goid.Get(), p.InEventLoop() })
		coretest.Must(t, p.Close())
		synctest.Wait()
		if !handled || !listened {
			t.Errorf("on a worker: the panic handler %v, the listener %v; want true", handled, listened)
		}
		if at != worker || inside {
			t.Errorf("the listener of the Termination ran on goroutine %d, in the pool: %v; want the worker's %d, false", at, inside, worker)
		}
	})
}

// Of two idle workers the one that parked last is woken.
func TestPoolWakesTheWorkerThatParkedLast(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		var ids [2]int64
		var gates [2]chan struct{}
		for i := range ids {
			gates[i] = make(chan struct{})
			coretest.MustExecute(t, p, func() { ids[i] = goid.Get(); <-gates[i] })
			synctest.Wait()
		}
		for range 2 {
			for _, last := range []int{1, 0} {
				close(gates[1-last])
				synctest.Wait()
				close(gates[last])
				synctest.Wait() // both are idle, and last parked last
				var at int64
				coretest.MustExecute(t, p, func() { at = goid.Get() })
				synctest.Wait()
				coretest.Want(t, "goroutine of the worker that was woken", at, ids[last])
				for i := range ids { // busy again, each on its worker
					gates[i] = make(chan struct{})
				}
				meet := make(chan struct{}, 2)
				for range 2 {
					coretest.MustExecute(t, p, func() {
						i := 0
						if goid.Get() == ids[1] {
							i = 1
						}
						meet <- struct{}{}
						<-gates[i]
					})
				}
				synctest.Wait()
				coretest.Want(t, "busy workers", len(meet), 2)
			}
		}
		close(gates[0])
		close(gates[1])
	})
}

// Running has each body, with its running time and stack.
func TestPoolRunningNamesTheBodies(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 3, core.WithName("bakery"))
		a := block(t, p)
		time.Sleep(time.Second)
		b := block(t, p)
		time.Sleep(time.Second)
		got := p.Running()
		for _, want := range []string{"bakery: a task has been running for 2s:\ngoroutine ", "bakery: a task has been running for 1s:\ngoroutine "} {
			if !strings.Contains(got, want) {
				t.Errorf("G11: Running is %q, want %q in it", got, want)
			}
		}
		if n := strings.Count(got, "core_test.block"); n < 2 {
			t.Errorf("G11: Running has %d stacks of block, want 2: %q", n, got)
		}
		a()
		b()
	})
}

func TestPoolSizeAfterTheEnd(t *testing.T) {
	p := coretest.NewPool(t, 2)
	coretest.Must(t, p.Close())
	coretest.Must(t, p.Resize(7))
	coretest.Want(t, "Size after the end", p.Size(), 7)
	coretest.Want(t, "workers after the end", p.Stats().Workers, 0)
}

// The rejected-handler makes Execute retry, and TryExecute does not call it.
func TestPoolRetries(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var attempts atomic.Int64
		backOff := core.BackOff(3, time.Second)
		p := coretest.NewPool(t, 1, core.WithMaxPendingTasks(16),
			core.WithRejectedHandler(func(attempt int, err *core.RejectedError) (time.Duration, bool) {
				attempts.Store(int64(attempt))
				return backOff(attempt, err)
			}))
		release := block(t, p)
		for range 16 {
			coretest.MustExecute(t, p, func() {})
		}
		coretest.WantErr(t, "TryExecute", p.TryExecute(func() {}), core.ErrQueueFull)
		coretest.Want(t, "calls of the handler by TryExecute", attempts.Load(), 0)
		begin := time.Now()
		coretest.WantErr(t, "Execute", p.Execute(func() {}), core.ErrQueueFull)
		coretest.Want(t, "time of 3 retries", time.Since(begin), 3*time.Second)
		coretest.Want(t, "attempts", attempts.Load(), 4)
		coretest.Want(t, "rejected", p.Stats().Rejected, 2)
		time.AfterFunc(1500*time.Millisecond, release)
		coretest.WantErr(t, "Execute that gets room", p.Execute(func() {}), nil)
	})
}

// A lazy task wakes no worker and starts no second one, unless the queue is full.
func TestPoolLazyTasks(t *testing.T) {
	nextWakes := map[string]func(t *testing.T, p *core.Pool){
		"a task":   func(t *testing.T, p *core.Pool) { coretest.MustExecute(t, p, func() {}) },
		"a timer":  func(t *testing.T, p *core.Pool) { mustSchedule(t, p, 0, func() {}) },
		"Shutdown": func(_ *testing.T, p *core.Pool) { p.Shutdown() },
		"the end of a quiet period": func(t *testing.T, p *core.Pool) {
			coretest.MustShutdownGracefully(t, p, time.Second, time.Minute)
			time.Sleep(time.Second)
		},
		"a full queue": func(t *testing.T, p *core.Pool) {
			for range 15 {
				coretest.Must(t, p.ExecuteLazy(func() {}))
			}
		},
	}
	for name, wake := range nextWakes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := coretest.NewPool(t, 2, core.WithMaxPendingTasks(16))
				ran := 0
				task := func() { ran++ }
				coretest.MustExecute(t, p, task)
				synctest.Wait()
				coretest.Want(t, "ran: the task that starts the pool", ran, 1)
				before := p.Stats()
				coretest.Must(t, p.ExecuteLazy(task))
				time.Sleep(time.Hour)
				after := p.Stats()
				coretest.Want(t, "ran: no worker was woken", ran, 1)
				coretest.Want(t, "wakes and workers", after.Wakes+after.Workers, before.Wakes+before.Workers)
				wake(t, p)
				synctest.Wait()
				coretest.Want(t, "ran after "+name, ran, 2)
			})
		})
	}
	t.Run("the end of a body", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := coretest.NewPool(t, 2)
			release := block(t, p)
			ran := 0
			coretest.Must(t, p.ExecuteLazy(func() { ran++ }))
			synctest.Wait()
			coretest.Want(t, "ran beside a body", ran, 0)
			release()
			synctest.Wait()
			coretest.Want(t, "ran after the body", ran, 1)
		})
	})
}

func TestPoolTerminatedIfAndOnlyIfDone(t *testing.T) {
	for range 200 {
		p := coretest.NewPool(t, 2)
		coretest.MustExecute(t, p, func() {})
		p.Shutdown()
		for over := false; !over; runtime.Gosched() {
			state, stats := p.State(), p.Stats().State
			select {
			case <-p.Termination().Done():
				over = true
				coretest.Want(t, "G15: state after Done", p.State(), core.StateTerminated)
			default:
				if state == core.StateTerminated || stats == core.StateTerminated {
					t.Fatalf("G15: state %v, %v in the stats, before Done", state, stats)
				}
			}
		}
	}
}

// Close and AwaitTermination wait, and return the error of the end. In a body Close begins the
// shutdown.
func TestPoolCloseAndAwait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		coretest.OnLoop(t, p, func() { coretest.WantErr(t, "Close in a body", p.Close(), core.ErrInEventLoop) })
		report := coretest.AwaitDone(t, p)
		if report.Quiet != 0 || report.Timeout != core.DefaultShutdownTimeout {
			t.Errorf("Close in a body began a shutdown with (%v, %v), want (0, %v)", report.Quiet, report.Timeout, core.DefaultShutdownTimeout)
		}

		p = coretest.NewPool(t, 2)
		coretest.MustExecute(t, p, func() { time.Sleep(time.Second) })
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(neverEnds)
		cancel(why)
		coretest.WantErr(t, "AwaitTermination", p.AwaitTermination(ctx), why)
		coretest.Want(t, "state after AwaitTermination", p.State(), core.StateStarted)
		coretest.Must(t, p.Close())
		coretest.Want(t, "state after Close", p.State(), core.StateTerminated)

		broken := coretest.NewPool(t, 1, core.WithSpawner(refuseIt))
		coretest.WantErr(t, "Close of a pool that cannot start", broken.Close(), errSpawn)
		coretest.WantErr(t, "AwaitTermination after it", broken.AwaitTermination(neverEnds), errSpawn)
	})
}

// A negative delay is zero, and runs of one timer do not overlap, though workers are free.
func TestPoolTimers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 3)
		begin := time.Now()
		now := mustSchedule(t, p, -time.Hour, func() {})
		coretest.Want(t, "deadline of a negative delay", now.Deadline(), begin)
		var running, most atomic.Int64
		timer, err := p.ScheduleAtFixedRate(0, time.Second, func() {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(3500 * time.Millisecond)
			running.Add(-1)
		})
		coretest.Must(t, err)
		time.Sleep(time.Minute)
		timer.Cancel()
		coretest.Want(t, "runs of one timer at the same time", most.Load(), 1)
	})
}

// The values of a worker are dropped when it ends, while the pool lives.
func TestPoolLocalsAreDroppedWithTheirWorker(t *testing.T) {
	p := coretest.NewPool(t, 2)
	local := core.NewLocal[*[1 << 16]byte](nil)
	dropped := make(chan struct{})
	release := block(t, p)
	coretest.OnLoop(t, p, func() { // on the other worker
		v := new([1 << 16]byte)
		runtime.AddCleanup(v, func(int) { close(dropped) }, 0)
		_ = local.Set(v)
	})
	coretest.Until(t, "one busy worker", func() bool { return p.Stats().Busy == 1 })
	coretest.Must(t, p.Resize(1)) // ends the idle one
	coretest.Until(t, "one worker", func() bool { return p.Stats().Workers == 1 })
	collected(t, "the value of a worker that has ended", dropped)
	release()
	runtime.KeepAlive(local)
}
