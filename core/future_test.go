package core_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestG9AFutureCompletesOnceWithItsResult(t *testing.T) {
	ex := coretest.NewExecutor(t)
	cause := errors.New("cause")
	f := core.Submit(ex, func() (int, error) { return 7, nil })
	if v, err := f.Wait(neverEnds); v != 7 || err != nil {
		t.Errorf("got %d, %v, want 7, nil", v, err)
	}
	if f.Cancel() {
		t.Error("G8: Cancel of a complete future: got true, want false")
	}
	if v, err := core.Submit(ex, func() (int, error) { return 8, cause }).Wait(neverEnds); v != 8 || err != cause {
		t.Errorf("got %d, %v, want 8 and the error", v, err)
	}
}

func TestG9EveryFutureIsCompleteWhenDoneIs(t *testing.T) {
	for round := range 30 {
		ex := coretest.NewExecutor(t)
		var mu sync.Mutex
		var futures []*core.Future[int]
		var timers []*core.Timer
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for k := range 100 {
					f := core.Submit(ex, func() (int, error) { return k, nil })
					if k%3 == 0 {
						f.Cancel()
					}
					timer, _ := ex.Schedule(time.Duration(k)*time.Microsecond, func() {})
					mu.Lock()
					futures = append(futures, f)
					if timer != nil {
						timers = append(timers, timer)
					}
					mu.Unlock()
				}
			})
		}
		for range round {
			runtime.Gosched()
		}
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		coretest.AwaitDone(t, ex)
		mu.Lock()
		atDone, timersAtDone := futures[:len(futures):len(futures)], timers[:len(timers):len(timers)]
		mu.Unlock()
		for i, f := range atDone {
			select {
			case <-f.Done():
			default:
				t.Fatalf("G9: future %d is not complete at done", i)
			}
		}
		for i, timer := range timersAtDone {
			select {
			case <-timer.Done():
			default:
				t.Fatalf("G9: timer %d is not complete at done", i)
			}
		}
		wg.Wait()
		checkConserved(t, ex.Stats())
	}
}

func TestG8CancelOfASubmitBeforeItBegins(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	f := core.Submit(ex, func() (int, error) { t.Error("G8: a cancelled function ran"); return 0, nil })
	first, second := f.Cancel(), f.Cancel()
	if _, err := f.Wait(neverEnds); !first || second || err != core.ErrCancelled {
		t.Errorf("G8: Cancel said %v then %v, result %v; want true, false, ErrCancelled", first, second, err)
	}
	if s := ex.Stats(); s.Pending != 2 {
		t.Errorf("G20: pending %d, want 2: the running one and the cancelled one", s.Pending)
	}
	release()
	ex.Shutdown()
	if report := coretest.AwaitDone(t, ex); report.Accepted != 2 || report.Cancelled != 1 || report.Ran != 1 {
		t.Errorf("G3, G20: accepted %d, cancelled %d, ran %d; want 2, 1, 1", report.Accepted, report.Cancelled, report.Ran)
	}
}

func TestG8CancelOfARunningSubmitIsFalse(t *testing.T) {
	ex := coretest.NewExecutor(t)
	began, gate := make(chan struct{}), make(chan struct{})
	f := core.Submit(ex, func() (int, error) { close(began); <-gate; return 1, nil })
	coretest.Await(t, "the function", began)
	if f.Cancel() {
		t.Error("G8: Cancel of a running function: got true, want false")
	}
	close(gate)
	if v, err := f.Wait(neverEnds); v != 1 || err != nil {
		t.Errorf("got %d, %v, want 1, nil", v, err)
	}
}

func TestG8SubmitCancelRacesTheRun(t *testing.T) {
	ex := coretest.NewExecutor(t)
	cancels := int64(0)
	for i := range 2000 {
		ran := false
		f := core.Submit(ex, func() (int, error) { ran = true; return 0, nil })
		for range i % 50 {
			runtime.Gosched()
		}
		cancelled := f.Cancel()
		_, err := f.Wait(neverEnds)
		coretest.OnLoop(t, ex, func() {}) // ran is read after the task would have been
		if ran == cancelled || cancelled != (err == core.ErrCancelled) {
			t.Fatalf("G8: submit %d: cancelled %v, ran %v, result %v; want exactly one", i, cancelled, ran, err)
		}
		if cancelled {
			cancels++
		}
	}
	ex.Shutdown()
	if report := coretest.AwaitDone(t, ex); report.Cancelled != cancels {
		t.Errorf("G20: cancelled %d, want %d", report.Cancelled, cancels)
	}
}

func TestFutureWaitReturnsTheCauseOfItsContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(neverEnds)
	cancel(cause)
	p := core.NewPromise[int](nil)
	if _, err := p.Future().Wait(ctx); err != cause {
		t.Errorf("got %v, want the cause of the context", err)
	}
	p.TrySuccess(3)
	if v, err := p.Future().Wait(ctx); v != 3 || err != nil {
		t.Errorf("complete, with an ended context: got %d, %v, want 3, nil", v, err)
	}
}

// TestG9ListenersOffTheLoopRunOneAtATime: a listener that is added to a complete future while another one runs off the loop waits for
// the end of that one, although another goroutine adds it (G9).
func TestG9ListenersOffTheLoopRunOneAtATime(t *testing.T) {
	p := core.NewPromise[int](nil)
	p.TrySuccess(1)
	var j coretest.Journal
	runs, added := make(chan struct{}), make(chan struct{})
	go func() {
		<-runs
		p.Future().OnDone(func(int, error) { j.Add("second") })
		close(added)
	}()
	p.Future().OnDone(func(int, error) {
		close(runs)
		coretest.Await(t, "OnDone on another goroutine while a listener runs", added)
		j.Add("first")
	})
	j.Want(t, "G9: the listeners, in the order added", "first second")
}
