package core_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// faulty is a park poller whose calls fail on command.
type faulty struct {
	core.Poller
	wait   func() error // nil: as the park poller
	close  func() error
	broken atomic.Bool
	waits  atomic.Int32 // after it broke
	closed atomic.Int32
}

func (f *faulty) Wait(until core.Deadline) error {
	if f.broken.Load() && f.wait != nil {
		f.waits.Add(1)
		return f.wait()
	}
	return f.Poller.Wait(until)
}

func (f *faulty) Close() error {
	f.closed.Add(1)
	_ = f.Poller.Close()
	if f.close != nil {
		return f.close()
	}
	return nil
}

var errPoller = errors.New("bad descriptor")

// A poller that fails ends the executor: it closes admission, runs accepted work, and
// terminates with that error.
func TestG15APollerThatFailsEndsTheExecutor(t *testing.T) {
	for name, wait := range map[string]func() error{
		"error": func() error { return errPoller },
		"panic": func() error { panic(errPoller) },
	} {
		for when, prepare := range map[string]func(ex *core.Executor){
			"started":       func(*core.Executor) {},
			"shutting down": func(ex *core.Executor) { _, _ = ex.ShutdownGracefully(time.Hour, 2*time.Hour) },
		} {
			t.Run(name+" while "+when, func(t *testing.T) {
				f := &faulty{Poller: core.NewParkPoller(nil), wait: wait}
				ex := coretest.NewExecutor(t, core.WithPoller(f), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
				release := occupy(t, ex)
				var j coretest.Journal
				mustHook(t, ex, j.Adds("hook"))
				timer := mustSchedule(t, ex, time.Hour, func() { t.Error("G15: the timer ran") })
				prepare(ex)
				coretest.MustExecute(t, ex, j.Adds("task"))
				f.broken.Store(true)
				release()
				coretest.AwaitDone(t, ex)
				want := "task hook"
				if when == "shutting down" {
					want = "hook task" // later work does not hold hooks back
				}
				j.Want(t, "G15", want)
				if err := ex.Termination().Err(); !errors.Is(err, errPoller) {
					t.Errorf("G15: Err %v, want the poller's error", err)
				}
				if timer.Err() != core.ErrCancelled {
					t.Errorf("G15: the timer's Err is %v, want ErrCancelled", timer.Err())
				}
				if err := ex.Execute(func() {}); !errors.Is(err, errPoller) || !errors.Is(err, core.ErrRejected) {
					t.Errorf("G5: Execute: got %v, want a refusal with the poller's error", err)
				}
				if w, c := f.waits.Load(), f.closed.Load(); w != 1 || c != 1 {
					t.Errorf("G15: the broken poller was called %d times and closed %d times, want 1, 1", w, c)
				}
				checkConserved(t, ex.Stats())
			})
		}
	}
}

// Elapsed counts from the shutdown call; where there was none, from the failure.
func TestReportElapsedOfAnExecutorThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &faulty{Poller: core.NewParkPoller(nil), wait: func() error { return errPoller }}
		ex := coretest.NewExecutor(t, core.WithPoller(f))
		coretest.OnLoop(t, ex, func() {})
		time.Sleep(time.Hour)
		f.broken.Store(true)
		coretest.MustExecute(t, ex, func() {})
		if report := coretest.AwaitDone(t, ex); report.Elapsed != 0 {
			t.Errorf("Elapsed is %v for an executor that failed and ended at once, want 0", report.Elapsed)
		}
	})
}

func TestG15APollerThatFailsToClose(t *testing.T) {
	f := &faulty{Poller: core.NewParkPoller(nil), close: func() error { return errPoller }}
	ex := coretest.NewExecutor(t, core.WithPoller(f))
	coretest.OnLoop(t, ex, func() {})
	if err := ex.Close(); !errors.Is(err, errPoller) || f.closed.Load() != 1 {
		t.Errorf("G15: Close: got %v, the poller closed %d times; want its error, 1", err, f.closed.Load())
	}
}

// G15: Termination.Err joins the errors in the order in which they came: of the loop, of the alarm of the timeout, and of Close.
func TestG15ErrorsOfTheEndInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		errClose := errors.New("cannot close")
		f := &faulty{Poller: core.NewParkPoller(nil), wait: func() error { return errPoller }, close: func() error { return errClose }}
		ex := coretest.NewExecutor(t, core.WithPoller(f), core.WithClock(slowAlarms{time.Hour: {}})) // Stop panics
		coretest.MustExecute(t, ex, func() {
			_, _ = ex.ShutdownGracefully(time.Minute, time.Hour)
			f.broken.Store(true) // not before, or the loop may refuse the task
		})
		coretest.AwaitDone(t, ex)
		err, _ := ex.Termination().Err().(interface{ Unwrap() []error })
		if err == nil || len(err.Unwrap()) != 3 {
			t.Fatalf("G15: Err is %v, want three errors", ex.Termination().Err())
		}
		all := err.Unwrap()
		stop, panicked := errors.AsType[*core.PanicError](all[1])
		if !errors.Is(all[0], errPoller) || !panicked || stop.Value != "the alarm cannot be stopped" || !errors.Is(all[2], errClose) {
			t.Errorf("G15: the errors are %q, want those of Wait, of Stop and of Close", all)
		}
	})
}

// A poller may return for no reason at all.
func TestASpuriousReturnOfThePollerIsHarmless(t *testing.T) {
	left := atomic.Int32{}
	left.Store(500)
	f := &faulty{Poller: core.NewParkPoller(nil), wait: func() error { return nil }}
	f.wait = func() error {
		if left.Add(-1) == 0 {
			f.broken.Store(false)
		}
		return nil
	}
	f.broken.Store(true)
	ex := coretest.NewExecutor(t, core.WithPoller(f))
	coretest.OnLoop(t, ex, func() {})
	if err := ex.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestParkPollerWakeIsSticky(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := core.NewParkPoller(nil)
		for range 3 {
			p.Wake()
		}
		if err := p.Wait(core.Deadline{}); err != nil { // returns at once, or the bubble deadlocks
			t.Error(err)
		}
		start := time.Now()
		if err := p.Wait(start.Add(time.Second)); err != nil || time.Since(start) != time.Second {
			t.Errorf("Wait returned %v after %v, want nil after 1s: three wakes are one", err, time.Since(start))
		}
		if err := p.Wait(start); err != nil || time.Since(start) != time.Second {
			t.Errorf("Wait for the past: %v after %v", err, time.Since(start)-time.Second)
		}
		time.AfterFunc(time.Second, p.Wake)
		if err := p.Wait(core.Deadline{}); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("Wait without a deadline: %v at %v, want nil at 2s", err, time.Since(start))
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		p.Wake() // no-op
	})
}

// A deadline that moves earlier is kept; one that moves later costs at most one
// early return.
func TestParkPollerDeadlinesMoveBothWays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := core.NewParkPoller(nil)
		start := time.Now()
		wait := func(until time.Duration) (returns int) {
			t.Helper()
			for {
				_ = p.Wait(start.Add(until))
				returns++
				if since := time.Since(start); since >= until {
					if since != until {
						t.Errorf("Wait until %v returned at %v", until, since)
					}
					return returns
				}
			}
		}
		time.AfterFunc(time.Second, p.Wake)
		_ = p.Wait(start.Add(time.Hour))
		for _, at := range []time.Duration{3 * time.Second, 2 * time.Hour, 2*time.Hour + 1, 5 * time.Hour} {
			if n := wait(at); n > 2 {
				t.Errorf("Wait until %v returned %d times, want at most 2", at, n)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// crashes runs a test of this file in a process of its own, because a failure of
// it would end the process.
func crashes(t *testing.T) (child bool) {
	t.Helper()
	const key = "EVENTIDE_CHILD"
	if os.Getenv(key) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), key+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		text := strings.TrimSpace(string(out))
		t.Errorf("in a process of its own: %v\n%s", err, text[:min(len(text), 1500)])
	}
	return false
}

// The panic of a poller's Close is the poller's failure, not the program's.
func TestG15APollerThatPanicsInClose(t *testing.T) {
	if !crashes(t) {
		return
	}
	f := &faulty{Poller: core.NewParkPoller(nil), close: func() error { panic(errPoller) }}
	ex := coretest.NewExecutor(t, core.WithPoller(f))
	coretest.OnLoop(t, ex, func() {})
	if err := ex.Close(); !errors.Is(err, errPoller) {
		t.Errorf("G15: Close: got %v, want the poller's panic", err)
	}
}
