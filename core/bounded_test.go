package core_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// fill executes tasks until one is refused, and returns how many were accepted.
func fill(t testing.TB, ex *core.Executor, task func()) (accepted int) {
	t.Helper()
	for {
		err := ex.Execute(task)
		if err == nil {
			accepted++
			continue
		}
		if !errors.Is(err, core.ErrQueueFull) || !errors.Is(err, core.ErrRejected) {
			t.Fatalf("G19: a full queue refused with %v, want ErrQueueFull", err)
		}
		return accepted
	}
}

func TestG19RoomIsForTasksNotBegun(t *testing.T) {
	for n, room := range map[int]int{1: 16, 15: 16, 16: 16, 17: 17, 511: 511, 512: 512, 513: 513, 600: 600, 2000: 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(n))
			release := occupy(t, ex)
			// Not counted: the running one, timers, hooks.
			mustSchedule(t, ex, time.Hour, func() {})
			mustHook(t, ex, func() {})
			if got := fill(t, ex, func() {}); got != room {
				t.Errorf("G19: room for %d, want %d", got, room)
			}
			if s := ex.Stats(); s.Rejected != 1 || int(s.Pending) != room+1 {
				t.Errorf("G19: rejected %d, pending %d; want 1, %d", s.Rejected, s.Pending, room+1)
			}
			release()
			ex.Shutdown()
			if report := coretest.AwaitDone(t, ex); report.Ran != int64(room)+1 {
				t.Errorf("G3: ran %d, want %d", report.Ran, room+1)
			}
		})
	}
}

// Every task that begins makes room for one, also in the middle of a batch, and
// tasks, lazy tasks and tail tasks share the room.
func TestG19RoomComesBackTaskByTask(t *testing.T) {
	for _, limit := range []int{20, 600, 1200} {
		ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(limit))
		release := occupy(t, ex)
		step := make(chan struct{})
		began := make(chan struct{})
		for i := range limit {
			if err := offers[i%3].give(ex, func() { began <- struct{}{}; <-step }); err != nil {
				t.Fatal(err)
			}
		}
		release()
		for i := range limit {
			<-began
			if got := fill(t, ex, func() {}); got != 1 {
				t.Errorf("G19: bound %d: when task %d had begun there was room for %d, want 1", limit, i, got)
			}
			step <- struct{}{}
		}
	}
}

// A lazy task that takes the last room wakes the loop: nothing could after it.
func TestG19ALazyTaskThatTakesTheLastRoomWakes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16))
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		ran := 0
		for i := range 16 {
			if err := ex.ExecuteLazy(func() { ran++ }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := 0
			if i == 15 {
				want = 16
			}
			if ran != want {
				t.Errorf("G12, G19: %d lazy tasks ran after %d, want %d", ran, i+1, want)
			}
		}
	})
}

func TestG19BackOffRetriesAndThenRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(3, time.Second)))
		release := occupy(t, ex)
		for range 16 {
			coretest.MustExecute(t, ex, func() {})
		}
		start := time.Now()
		err := ex.Execute(func() { t.Error("G3: a refused task ran") })
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, core.ErrQueueFull) {
			t.Errorf("G19: got %v after %v, want ErrQueueFull after 3s", err, took)
		}
		if s := ex.Stats(); s.Rejected != 1 {
			t.Errorf("G19: rejected %d, want 1: a call counts once", s.Rejected)
		}
		time.AfterFunc(1500*time.Millisecond, release)
		start = time.Now()
		err = ex.Execute(func() {})
		if took := time.Since(start); took != 2*time.Second || err != nil {
			t.Errorf("G19: got %v after %v, want nil after 2s", err, took)
		}
	})
}

// The spawner of a hand-over runs in the place of the loop: while it retries, no goroutine
// makes room, and the waiting tasks begin too late.
func TestG19NoRetryInTheSpawnerOfAHandOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var ex *core.Executor
		var spawned spawnLog
		var got error
		moved := make(chan struct{})
		ex = coretest.NewExecutor(t, core.WithMaxPendingTasks(16), core.WithRejectedHandler(core.BackOff(3, time.Second)),
			spawned.plan(spawnIt, func(loop func()) error {
				defer close(moved)
				got = ex.Execute(func() { t.Error("G3: a refused task ran") })
				return spawnIt(loop)
			}))
		full := make(chan struct{})
		coretest.MustExecute(t, ex, func() { <-full; goexit() })
		synctest.Wait() // it is out of the queue
		start := time.Now()
		for range 16 {
			coretest.MustExecute(t, ex, func() {
				if late := time.Since(start); late != 0 {
					t.Errorf("G12: began %v after it was submitted to a free loop", late)
				}
			})
		}
		close(full)
		<-moved
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		if !errors.Is(got, core.ErrQueueFull) {
			t.Errorf("G19: in the spawner of a hand-over: got %v, want ErrQueueFull at once", got)
		}
	})
}

func TestG19RetriesEndAtTheClose(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Hour} {
		inBubble(t, func(t *testing.T) {
			attempts := 0
			ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16),
				core.WithRejectedHandler(func(attempt int, _ *core.RejectedError) (time.Duration, bool) {
					if attempts++; attempts != attempt {
						t.Errorf("attempt is %d, want %d", attempt, attempts)
					}
					return pause, true
				}))
			release := occupy(t, ex)
			for range 16 {
				coretest.MustExecute(t, ex, func() {})
			}
			if pause == 0 {
				attempts = 0
			}
			refused := make(chan error, 1)
			go func() { refused <- ex.Execute(func() { t.Error("G3: it ran") }) }()
			if pause != 0 {
				synctest.Wait()
			}
			start := time.Now()
			ex.Shutdown()
			if err := <-refused; !errors.Is(err, core.ErrRejected) || time.Since(start) != 0 {
				t.Errorf("G19: got %v after %v, want a refusal at the close", err, time.Since(start))
			}
			release()
		})
	}
}

func TestG19TheHandlerIsNotCalledOnTheLoop(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16),
		core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
			t.Error("G19: the rejected-handler was called on the loop")
			return 0, false
		}))
	coretest.OnLoop(t, ex, func() {
		if got := fill(t, ex, func() {}); got != 16 {
			t.Errorf("G19: room for %d from the loop, want 16", got)
		}
	})
}

func TestG19TheHandlerIsCalledForAFullQueueOnly(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		t.Error("G19: the rejected-handler was called after the close")
		return 0, true
	}))
	ex.Shutdown()
	if err := ex.Execute(func() {}); !errors.Is(err, core.ErrShutdown) || errors.Is(err, core.ErrQueueFull) {
		t.Errorf("G5: got %v, want ErrShutdown", err)
	}
}

// A spawner's error may be another executor's full queue: nothing to retry here.
func TestG19AStartRefusedByAnotherFullQueueIsNotRetried(t *testing.T) {
	full := coretest.NewExecutor(t, core.WithMaxPendingTasks(16))
	release := occupy(t, full)
	fill(t, full, func() {})
	ex := coretest.NewExecutor(t,
		core.WithSpawner(func(loop func()) error { return full.Execute(loop) }),
		core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
			t.Error("G19: the rejected-handler was called for a failed start")
			return 0, false
		}))
	if err := ex.Execute(func() {}); !errors.Is(err, core.ErrQueueFull) || ex.State() != core.StateNotStarted {
		t.Errorf("G17: got %v, state %v; want the spawner's error, NotStarted", err, ex.State())
	}
	release()
}

// The bound holds at every moment, and no task is lost, on whatever goroutines submit.
func TestG19TheBoundHoldsUnderLoad(t *testing.T) {
	const limit = 16
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(limit))
	var accepted, begun, refused atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3000 {
				if ex.Execute(func() { begun.Add(1) }) == nil {
					accepted.Add(1)
				} else {
					refused.Add(1)
				}
				if s := ex.Stats(); s.Pending > limit+1 {
					t.Errorf("G19: %d pending, want at most %d and the running one", s.Pending, limit)
					return
				}
			}
		})
	}
	wg.Wait()
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	if begun.Load() != accepted.Load() || report.Rejected != int64(refused.Load()) {
		t.Errorf("G3: accepted %d, ran %d, refused %d, counted %d", accepted.Load(), begun.Load(), refused.Load(), report.Rejected)
	}
}
