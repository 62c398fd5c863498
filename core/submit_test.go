package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func give(v int) func() (int, error) { return func() (int, error) { return v, nil } }

func fail(err error) func() (int, error) { return func() (int, error) { return 0, err } }

func TestSubmitRefusedIsTheFuturesError(t *testing.T) {
	ex := coretest.NewExecutor(t)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	f := core.Submit(ex, give(1))
	if f == nil {
		t.Fatal("Submit returned nil")
	}
	var refused *core.RejectedError
	if _, err := f.Wait(neverEnds); !errors.As(err, &refused) || f.Cancel() {
		t.Errorf("got %v, want a *RejectedError that Cancel cannot change", err)
	}
	heard := false
	f.OnDone(func(_ int, err error) { heard = errors.Is(err, core.ErrShutdown) })
	if !heard {
		t.Error("the listener of a refused Submit did not run on the caller")
	}
}

func TestInvokeAllReturnsWhenAllAreComplete(t *testing.T) {
	ex := coretest.NewExecutor(t)
	cause := errors.New("cause")
	futures, err := core.InvokeAll(neverEnds, ex, give(1), fail(cause), give(3))
	if err != nil || len(futures) != 3 {
		t.Fatalf("got %d futures, %v; want 3, nil", len(futures), err)
	}
	for i, want := range []struct {
		v   int
		err error
	}{{1, nil}, {0, cause}, {3, nil}} {
		select {
		case <-futures[i].Done():
		default:
			t.Errorf("future %d is not complete", i)
		}
		if v, err := futures[i].Wait(neverEnds); v != want.v || err != want.err {
			t.Errorf("future %d: got %d, %v, want %d, %v", i, v, err, want.v, want.err)
		}
	}
	if futures, err := core.InvokeAll[int](neverEnds, ex); len(futures) != 0 || err != nil {
		t.Errorf("of nothing: got %d, %v, want 0, nil", len(futures), err)
	}
}

func TestInvokeAllEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		ctx, cancel := context.WithTimeout(neverEnds, time.Second)
		defer cancel()
		long := func() (int, error) { time.Sleep(3 * time.Second); return 1, nil }
		futures, err := core.InvokeAll(ctx, ex, long, give(2))
		if err != context.DeadlineExceeded || len(futures) != 2 {
			t.Fatalf("got %d futures, %v; want 2, DeadlineExceeded", len(futures), err)
		}
		if v, err := futures[0].Wait(neverEnds); v != 1 || err != nil {
			t.Errorf("the one that had begun: got %d, %v, want 1, nil", v, err)
		}
		if _, err := futures[1].Wait(neverEnds); err != core.ErrCancelled {
			t.Errorf("the one that had not: got %v, want ErrCancelled", err)
		}
	})
}

func TestInvokeAllReturnsTheFirstRefusal(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16))
	release := occupy(t, ex)
	var fs []func() (int, error)
	for i := range 20 {
		fs = append(fs, give(i))
	}
	futures, err := core.InvokeAll(neverEnds, ex, fs...)
	if !errors.Is(err, core.ErrQueueFull) || len(futures) != 17 {
		t.Fatalf("got %d futures, %v; want 17, the last refused, and ErrQueueFull", len(futures), err)
	}
	release()
	for i, f := range futures[:16] {
		if _, err := f.Wait(neverEnds); err != core.ErrCancelled {
			t.Errorf("future %d: got %v, want ErrCancelled", i, err)
		}
	}
}

func TestInvokeAnyReturnsTheFirstSuccess(t *testing.T) {
	ex := coretest.NewExecutor(t)
	if v, err := core.InvokeAny(neverEnds, ex, fail(errors.New("x")), give(2), give(3)); v != 2 || err != nil {
		t.Errorf("got %d, %v, want 2, nil", v, err)
	}
}

// At the first success, functions that have not begun are cancelled, even if all of them
// are in one batch.
func TestInvokeAnyReturnsAtTheFirstSuccessAndCancelsTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		release := occupy(t, ex)
		result := make(chan int, 1)
		go func() {
			v, err := core.InvokeAny(neverEnds, ex,
				give(1),
				func() (int, error) { time.Sleep(time.Hour); return 2, nil },
				func() (int, error) { t.Error("the third ran after the first had succeeded"); return 3, nil })
			if err != nil {
				t.Errorf("InvokeAny: %v", err)
			}
			result <- v
		}()
		synctest.Wait()
		start := time.Now()
		release()
		if v := <-result; v != 1 || time.Since(start) != 0 {
			t.Errorf("got %d after %v, want 1 at once", v, time.Since(start))
		}
		time.Sleep(time.Hour) // the second one's body, which had begun
	})
}

func TestInvokeAnyJoinsTheErrors(t *testing.T) {
	ex := coretest.NewExecutor(t)
	a, b := errors.New("a"), errors.New("b")
	if _, err := core.InvokeAny(neverEnds, ex, fail(a), fail(b)); !errors.Is(err, a) || !errors.Is(err, b) {
		t.Errorf("got %v, want both errors", err)
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if _, err := core.InvokeAny(neverEnds, ex, give(1), give(2)); !errors.Is(err, core.ErrShutdown) {
		t.Errorf("after done: got %v, want ErrShutdown", err)
	}
}

func TestInvokeAnyEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		ctx, cancel := context.WithTimeout(neverEnds, time.Second)
		defer cancel()
		_, err := core.InvokeAny(ctx, ex, func() (int, error) { time.Sleep(3 * time.Second); return 1, nil })
		if err != context.DeadlineExceeded {
			t.Errorf("got %v, want DeadlineExceeded", err)
		}
	})
}

// The child that runs the function also runs the listener.
func TestSubmitToAGroupUsesOneChild(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 3)
	var in core.EventExecutor
	heard := make(chan core.EventExecutor, 1)
	f := core.Submit(g, func() (int, error) { in, _ = core.Current(); return 0, nil })
	f.OnDone(func(int, error) { ex, _ := core.Current(); heard <- ex })
	if got := <-heard; got != in || in == nil {
		t.Errorf("the listener ran on %v, the function on %v; want the same child", got, in)
	}
}

// foreign is another implementation of EventExecutor, which wraps an Executor.
type foreign struct{ core.EventExecutor }

func TestSubmitToAForeignExecutor(t *testing.T) {
	ex := coretest.NewExecutor(t)
	f := core.Submit(foreign{ex}, give(1))
	heard := make(chan bool, 1)
	f.OnDone(func(int, error) { heard <- ex.InEventLoop() })
	if v, err := f.Wait(neverEnds); v != 1 || err != nil {
		t.Errorf("got %d, %v, want 1, nil", v, err)
	}
	if !<-heard {
		t.Error("the listener ran off the executor")
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	f.OnDone(func(int, error) { heard <- true })
	<-heard // G9: on the caller, the executor is gone
}

// A wrapper may count or limit the calls it passes on, and loses no guarantee: it has the
// executor's InEventLoop.
func TestSubmitToAWrapperOfOurExecutor(t *testing.T) {
	var log panicLog
	ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
	release := occupy(t, ex)
	cancelled := core.Submit(foreign{ex}, give(1))
	if !cancelled.Cancel() {
		t.Error("G8: Cancel of a function that has not begun: got false, want true")
	}
	inside := core.Submit(foreign{ex}, func() (error, error) {
		_, err := core.Submit(foreign{ex}, give(1)).Wait(neverEnds)
		return err, nil
	})
	panics := core.Submit(foreign{ex}, func() (int, error) { panic("planted") })
	release()
	if err, _ := inside.Wait(neverEnds); err != core.ErrInEventLoop {
		t.Errorf("G18: Wait inside the loop: got %v, want ErrInEventLoop", err)
	}
	if _, err := panics.Wait(neverEnds); !errors.As(err, new(*core.PanicError)) {
		t.Errorf("G14: the future of the function that panics: got %v, want a *PanicError", err)
	}
	ex.Shutdown()
	report := coretest.AwaitDone(t, ex)
	if report.Accepted != 5 || report.Ran != 4 || report.Cancelled != 1 {
		t.Errorf("G20: accepted %d, ran %d, cancelled %d; want 5, 4, 1", report.Accepted, report.Ran, report.Cancelled)
	}
	if n := len(log.all()); n != 1 || report.Panicked != 1 {
		t.Errorf("G14: %d panics reported, %d counted; want 1, 1", n, report.Panicked)
	}
}

// The listener of a refused function would run after the listener that waits for it.
func TestG18InvokeAnyInAListenerOffTheLoop(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {})
	var got error
	called := make(chan struct{})
	ex.Termination().OnDone(func(core.Report, error) {
		defer close(called)
		_, got = core.InvokeAny(neverEnds, ex, give(1), give(2))
	})
	ex.Shutdown()
	coretest.Await(t, "InvokeAny in a listener (G18)", called)
	if !errors.Is(got, core.ErrRejected) {
		t.Errorf("got %v, want ErrRejected", got)
	}
}

func TestSubmitToANilPointer(t *testing.T) {
	for _, ex := range []core.EventExecutor{nil, (*core.Executor)(nil), (*core.EventLoop)(nil), (*core.Group)(nil), (*core.Pool)(nil)} {
		_, err := core.Submit(ex, give(1)).Wait(neverEnds)
		if err == nil || !strings.Contains(err.Error(), "ex is nil, want an executor") {
			t.Errorf("Submit to a nil %T: got %v, want an error that says so", ex, err)
		}
	}
}
