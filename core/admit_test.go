package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// offer is one way to hand a task to an executor.
type offer struct {
	name string
	give func(ex *core.Executor, task func()) error
}

var offers = []offer{
	{"Execute", func(ex *core.Executor, task func()) error { return ex.Execute(task) }},
	{"ExecuteLazy", func(ex *core.Executor, task func()) error { return ex.ExecuteLazy(task) }},
	{"ExecuteAfterIteration", func(ex *core.Executor, task func()) error { return ex.ExecuteAfterIteration(task) }},
	{"Submit", func(ex *core.Executor, task func()) error {
		f := core.Submit(ex, func() (int, error) { task(); return 0, nil })
		return refusalOf(f)
	}},
}

// refusalOf returns why a future's function was not accepted, or nil.
func refusalOf(f *core.Future[int]) error {
	select {
	case <-f.Done():
	default:
		return nil
	}
	if _, err := f.Wait(neverEnds); errors.Is(err, core.ErrRejected) {
		return err
	}
	return nil
}

// ender is one way to end an executor.
type ender struct {
	name string
	end  func(ex *core.Executor)
}

var enders = []ender{
	{"Shutdown", func(ex *core.Executor) { ex.Shutdown() }},
	{"Graceful(0,0)", func(ex *core.Executor) { _, _ = ex.ShutdownGracefully(0, 0) }},
	{"Graceful(0,1h)", func(ex *core.Executor) { _, _ = ex.ShutdownGracefully(0, time.Hour) }},
	{"Graceful(1h,2h)+Shutdown", func(ex *core.Executor) {
		_, _ = ex.ShutdownGracefully(time.Hour, 2*time.Hour)
		ex.Shutdown()
	}},
}

// Every task that was accepted runs exactly once before done, and no other one
// ever runs, however the calls race the shutdown.
func TestG3AdmissionIsExactUnderRacingShutdown(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for _, o := range offers {
		for _, e := range enders {
			t.Run(o.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				for round := range rounds {
					raceAdmission(t, o, e, round)
				}
			})
		}
	}
}

func raceAdmission(t *testing.T, o offer, e ender, round int) {
	const producers, atMost = 3, 2000
	ex := coretest.NewExecutor(t)
	var ran [producers][atMost]atomic.Int32
	var accepted [producers][]bool
	var offered atomic.Int64
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for k := range atMost {
				err := o.give(ex, func() { ran[p][k].Add(1) })
				accepted[p] = append(accepted[p], err == nil)
				offered.Add(1)
				if err != nil && k > 20 {
					return
				}
			}
		})
	}
	for offered.Load() < int64(round*7) {
		runtime.Gosched()
	}
	e.end(ex)
	report := coretest.AwaitDone(t, ex)
	wg.Wait()
	sum := int64(0)
	for p := range producers {
		for k, ok := range accepted[p] {
			want := int32(0)
			if ok {
				want = 1
				sum++
			}
			if got := ran[p][k].Load(); got != want {
				t.Fatalf("G3: task %d of producer %d, accepted=%v, ran %d times, want %d", k, p, ok, got, want)
			}
		}
	}
	if report.Accepted != sum || report.Ran != sum {
		t.Fatalf("G20: report says accepted %d, ran %d; want %d, %d", report.Accepted, report.Ran, sum, sum)
	}
	checkConserved(t, ex.Stats())
}

// Once Shutdown has returned, every call is refused, and the error has the reason and
// the state.
func TestG5EveryCallIsRefusedAfterTheClose(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	ex.Shutdown()
	calls := map[string]func() error{
		"Schedule": func() error { _, err := ex.Schedule(0, func() {}); return err },
		"ScheduleAtFixedRate": func() error {
			_, err := ex.ScheduleAtFixedRate(0, 1, func() {})
			return err
		},
		"ScheduleWithFixedDelay": func() error {
			_, err := ex.ScheduleWithFixedDelay(0, 1, func() {})
			return err
		},
		"AddShutdownHook": func() error { _, err := ex.AddShutdownHook(func() {}); return err },
	}
	for _, o := range offers {
		calls[o.name] = func() error { return o.give(ex, func() { t.Errorf("G3: a refused %s ran", o.name) }) }
	}
	check := func(when string, least core.State) {
		for name, call := range calls {
			err := call()
			var refused *core.RejectedError
			if !errors.As(err, &refused) || !errors.Is(err, core.ErrRejected) || !errors.Is(err, core.ErrShutdown) {
				t.Errorf("G5: %s %s: got %v, want a *RejectedError that is ErrRejected and ErrShutdown", name, when, err)
			} else if refused.State < least {
				t.Errorf("G5: %s %s: refused in state %v, want %v or later", name, when, refused.State, least)
			}
		}
	}
	check("while a task runs", core.StateShutdown)
	release()
	coretest.AwaitDone(t, ex)
	check("after done", core.StateTerminated)
}

func TestG5ARunningTaskIsRefusedAfterTheCloseToo(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {
		ex.Shutdown()
		for _, o := range offers {
			if err := o.give(ex, func() { t.Errorf("G3: a refused %s ran", o.name) }); !errors.Is(err, core.ErrShutdown) {
				t.Errorf("G5: %s in the loop after the close: got %v, want ErrShutdown", o.name, err)
			}
		}
	})
}

func TestG5TasksAreAcceptedUntilTheClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
		var ran coretest.Journal
		for i := range 5 {
			for _, o := range offers {
				if err := o.give(ex, ran.Adds("x")); err != nil {
					t.Errorf("G5: %s %d before the close: got %v, want nil", o.name, i, err)
				}
			}
			time.Sleep(900 * time.Millisecond)
		}
		report := coretest.AwaitDone(t, ex)
		if want := int64(5 * len(offers)); report.Ran != want {
			t.Errorf("G3: ran %d, want %d", report.Ran, want)
		}
	})
}

// A happens-before chain of calls across goroutines is the order of the begins.
func TestG4FIFOAcrossGoroutines(t *testing.T) {
	const goroutines, n = 4, 2000
	ex := coretest.NewExecutor(t)
	var next []int // the loop's alone until done
	var turns [goroutines]chan int
	for g := range turns {
		turns[g] = make(chan int, 1)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for k := range turns[g] {
				if err := ex.Execute(func() { next = append(next, k) }); err != nil {
					t.Errorf("Execute %d: %v", k, err)
				}
				if k+1 == n {
					for _, turn := range turns {
						close(turn)
					}
					return
				}
				turns[(k*7+1)%goroutines] <- k + 1
			}
		})
	}
	turns[0] <- 0
	wg.Wait()
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	for i, k := range next {
		if i != k {
			t.Fatalf("G4: task %d began at place %d; Execute(%d) had returned before Execute(%d) was called", k, i, k-1, k)
		}
	}
	if len(next) != n {
		t.Fatalf("G3: %d tasks ran, want %d", len(next), n)
	}
}

func TestG1StatesOnlyMoveForward(t *testing.T) {
	for round := range 50 {
		ex := coretest.NewExecutor(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				last := core.StateNotStarted
				for last != core.StateTerminated {
					now := max(ex.State(), ex.Stats().State)
					if s := ex.State(); s < now || now < last {
						t.Errorf("G1: state went from %v to %v", now, s)
						return
					}
					last = now
					runtime.Gosched()
				}
			})
		}
		coretest.MustExecute(t, ex, func() {})
		wg.Go(func() { _, _ = ex.ShutdownGracefully(0, time.Hour) })
		if round%2 == 0 {
			wg.Go(func() { ex.Shutdown() })
		}
		wg.Wait()
	}
}

func TestG5RejectedErrorSaysStateAndReason(t *testing.T) {
	ex := coretest.NewExecutor(t)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	err := ex.Execute(func() {})
	want := "core: rejected in state Terminated: core: executor is shut down"
	if fmt.Sprint(err) != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
