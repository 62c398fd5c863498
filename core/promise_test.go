package core_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestPromiseCompletesOnce(t *testing.T) {
	cause := errors.New("cause")
	done := func(p *core.Promise[int]) (int, error) { return p.Future().Wait(neverEnds) }

	p := core.NewPromise[int](nil)
	if !p.TrySuccess(1) || p.TrySuccess(2) || p.TryFailure(cause) || p.Future().Cancel() {
		t.Error("want the first of four to succeed alone")
	}
	if v, err := done(p); v != 1 || err != nil {
		t.Errorf("got %d, %v, want 1, nil", v, err)
	}

	p = core.NewPromise[int](nil)
	if p.TryFailure(nil) {
		t.Error("TryFailure(nil): got true, want false: it is no failure")
	}
	if !p.TryFailure(cause) || p.TrySuccess(2) {
		t.Error("want TryFailure to succeed alone")
	}
	if v, err := done(p); v != 0 || err != cause {
		t.Errorf("got %d, %v, want 0 and the cause", v, err)
	}

	p = core.NewPromise[int](nil)
	if !p.Future().Cancel() || p.TrySuccess(1) || p.SetUncancellable() {
		t.Error("want Cancel to succeed alone, and SetUncancellable to report it")
	}
	if _, err := done(p); err != core.ErrCancelled {
		t.Errorf("got %v, want ErrCancelled", err)
	}
}

func TestPromiseSetUncancellable(t *testing.T) {
	p := core.NewPromise[int](nil)
	for range 2 {
		if !p.SetUncancellable() {
			t.Error("SetUncancellable of a pending promise: got false, want true (R151)")
		}
	}
	if p.Future().Cancel() {
		t.Error("Cancel of an uncancellable future: got true, want false")
	}
	if !p.TrySuccess(1) || !p.SetUncancellable() {
		t.Error("want its owner to complete it, and SetUncancellable to stay true")
	}
	if first, second := p.Future(), p.Future(); first != second {
		t.Error("Future returned two pointers")
	}
}

// A promise is its owner's: the end of the executor does not complete it.
func TestG9APromiseOutlivesItsExecutor(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {})
	p := core.NewPromise[int](ex)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	select {
	case <-p.Future().Done():
		t.Fatal("G9: the promise completed with its executor")
	default:
	}
	heard := 0
	p.Future().OnDone(func(v int, _ error) { heard = v })
	if !p.TrySuccess(5) || heard != 5 {
		t.Errorf("G9: the listener got %d, want 5, on the completing goroutine", heard)
	}
}

func TestPromiseRaceHasOneWinner(t *testing.T) {
	for range 500 {
		p := core.NewPromise[int](nil)
		var wins, heard atomic.Int32
		p.Future().OnDone(func(int, error) { heard.Add(1) })
		var wg sync.WaitGroup
		for _, try := range []func() bool{
			func() bool { return p.TrySuccess(1) },
			func() bool { return p.TryFailure(errors.New("x")) },
			p.Future().Cancel,
		} {
			wg.Go(func() {
				if try() {
					wins.Add(1)
				}
			})
		}
		wg.Wait()
		if wins.Load() != 1 || heard.Load() != 1 {
			t.Fatalf("%d calls won, the listener was called %d times; want 1, 1", wins.Load(), heard.Load())
		}
	}
}

func TestPromiseOfAGroupIsServedByAChild(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 2)
	for range 2 {
		coretest.OnLoop(t, g, func() {})
	}
	p := core.NewPromise[int](g)
	heard := make(chan bool, 1)
	p.Future().OnDone(func(int, error) { heard <- g.InEventLoop() })
	p.TrySuccess(1)
	if !<-heard {
		t.Error("the listener ran off the group's loops")
	}
}

// A nil pointer in an interface is no executor, as it is to Submit.
func TestPromiseOfANilPointer(t *testing.T) {
	for _, ex := range []core.EventExecutor{nil, (*core.Executor)(nil), (*core.EventLoop)(nil), (*core.Group)(nil), (*core.Pool)(nil)} {
		p := core.NewPromise[int](ex)
		heard := 0
		p.Future().OnDone(func(v int, _ error) { heard = v })
		if !p.TrySuccess(7) || heard != 7 {
			t.Errorf("promise of a nil %T: the listener got %d, want 7, on the completing goroutine", ex, heard)
		}
	}
}
