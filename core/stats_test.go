package core_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// Snapshots taken at any time add up, while all operations run concurrently.
func TestG20EverySnapshotAddsUp(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(700))
	stop := make(chan struct{})
	var load, samplers sync.WaitGroup
	rounds := 300
	if testing.Short() {
		rounds = 80
	}
	for p := range 3 {
		load.Go(func() {
			for i := range rounds {
				for _, o := range offers {
					_ = o.give(ex, func() {})
				}
				_ = ex.Execute(panics)
				if i%20 == 0 {
					_ = ex.Execute(goexit)
				}
				core.Submit(ex, give(1)).Cancel()
				timer, err := ex.Schedule(time.Duration(i%3)*time.Microsecond, func() {})
				if err == nil && p == 0 {
					timer.Cancel()
				}
			}
		})
	}
	for range 2 {
		samplers.Go(func() {
			var last core.Stats
			for {
				s := ex.Stats()
				checkConserved(t, s)
				if s.Accepted < last.Accepted || s.Ran < last.Ran || s.Cancelled < last.Cancelled || s.Wakes > s.Parks {
					t.Errorf("G20, G12: counters went from %+v to %+v", last, s)
				}
				last = s
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	load.Wait()
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	close(stop)
	samplers.Wait()
	s := ex.Stats()
	if s.Pending != 0 || s.Timers != 0 {
		t.Errorf("G20: %d tasks and %d timers pending at done, want 0", s.Pending, s.Timers)
	}
	if s.Accepted != report.Accepted || s.Ran != report.Ran || s.Cancelled != report.Cancelled || s.Panicked != report.Panicked {
		t.Errorf("the report %+v differs from the stats %+v", report, s)
	}
}

func TestG20ARunningBodyIsPending(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	if s := ex.Stats(); s.Pending != 1 || s.Ran != 0 || s.Accepted != 1 {
		t.Errorf("G20: while the first task runs: %+v, want one pending, none ran", s)
	}
	release()
	coretest.OnLoop(t, ex, func() {
		if s := ex.Stats(); s.Pending != 1 || s.Ran != 1 {
			t.Errorf("G20: in the second task: %+v, want one pending, one ran", s)
		}
	})
}

func TestReportRejectedStopsAtDone(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	ex.Shutdown()
	_ = ex.Execute(func() {})
	if live := ex.Termination().Report(); live.Rejected != 1 || live.Accepted != 1 || live.Ran != 0 {
		t.Errorf("in progress: %+v, want 1 rejected, 1 accepted, none ran", live)
	}
	release()
	coretest.AwaitDone(t, ex)
	_ = ex.Execute(func() {})
	if sealed, s := ex.Termination().Report(), ex.Stats(); sealed.Rejected != 1 || s.Rejected != 2 {
		t.Errorf("G20: the sealed report says rejected %d, stats %d; want 1, 2", sealed.Rejected, s.Rejected)
	}
}

// One producer and an idle loop: no other goroutine repairs a lost wake-up. The producer does
// not sleep itself, or it would come too late: it watches the task end, and submits the next
// one while the loop is about to sleep, each time at another point. A task that never runs is a
// hang.
func TestG12ALoneProducerIsNeverForgotten(t *testing.T) {
	n := 60_000
	if testing.Short() {
		n = 30_000
	}
	ex := coretest.NewExecutor(t)
	var ran atomic.Int64
	task := func() { ran.Add(1) }
	for i := range int64(n) {
		coretest.MustExecute(t, ex, task)
		spins, begin := 0, time.Now()
		for ran.Load() <= i {
			if spins++; spins%1000 == 0 {
				runtime.Gosched()
				if time.Since(begin) > coretest.HangGuard {
					t.Fatalf("G12: task %d never ran; stats %+v", i, ex.Stats())
				}
			}
		}
		for range rand.IntN(400) {
			spin()
		}
	}
	if s := ex.Stats(); s.Wakes > s.Parks || s.Wakes > int64(n) {
		t.Errorf("G12: %d wakes for %d submits and %d sleeps, want at most one per each", s.Wakes, n, s.Parks)
	}
}

//go:noinline
func spin() {}

func TestG12EachSleepIsWokenAtMostOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		for range 10 {
			before := ex.Stats()
			for range 5 {
				coretest.MustExecute(t, ex, func() {})
			}
			mustSchedule(t, ex, time.Hour, func() {})
			synctest.Wait()
			if wakes := ex.Stats().Wakes - before.Wakes; wakes > 5 {
				t.Errorf("G12: %d wakes for 6 calls", wakes)
			}
		}
		if s := ex.Stats(); s.Wakes > s.Parks {
			t.Errorf("G12: %d wakes for %d sleeps", s.Wakes, s.Parks)
		}
	})
}

// The loop does not wake itself, and calls that change nothing do not wake it.
func TestG12CallsThatDoNotWake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		mustSchedule(t, ex, time.Hour, func() {})
		synctest.Wait()
		before := ex.Stats()
		mustSchedule(t, ex, 2*time.Hour, func() {})
		mustHook(t, ex, func() {})()
		if err := ex.ExecuteLazy(func() {
			for _, o := range offers {
				_ = o.give(ex, func() {})
			}
			_, _ = ex.Schedule(time.Minute, func() {})
		}); err != nil {
			t.Fatal(err)
		}
		_, _, _ = ex.Stats(), ex.State(), ex.Termination().Report()
		synctest.Wait()
		after := ex.Stats()
		if after.Wakes != before.Wakes || after.Pending != 1 {
			t.Errorf("G12: %d wakes, %d pending; want 0: a later timer, a hook, a lazy task; and 1", after.Wakes-before.Wakes, after.Pending)
		}
		time.Sleep(time.Hour + 2*time.Minute)
		synctest.Wait()
		if s := ex.Stats(); s.Wakes != before.Wakes || s.Ran != 1+int64(len(offers)) {
			t.Errorf("G12: %d wakes from the loop itself, %d tasks ran; want 0, %d", s.Wakes-before.Wakes, s.Ran, 1+len(offers))
		}
	})
}

func TestG12ALazyTaskRunsWithTheNextWake(t *testing.T) {
	nextWakes := map[string]func(t *testing.T, ex *core.Executor){
		"a task":             func(t *testing.T, ex *core.Executor) { coretest.MustExecute(t, ex, func() {}) },
		"a tail task":        func(t *testing.T, ex *core.Executor) { mustTail(t, ex, func() {}) },
		"an earlier timer":   func(t *testing.T, ex *core.Executor) { mustSchedule(t, ex, 0, func() {}) },
		"a shutdown":         func(t *testing.T, ex *core.Executor) { ex.Shutdown() },
		"a timer that fires": func(*testing.T, *core.Executor) { time.Sleep(time.Hour) },
	}
	for name, wake := range nextWakes {
		inBubble(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			mustSchedule(t, ex, time.Hour, func() {})
			synctest.Wait()
			var ran atomic.Bool
			if err := ex.ExecuteLazy(func() { ran.Store(true) }); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if ran.Load() {
				t.Error("G12: a lazy task woke the loop")
			}
			wake(t, ex)
			synctest.Wait()
			if !ran.Load() {
				t.Errorf("G12: the lazy task did not run with %s", name)
			}
		})
	}
}
