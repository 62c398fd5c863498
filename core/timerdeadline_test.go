package core_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// After the end of a timer, Deadline is when its last run was due, or the zero Time if no run
// has begun: it is never the deadline of a run that will not happen.
func TestG7DeadlineAfterTheEnd(t *testing.T) {
	const first, period = time.Second, time.Minute
	type schedule = func(ex *core.Executor, body func()) (*core.Timer, error)
	once := func(ex *core.Executor, body func()) (*core.Timer, error) { return ex.Schedule(first, body) }
	rate := func(ex *core.Executor, body func()) (*core.Timer, error) {
		return ex.ScheduleAtFixedRate(first, period, body)
	}
	delay := func(ex *core.Executor, body func()) (*core.Timer, error) {
		return ex.ScheduleWithFixedDelay(first, period, body)
	}
	// Each body takes a second: by a fixed delay the third run is due 2 seconds later.
	const third, thirdDelay = first + 2*period, first + 2*period + 2*time.Second
	for _, tt := range []struct {
		name   string
		make   schedule
		body   func(run int, timer *core.Timer) // what a run does at its end
		after  time.Duration                    // when to end it, from the call
		end    func(ex *core.Executor, timer *core.Timer)
		err    error
		want   time.Duration // of the last run; -1: none
		panics bool
	}{
		{name: "one-shot that ran", make: once, want: first, after: time.Hour},
		{name: "one-shot cancelled", make: once, want: -1, err: core.ErrCancelled, end: cancel},
		{name: "one-shot at a shutdown", make: once, want: -1, err: core.ErrCancelled, end: shutdown},
		{name: "one-shot that panicked", make: once, want: first, after: time.Hour, panics: true, body: panicAt(1)},
		{name: "one-shot that exited", make: once, want: first, after: time.Hour, err: core.ErrGoexit, body: exitAt(1)},
		{name: "fixed rate cancelled before its first run", make: rate, want: -1, err: core.ErrCancelled, end: cancel},
		{name: "fixed rate cancelled between two runs", make: rate, want: third, after: third + period/2, err: core.ErrCancelled, end: cancel},
		{name: "fixed rate cancelled by its third run", make: rate, want: third, after: time.Hour, err: core.ErrCancelled, body: cancelAt(3)},
		{name: "fixed rate cancelled from outside in its third run", make: rate, want: third, after: third + time.Second/2, err: core.ErrCancelled, end: cancel},
		{name: "fixed rate at a shutdown", make: rate, want: third, after: third + period/2, err: core.ErrCancelled, end: shutdown},
		{name: "fixed rate that panicked", make: rate, want: third, after: time.Hour, panics: true, body: panicAt(3)},
		{name: "fixed rate that exited", make: rate, want: third, after: time.Hour, err: core.ErrGoexit, body: exitAt(3)},
		{name: "fixed delay cancelled before its first run", make: delay, want: -1, err: core.ErrCancelled, end: cancel},
		{name: "fixed delay cancelled between two runs", make: delay, want: thirdDelay, after: thirdDelay + period/2, err: core.ErrCancelled, end: cancel},
		{name: "fixed delay at a shutdown", make: delay, want: thirdDelay, after: thirdDelay + period/2, err: core.ErrCancelled, end: shutdown},
		{name: "fixed delay at a shutdown in its third run", make: delay, want: thirdDelay, after: thirdDelay + time.Second/2, err: core.ErrCancelled, end: shutdown},
		{name: "fixed delay that panicked", make: delay, want: thirdDelay, after: time.Hour, panics: true, body: panicAt(3)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) {}))
				start, runs := time.Now(), 0
				var timer *core.Timer
				coretest.OnLoop(t, ex, func() {
					timer, _ = tt.make(ex, func() {
						runs++
						if due := timer.Deadline(); due.After(time.Now()) {
							t.Errorf("G7: in run %d Deadline is %v, want that of the run", runs, due.Sub(start))
						}
						time.Sleep(time.Second)
						if tt.body != nil {
							tt.body(runs, timer)
						}
					})
				})
				time.Sleep(tt.after)
				if tt.end != nil {
					tt.end(ex, timer)
				}
				coretest.Await(t, "the end of the timer", timer.Done())
				synctest.Wait()
				if err := timer.Err(); err != tt.err && !tt.panics {
					t.Errorf("G8: the timer ended with %v, want %v", err, tt.err)
				}
				switch got := timer.Deadline(); {
				case tt.want < 0 && !got.IsZero():
					t.Errorf("G7: Deadline after the end is %v from the call, and no run has begun; want the zero Time", got.Sub(start))
				case tt.want >= 0 && got.Sub(start) != tt.want:
					t.Errorf("G7: Deadline after the end is %v from the call, want %v: that of the last of %d runs", got.Sub(start), tt.want, runs)
				}
			})
		})
	}
}

func cancel(_ *core.Executor, timer *core.Timer) { timer.Cancel() }
func shutdown(ex *core.Executor, _ *core.Timer)  { ex.Shutdown() }
func cancelAt(n int) func(int, *core.Timer)      { return at(n, func(timer *core.Timer) { timer.Cancel() }) }
func panicAt(n int) func(int, *core.Timer)       { return at(n, func(*core.Timer) { panic("boom") }) }
func exitAt(n int) func(int, *core.Timer)        { return at(n, func(*core.Timer) { goexit() }) }
func at(n int, f func(*core.Timer)) func(int, *core.Timer) {
	return func(run int, timer *core.Timer) {
		if run == n {
			f(timer)
		}
	}
}

// A timer scheduled during a shutdown may end at once, and a timer scheduled before may be
// cancelled by the policy at the close: neither has had a run.
func TestG7DeadlineOfATimerThatAShutdownRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		before := mustSchedule(t, ex, time.Hour, func() {})
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		during := mustSchedule(t, ex, 0, func() {})
		coretest.AwaitDone(t, ex)
		for name, timer := range map[string]*core.Timer{"before": before, "during": during} {
			if got := timer.Deadline(); !got.IsZero() {
				t.Errorf("G7: Deadline of a timer scheduled %s the shutdown, which never ran, is %v, want the zero Time", name, got)
			}
		}
	})
}

// The deadline of a timer with the longest delay saturates; it is not the zero Time.
func TestG7DeadlineOfATimerThatNeverComes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		timer := mustSchedule(t, ex, maxDelay, func() {})
		if timer.Deadline().IsZero() {
			t.Error("G7: Deadline of a timer that waits is the zero Time")
		}
		timer.Cancel()
		if got := timer.Deadline(); !got.IsZero() {
			t.Errorf("G7: Deadline of a cancelled timer is %v, want the zero Time", got)
		}
	})
}

// A sleep that ends at the deadline of a timer is long enough for it: only an earlier deadline
// wakes the sleeper.
func TestG12ATimerAtTheEndOfTheSleepWakesNobody(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		var ran atomic.Int64
		body := func() { ran.Add(1) }
		mustSchedule(t, ex, time.Hour, body)
		later := mustSchedule(t, ex, 2*time.Hour, body)
		synctest.Wait()
		asleep := ex.Stats()
		mustSchedule(t, ex, time.Hour, body)
		coretest.Want(t, "reset", later.Reset(time.Hour), true)
		synctest.Wait()
		if s := ex.Stats(); s.Wakes != asleep.Wakes || s.Parks != asleep.Parks {
			t.Errorf("G12: %d wake-ups and %d sleeps, want %d and %d as before", s.Wakes, s.Parks, asleep.Wakes, asleep.Parks)
		}
		coretest.Want(t, "reset", later.Reset(time.Hour-1), true)
		synctest.Wait()
		coretest.Want(t, "G12: wake-ups after an earlier deadline", ex.Stats().Wakes, asleep.Wakes+1)
		time.Sleep(time.Hour)
		synctest.Wait()
		coretest.Want(t, "runs", ran.Load(), 3)
	})
}
