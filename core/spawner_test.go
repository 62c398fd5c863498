package core_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// Calls on an executor from inside its own spawner do not wait for themselves.
func TestG17CallsFromTheOwnSpawnerReturnErrStarting(t *testing.T) {
	calls := map[string]func(ctx context.Context, ex *core.Executor) error{
		"Close":            func(_ context.Context, ex *core.Executor) error { return ex.Close() },
		"AwaitTermination": func(ctx context.Context, ex *core.Executor) error { return ex.AwaitTermination(ctx) },
		"Termination.Wait": func(ctx context.Context, ex *core.Executor) error {
			_, err := ex.Termination().Wait(ctx)
			return err
		},
	}
	for name, use := range firstUses {
		calls[name] = func(_ context.Context, ex *core.Executor) error { return use(ex) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var ex *core.Executor
				var got error
				var spawned spawnLog
				ex = coretest.NewExecutor(t, spawned.plan(func(loop func()) error {
					ctx, cancel := context.WithTimeout(neverEnds, time.Second)
					defer cancel()
					got = call(ctx, ex)
					return spawnIt(loop)
				}))
				_ = ex.Execute(func() {})
				if !errors.Is(got, core.ErrStarting) {
					t.Errorf("G17: %s from the executor's own spawner: got %v, want ErrStarting", name, got)
				}
			})
		})
	}
}

func TestG17ShutdownCallsFromTheOwnSpawnerAreRecorded(t *testing.T) {
	for _, e := range enders {
		var ex *core.Executor
		var spawned spawnLog
		ex = coretest.NewExecutor(t, spawned.plan(func(loop func()) error {
			e.end(ex)
			return spawnIt(loop)
		}))
		ran := false
		err := ex.Execute(func() { ran = true })
		coretest.AwaitDone(t, ex)
		if accepted := err == nil; accepted != ran {
			t.Errorf("G3: %s in the spawner: accepted %v, ran %v", e.name, accepted, ran)
		}
		if n := spawned.asked.Load(); n != 1 {
			t.Errorf("G17: %s in the spawner: the spawner was called %d times, want 1", e.name, n)
		}
	}
}

// The spawner of a hand-over runs in the place of the loop: to wait for the end
// there would be to wait for itself.
func TestG18WaitsInTheSpawnerOfAHandOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var ex *core.Executor
		var got error
		var spawned spawnLog
		ex = coretest.NewExecutor(t, spawned.plan(spawnIt, func(loop func()) error {
			ctx, cancel := context.WithTimeout(neverEnds, time.Second)
			defer cancel()
			got = ex.AwaitTermination(ctx)
			return spawnIt(loop)
		}))
		coretest.MustExecute(t, ex, goexit)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got != core.ErrStarting && got != core.ErrInEventLoop {
			t.Errorf("G17, G18: AwaitTermination in the spawner of a hand-over: got %v, want ErrStarting or ErrInEventLoop at once", got)
		}
	})
}

func TestG17ASpawnerThatRunsTheLoopTwice(t *testing.T) {
	twice := func(loop func()) error { go loop(); go loop(); return nil }
	var spawned spawnLog
	ex := coretest.NewExecutor(t, spawned.plan(twice, twice))
	inside := 0 // the race detector sees a second loop
	for i := range 200 {
		coretest.MustExecute(t, ex, func() {
			inside++
			if i == 100 {
				goexit()
			}
		})
	}
	ex.Shutdown()
	if report := coretest.AwaitDone(t, ex); report.Ran != 200 || inside != 200 {
		t.Errorf("G2: ran %d, counted %d; want 200, 200", report.Ran, inside)
	}
}

// What the spawner keeps and runs late, after it has refused, starts nothing.
func TestG17ALoopThatWasRefusedAndRunsLate(t *testing.T) {
	var kept func()
	var spawned spawnLog
	ex := coretest.NewExecutor(t, spawned.plan(func(loop func()) error { kept = loop; return errSpawn }))
	if err := ex.Execute(func() { t.Error("G3: it ran") }); !errors.Is(err, errSpawn) {
		t.Errorf("G17: got %v, want the spawner's error", err)
	}
	kept()
	if s := ex.State(); s != core.StateNotStarted {
		t.Errorf("G17: state %v, want NotStarted", s)
	}
	coretest.OnLoop(t, ex, func() {})
	kept() // and it is not a second loop
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	kept() // and nothing after done
}

// A spawner accepts the loop, and runs it later on the goroutine that called the spawner.
func TestG17ALoopThatRunsLateOnTheCallersGoroutine(t *testing.T) {
	var kept func()
	var spawned spawnLog
	ex := coretest.NewExecutor(t, spawned.plan(func(loop func()) error { kept = loop; return nil }))
	ran := false
	coretest.MustExecute(t, ex, func() { ran = true; ex.Shutdown() })
	kept()
	if !ran || ex.State() != core.StateTerminated {
		t.Errorf("G17: ran %v, state %v; want true, Terminated", ran, ex.State())
	}
}

// A loop that the spawner has accepted and never runs cannot run; but no other call may hang.
func TestG11ASpawnerThatNeverRunsWhatItTook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var kept func()
		var spawned spawnLog
		ex := coretest.NewExecutor(t, spawned.plan(func(loop func()) error { kept = loop; return nil }))
		coretest.MustExecute(t, ex, func() {})
		start := time.Now()
		coretest.MustShutdownGracefully(t, ex, 0, 3*time.Second)
		if got, want := elapsedAtClose(t, ex, start), 3*time.Second; got != want {
			t.Errorf("G11: closed at %v, want %v: the deadline does not need the loop", got, want)
		}
		ctx, cancel := context.WithTimeout(neverEnds, time.Second)
		defer cancel()
		if err := ex.AwaitTermination(ctx); err != context.DeadlineExceeded {
			t.Errorf("AwaitTermination: got %v, want DeadlineExceeded", err)
		}
		if s := ex.Stats(); s.Pending != 1 || s.State != core.StateShutdown {
			t.Errorf("G20: stats %+v, want one pending in state Shutdown", s)
		}
		kept()
	})
}

// The spawner may run the loop inside a body of another executor: then the inner
// one is Current, and afterwards the outer one again.
func TestG2ALoopInsideABodyOfAnotherExecutor(t *testing.T) {
	outer := coretest.NewExecutor(t)
	inner := coretest.NewExecutor(t, core.WithSpawner(func(loop func()) error { return outer.Execute(loop) }))
	var during, after core.EventExecutor
	coretest.MustExecute(t, inner, func() { during, _ = core.Current() })
	inner.Shutdown()
	coretest.AwaitDone(t, inner)
	coretest.OnLoop(t, outer, func() { after, _ = core.Current() })
	if during != core.EventExecutor(inner) || after != core.EventExecutor(outer) {
		t.Errorf("G2: Current is %v in the inner loop and %v after it, want the inner and the outer executor", during, after)
	}
}

// A start may be tried by many and refused often; no task may get lost in it.
func TestG3AdmissionIsExactWhileStartsFail(t *testing.T) {
	for round := range 100 {
		var asked, ran, accepted atomic.Int32
		ex := coretest.NewExecutor(t, core.WithSpawner(func(loop func()) error {
			if asked.Add(1) <= int32(round%4) {
				return errSpawn
			}
			return spawnIt(loop)
		}))
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 5 {
					if ex.Execute(func() { ran.Add(1) }) == nil {
						accepted.Add(1)
					}
				}
			}()
		}
		if round%2 == 0 {
			ex.Shutdown()
		}
		for range 4 {
			<-done
		}
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		if ran.Load() != accepted.Load() {
			t.Fatalf("G3: %d accepted, %d ran", accepted.Load(), ran.Load())
		}
	}
}

func TestG17NoGoroutineBeforeFirstUse(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := ex.Stats(); s.Parks != 0 || s.State != core.StateNotStarted {
			t.Errorf("G17: stats %+v, want no loop", s)
		}
		// The bubble ends: a goroutine of the executor would be reported.
	})
}
