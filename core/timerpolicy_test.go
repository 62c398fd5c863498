package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// Timers at shutdown: each policy with timers due before, at, and after the call, for each way
// to end.
func TestG9TimersAtShutdownFollowThePolicy(t *testing.T) {
	const sec = time.Second
	graceful := func(t *testing.T, ex *core.Executor) { coretest.MustShutdownGracefully(t, ex, 0, 5*sec) }
	now := func(_ *testing.T, ex *core.Executor) { ex.Shutdown() }
	gracefulThenNow := func(t *testing.T, ex *core.Executor) {
		coretest.MustShutdownGracefully(t, ex, 3*sec, 5*sec)
		time.AfterFunc(2500*time.Millisecond, func() { ex.Shutdown() })
	}
	// A task occupies the loop from 0 to 2 s; the call comes at 1 s. Timers are
	// due at these times, and P every 2 s from 0.5 s on.
	tests := []struct {
		policy core.TimersAtShutdown
		name   string
		end    func(*testing.T, *core.Executor)
		want   string // which ran, and when
	}{
		{core.CancelTimers, "graceful", graceful, ""},
		{core.CancelTimers, "Shutdown", now, ""},
		{core.CancelTimers, "graceful then Shutdown", gracefulThenNow, ""},
		{core.RunDueTimers, "graceful", graceful, "P@2s 900ms@2s 1s@2s"},
		{core.RunDueTimers, "Shutdown", now, "P@2s 900ms@2s 1s@2s"},
		{core.RunDueTimers, "graceful then Shutdown", gracefulThenNow, "P@2s 900ms@2s 1s@2s"},
		{core.RunTimersUntilTimeout, "graceful", graceful, "P@2s 900ms@2s 1s@2s 1.5s@2s P@2.5s 3s@3s P@4.5s"},
		{core.RunTimersUntilTimeout, "Shutdown", now, "P@2s 900ms@2s 1s@2s"},
		{core.RunTimersUntilTimeout, "graceful then Shutdown", gracefulThenNow, "P@2s 900ms@2s 1s@2s 1.5s@2s P@2.5s 3s@3s"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d/%s", tt.policy, tt.name), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(tt.policy))
				start := time.Now()
				var j coretest.Journal
				body := func(name string) func() {
					return func() { j.Add(name + "@" + time.Since(start).String()) }
				}
				coretest.MustExecute(t, ex, func() { time.Sleep(2 * sec) })
				synctest.Wait()
				var timers []*core.Timer
				for _, at := range []time.Duration{900 * time.Millisecond, sec, 1500 * time.Millisecond, 3 * sec, 6 * sec, 7 * sec} {
					timers = append(timers, mustSchedule(t, ex, at, body(at.String())))
				}
				periodic, err := ex.ScheduleAtFixedRate(500*time.Millisecond, 2*sec, body("P"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(sec)
				tt.end(t, ex)
				report := coretest.AwaitDone(t, ex)
				j.Want(t, "timers at shutdown", tt.want)
				cancelled := int64(0)
				for i, timer := range append(timers, periodic) {
					coretest.Await(t, "a timer (G9)", timer.Done())
					if err := timer.Err(); err == core.ErrCancelled {
						cancelled++
					} else if err != nil {
						t.Errorf("G9: timer %d: Err %v, want nil or ErrCancelled", i, err)
					}
				}
				if report.TimersCancelled != cancelled {
					t.Errorf("report: %d timers cancelled, want %d", report.TimersCancelled, cancelled)
				}
				if s := ex.Stats(); s.Timers != 0 {
					t.Errorf("G20: %d timers are left at done, want 0", s.Timers)
				}
				checkConserved(t, ex.Stats())
			})
		})
	}
}

func TestRunTimersUntilTimeoutHoldsTheQuietPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		start := time.Now()
		mustSchedule(t, ex, 10*time.Second, func() {})
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		if got, want := elapsedAtClose(t, ex, start), 11*time.Second; got != want {
			t.Errorf("closed at %v, want %v: the quiet period does not end while a timer is pending", got, want)
		}
	})
}

// A cancelled timer does not delay the end of the quiet period.
func TestRunTimersUntilTimeoutACancelledTimerDoesNotHoldTheQuietPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		start := time.Now()
		timer := mustSchedule(t, ex, 10*time.Second, func() { t.Error("G8: it ran") })
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		time.Sleep(3 * time.Second)
		timer.Cancel()
		if got, want := elapsedAtClose(t, ex, start), 3*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v, when the last timer was cancelled", got, want)
		}
	})
}

func TestG10TwoTimersCancelledOneAfterTheOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		start := time.Now()
		early := mustSchedule(t, ex, 10*time.Second, func() { t.Error("G8: it ran") })
		late := mustSchedule(t, ex, 20*time.Second, func() { t.Error("G8: it ran") })
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		time.Sleep(3 * time.Second)
		early.Cancel()
		time.Sleep(time.Second)
		late.Cancel()
		if got, want := elapsedAtClose(t, ex, start), 4*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v, when the last timer was cancelled", got, want)
		}
	})
}

// One of four timers is cancelled, which does not wake the loop. The quiet period begins when
// the last of the other three has run.
func TestG10AnotherTimerCancelledMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		start := time.Now()
		for range 3 {
			mustSchedule(t, ex, 2*time.Second, func() {})
		}
		late := mustSchedule(t, ex, 50*time.Second, func() { t.Error("G8: it ran") })
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		synctest.Wait()
		late.Cancel()
		if got, want := elapsedAtClose(t, ex, start), 3*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v = quiet + end of the last body", got, want)
		}
	})
}

func TestATimerScheduledAfterTheCallIsAcceptedAndEnds(t *testing.T) {
	for _, policy := range []core.TimersAtShutdown{core.CancelTimers, core.RunDueTimers} {
		inBubble(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(policy))
			coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
			time.Sleep(500 * time.Millisecond)
			timer := mustSchedule(t, ex, 0, func() { t.Errorf("policy %d: it ran", policy) })
			synctest.Wait()
			coretest.Await(t, "the timer", timer.Done())
			if timer.Err() != core.ErrCancelled {
				t.Errorf("policy %d: Err %v, want ErrCancelled", policy, timer.Err())
			}
		})
	}
}

// A tie: due exactly at call + timeout is not "before", so it is cancelled.
func TestRunTimersUntilTimeoutExcludesTheTimeoutItself(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		var j coretest.Journal
		mustSchedule(t, ex, 5*time.Second-1, j.Adds("before"))
		mustSchedule(t, ex, 5*time.Second, j.Adds("at"))
		coretest.MustShutdownGracefully(t, ex, 0, 5*time.Second)
		coretest.AwaitDone(t, ex)
		j.Want(t, "RunTimersUntilTimeout", "before")
	})
}

// The deadline may pass while a body runs: timers that were due before it still run.
func TestRunTimersUntilTimeoutDuringABodyThatOverruns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		var j coretest.Journal
		coretest.MustExecute(t, ex, func() { time.Sleep(10 * time.Second) })
		mustSchedule(t, ex, 4*time.Second, j.Adds("before"))
		mustSchedule(t, ex, 6*time.Second, j.Adds("after"))
		coretest.MustShutdownGracefully(t, ex, 0, 5*time.Second)
		coretest.AwaitDone(t, ex)
		j.Want(t, "RunTimersUntilTimeout", "before")
	})
}

// More timers are due than one turn runs.
func TestRunDueTimersRunsAllThatAreDue(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunDueTimers))
	release := occupy(t, ex)
	const n = 500
	for range n {
		mustSchedule(t, ex, 0, func() {})
	}
	ex.Shutdown()
	release()
	if report := coretest.AwaitDone(t, ex); report.TimersRun != n || report.TimersCancelled != 0 {
		t.Errorf("G3: %d due timers ran, %d were cancelled; want %d, 0", report.TimersRun, report.TimersCancelled, n)
	}
}

// TestG7ALateFixedRateEndsWithAdmission: the overdue runs of a fixed rate that were due at
// the shutdown call run until admission closes. The timer is not armed again after the close:
// otherwise an unbounded backlog of runs would delay Done.
func TestG7ALateFixedRateEndsWithAdmission(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(t *testing.T, ex *core.Executor)
		want int
	}{
		{"graceful", func(t *testing.T, ex *core.Executor) { coretest.MustShutdownGracefully(t, ex, 0, 500*time.Millisecond) }, 3},
		{"Shutdown", func(_ *testing.T, ex *core.Executor) { ex.Shutdown() }, 1},
		{"a timeout that passes meanwhile", func(t *testing.T, ex *core.Executor) { coretest.MustShutdownGracefully(t, ex, 0, 50*time.Millisecond) }, 1},
	} {
		for _, policy := range []core.TimersAtShutdown{core.RunDueTimers, core.RunTimersUntilTimeout} {
			t.Run(fmt.Sprintf("%s, policy %d", tt.name, policy), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(policy))
					runs := 0
					_, err := ex.ScheduleAtFixedRate(time.Second, time.Second, func() { runs++ })
					coretest.Must(t, err)
					coretest.MustExecute(t, ex, func() {
						time.Sleep(3400 * time.Millisecond)
						tt.call(t, ex)
						time.Sleep(100 * time.Millisecond)
					})
					coretest.AwaitDone(t, ex)
					if runs != tt.want {
						t.Errorf("G7: %d runs, want %d", runs, tt.want)
					}
				})
			})
		}
	}
}
