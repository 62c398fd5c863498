package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// neverEnds is a context for calls that must not need it.
var neverEnds = context.Background()

// bodies runs body once in each kind of body of one executor, in turn, and
// returns when the executor has terminated.
func bodies(t *testing.T, body func(ex *core.Executor, kind string)) *core.Executor {
	t.Helper()
	ex := coretest.NewExecutor(t)
	in := func(kind string) func() { return func() { body(ex, kind) } }
	mustHook(t, ex, in("hook"))
	coretest.Must(t, ex.Execute(in("task")))
	coretest.Must(t, ex.ExecuteLazy(in("lazy task")))
	coretest.Must(t, ex.ExecuteAfterIteration(in("tail task")))
	submitted := core.Submit(ex, func() (int, error) { body(ex, "submitted function"); return 0, nil })
	heard := make(chan struct{})
	submitted.OnDone(func(int, error) { body(ex, "listener"); close(heard) })
	timer := mustSchedule(t, ex, 0, in("timer"))
	coretest.Await(t, "the timer", timer.Done())
	coretest.Await(t, "the listener", heard)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	return ex
}

const kindsOfBody = 7

func TestG2InEventLoopAndCurrentAreRightInEveryBody(t *testing.T) {
	seen := map[string]bool{}
	ex := bodies(t, func(ex *core.Executor, kind string) {
		seen[kind] = true
		current, ok := core.Current()
		if !ex.InEventLoop() || !ok || current != core.EventExecutor(ex) {
			t.Errorf("G2: in a %s: InEventLoop %v, Current %v %v; want true, the executor, true", kind, ex.InEventLoop(), current, ok)
		}
	})
	if len(seen) != kindsOfBody {
		t.Errorf("ran %v, want %d kinds of body", seen, kindsOfBody)
	}
	if current, ok := core.Current(); ex.InEventLoop() || ok {
		t.Errorf("G2: outside: InEventLoop %v, Current %v %v; want false, nil, false", ex.InEventLoop(), current, ok)
	}
}

func TestG2NotInTheLoopAfterDoneOnTheLoopsGoroutine(t *testing.T) {
	ended := make(chan struct{})
	var ex *core.Executor
	ex = coretest.NewExecutor(t, core.WithSpawner(func(loop func()) error {
		go func() {
			defer close(ended)
			loop()
			if _, ok := core.Current(); ok || ex.InEventLoop() {
				t.Errorf("G2: the goroutine is reused after done: InEventLoop %v, Current %v; want false", ex.InEventLoop(), ok)
			}
		}()
		return nil
	}))
	ex.Termination().OnDone(func(core.Report, error) {
		if _, ok := core.Current(); ok || ex.InEventLoop() {
			t.Errorf("G15: in a listener of the termination: InEventLoop %v, Current %v; want false", ex.InEventLoop(), ok)
		}
	})
	ex.Shutdown()
	coretest.Await(t, "the spawner's goroutine", ended)
}

// Plain variables: the race detector is the judge.
func TestG2BodiesNeverOverlapAndSeeEachOther(t *testing.T) {
	ex := coretest.NewExecutor(t)
	count, inside := 0, false
	body := func() {
		if inside {
			t.Error("G2: two bodies overlap")
		}
		inside = true
		count++
		inside = false
	}
	timer, err := ex.ScheduleAtFixedRate(0, time.Microsecond, body)
	if err != nil {
		t.Fatal(err)
	}
	mustHook(t, ex, body)
	accepted := 0
	for range 300 {
		for _, o := range offers {
			if err := o.give(ex, body); err != nil {
				t.Fatal(err)
			}
			accepted++
		}
	}
	timer.Cancel()
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	if want := accepted + int(report.TimersRun) + 1; count != want {
		t.Errorf("G2: %d bodies left their mark, want %d", count, want)
	}
}

// waits are the calls that would wait for the loop.
func waits(ex core.EventExecutor, pending *core.Future[int]) map[string]func() error {
	f := func() (int, error) { return 0, nil }
	return map[string]func() error{
		"Close":            func() error { return ex.Close() },
		"AwaitTermination": func() error { return ex.AwaitTermination(neverEnds) },
		"Termination.Wait": func() error { _, err := ex.Termination().Wait(neverEnds); return err },
		"Future.Wait":      func() error { _, err := pending.Wait(neverEnds); return err },
		"InvokeAll":        func() error { _, err := core.InvokeAll(neverEnds, ex, f); return err },
		"InvokeAny":        func() error { _, err := core.InvokeAny(neverEnds, ex, f); return err },
	}
}

func TestG18CallsThatWaitReturnErrInEventLoop(t *testing.T) {
	var pending *core.Promise[int]
	bodies(t, func(ex *core.Executor, kind string) {
		if pending == nil {
			pending = core.NewPromise[int](ex)
		}
		for name, call := range waits(ex, pending.Future()) {
			if name == "Close" && kind != "hook" {
				continue // it would end the test too early; see below
			}
			if err := call(); err != core.ErrInEventLoop {
				t.Errorf("G18: %s in a %s: got %v, want ErrInEventLoop", name, kind, err)
			}
		}
	})
}

func TestG18CloseInTheLoopBeginsTheShutdown(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {
		if err := ex.Close(); err != core.ErrInEventLoop {
			t.Errorf("G18: Close in the loop: got %v, want ErrInEventLoop", err)
		}
	})
	if report := coretest.AwaitDone(t, ex); report.Timeout != core.DefaultShutdownTimeout || report.Quiet != 0 {
		t.Errorf("G18: Close began a shutdown with (%v, %v), want (0, %v)", report.Quiet, report.Timeout, core.DefaultShutdownTimeout)
	}
}

func TestG18InvokeInTheLoopSubmitsNothing(t *testing.T) {
	ex := coretest.NewExecutor(t)
	body := func() (int, error) { t.Error("G18: it ran"); return 0, nil }
	coretest.OnLoop(t, ex, func() {
		before := ex.Stats().Accepted
		_, errAll := core.InvokeAll(neverEnds, ex, body)
		_, errAny := core.InvokeAny(neverEnds, ex, body)
		if got := ex.Stats().Accepted - before; got != 0 || errAll != core.ErrInEventLoop || errAny != core.ErrInEventLoop {
			t.Errorf("G18: accepted %d, errors %v and %v; want 0 and ErrInEventLoop twice", got, errAll, errAny)
		}
	})
}

// A complete future needs no waiting, so Wait returns its result in the loop too.
func TestG18WaitForACompleteFutureIsLegalInTheLoop(t *testing.T) {
	ex := coretest.NewExecutor(t)
	f := core.Submit(ex, func() (int, error) { return 7, nil })
	coretest.Await(t, "the future", f.Done())
	coretest.OnLoop(t, ex, func() {
		if v, err := f.Wait(neverEnds); v != 7 || err != nil {
			t.Errorf("G18: Wait for a complete future in the loop: got %d, %v, want 7, nil", v, err)
		}
	})
}

// Calls on another executor may wait.
func TestG18WaitForAnotherExecutorIsLegalInTheLoop(t *testing.T) {
	ex, other := coretest.NewExecutor(t), coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {
		if v, err := core.Submit(other, func() (int, error) { return 7, nil }).Wait(neverEnds); v != 7 || err != nil {
			t.Errorf("G18: Wait for another executor's future: got %d, %v, want 7, nil", v, err)
		}
		if err := other.Close(); err != nil {
			t.Errorf("G18: Close of another executor: got %v, want nil", err)
		}
	})
}

func TestAwaitTerminationReturnsTheCauseOfItsContext(t *testing.T) {
	ex := coretest.NewExecutor(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(neverEnds)
	cancel(cause)
	if err := ex.AwaitTermination(ctx); err != cause {
		t.Errorf("AwaitTermination: got %v, want the cause %v", err, cause)
	}
	if s := ex.State(); s != core.StateNotStarted {
		t.Errorf("G17: AwaitTermination moved the state to %v, want NotStarted", s)
	}
}
