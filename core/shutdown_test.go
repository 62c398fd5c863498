package core_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// elapsedAtClose waits for the close of ex and returns when it was, since start.
func elapsedAtClose(t testing.TB, ex core.EventExecutor, start time.Time) time.Duration {
	t.Helper()
	coretest.Await(t, "the close", ex.Context().Done())
	return time.Since(start)
}

func TestG10QuietPeriodIsExact(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name    string
		during  func(t *testing.T, ex *core.Executor) // called right after the call
		closeAt time.Duration                         // with a quiet period of 1 s
	}{
		{"nothing happens", func(*testing.T, *core.Executor) {}, 1000 * ms},
		{"a task restarts it", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			coretest.MustExecute(t, ex, func() {})
		}, 1700 * ms},
		{"from the end of the body, not its begin", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			coretest.MustExecute(t, ex, func() { time.Sleep(600 * ms) })
		}, 2300 * ms},
		{"a tail task restarts it", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			mustTail(t, ex, func() {})
		}, 1700 * ms},
		{"a late hook restarts it", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			mustHook(t, ex, func() { time.Sleep(50 * ms) })
		}, 1750 * ms},
		{"a lazy task runs at its end and restarts it", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			if err := ex.ExecuteLazy(func() {}); err != nil {
				t.Error(err)
			}
		}, 2000 * ms},
		{"a task that panics restarts it", func(t *testing.T, ex *core.Executor) {
			time.Sleep(700 * ms)
			coretest.MustExecute(t, ex, func() { panic("boom") })
		}, 1700 * ms},
		{"a cancelled submit does not", func(t *testing.T, ex *core.Executor) {
			time.Sleep(500 * ms)
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { time.Sleep(100 * ms) }) // it is skipped at 600 ms
			p.TrySuccess(1)
			synctest.Wait()
			core.Submit(ex, func() (int, error) { return 0, nil }).Cancel()
		}, 1000 * ms},
		{"a listener does not", func(t *testing.T, ex *core.Executor) {
			time.Sleep(500 * ms)
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { time.Sleep(100 * ms) })
			p.TrySuccess(1)
		}, 1000 * ms},
		{"a listener that runs when it ends delays the close alone", func(t *testing.T, ex *core.Executor) {
			time.Sleep(900 * ms)
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { time.Sleep(300 * ms) })
			p.TrySuccess(1)
		}, 1200 * ms},
		{"the panic handler does not", func(t *testing.T, ex *core.Executor) {
			coretest.MustExecute(t, ex, func() { panic("handler sleeps") })
		}, 1000 * ms},
		{"a timer that the policy cancels does not", func(t *testing.T, ex *core.Executor) {
			time.Sleep(500 * ms)
			mustSchedule(t, ex, 0, func() { t.Error("it ran") })
		}, 1000 * ms},
		{"a removed hook does not", func(t *testing.T, ex *core.Executor) {
			time.Sleep(500 * ms)
			coretest.MustExecute(t, ex, func() { mustHook(t, ex, func() { t.Error("it ran") })() })
		}, 1500 * ms},
		{"a second shutdown call does not", func(t *testing.T, ex *core.Executor) {
			time.Sleep(500 * ms)
			coretest.MustShutdownGracefully(t, ex, 10*time.Second, time.Hour)
		}, 1000 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := coretest.NewExecutor(t, core.WithPanicHandler(func(p *core.PanicError) {
					if p.Value == "handler sleeps" {
						time.Sleep(500 * ms)
					}
				}))
				coretest.MustExecute(t, ex, func() {})
				time.Sleep(5 * time.Second) // work long before the call does not count (R113)
				start := time.Now()
				coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
				tt.during(t, ex)
				if got := elapsedAtClose(t, ex, start); got != tt.closeAt {
					t.Errorf("G10: closed %v after the call, want %v = quiet + max(call, end of the last body)", got, tt.closeAt)
				}
				if report := coretest.AwaitDone(t, ex); report.TimedOut || context.Cause(ex.Context()) != core.ErrShutdown {
					t.Errorf("G10: TimedOut %v, cause %v; want false, ErrShutdown", report.TimedOut, context.Cause(ex.Context()))
				}
			})
		})
	}
}

func TestG10ABodyThatRunsAtTheCallCountsWhenItEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		coretest.MustExecute(t, ex, func() { time.Sleep(3 * time.Second) })
		time.Sleep(time.Second)
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
		if got, want := elapsedAtClose(t, ex, start), 4*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v", got, want)
		}
	})
}

func TestG10QuietZeroClosesWhenDrained(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		for range 3 {
			coretest.MustExecute(t, ex, func() { time.Sleep(time.Second) })
		}
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		if got, want := elapsedAtClose(t, ex, start), 3*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v, when the queue is drained", got, want)
		}
	})
}

// Tasks that tasks add in the shutdown are queued work too: admission is open for the last of them.
func TestG10QuietZeroWaitsForTheTasksOfTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		left := 4
		var task func()
		task = func() {
			time.Sleep(time.Second)
			if left--; left > 0 {
				coretest.Must(t, ex.Execute(task))
			}
		}
		coretest.MustExecute(t, ex, task)
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		if got, want := elapsedAtClose(t, ex, start), 4*time.Second; got != want {
			t.Errorf("G10: closed at %v, want %v, when the last task has ended", got, want)
		}
	})
}

func TestG10TheQuietPeriodIsNotPolled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustExecute(t, ex, func() {})
		synctest.Wait()
		before := ex.Stats().Parks
		coretest.MustShutdownGracefully(t, ex, 24*time.Hour, 48*time.Hour)
		coretest.AwaitDoneWithin(t, ex, 72*time.Hour)
		if got := ex.Stats().Parks - before; got > 2 {
			t.Errorf("G10: the loop fell asleep %d times in a quiet period without work, want at most 2", got)
		}
	})
}

// A body learns from its Context that the deadline has passed, at that instant.
func TestG11TheTimeoutClosesAdmissionWhileABodyRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		var ended time.Duration
		coretest.MustExecute(t, ex, func() {
			<-ex.Context().Done()
			ended = time.Since(start)
			if s := ex.State(); s != core.StateShutdown {
				t.Errorf("G11: state %v at the deadline, want Shutdown", s)
			}
			if cause := context.Cause(ex.Context()); cause != core.ErrShutdownTimeout {
				t.Errorf("G11: cause %v, want ErrShutdownTimeout", cause)
			}
			if err := ex.Execute(func() {}); err == nil {
				t.Error("G11: a task was accepted after the deadline")
			}
		})
		time.Sleep(time.Second)
		coretest.MustShutdownGracefully(t, ex, time.Second, 3*time.Second)
		report := coretest.AwaitDone(t, ex)
		if want := 4 * time.Second; ended != want {
			t.Errorf("G11: the Context of the body ended at %v, want %v = call + timeout", ended, want)
		}
		if !report.TimedOut || ex.Termination().Err() != nil {
			t.Errorf("G11: TimedOut %v, Err %v; want true, nil", report.TimedOut, ex.Termination().Err())
		}
		if report.Elapsed != 3*time.Second || report.Quiet != time.Second || report.Timeout != 3*time.Second {
			t.Errorf("G11: report says %v after (%v, %v), want 3s after (1s, 3s)", report.Elapsed, report.Quiet, report.Timeout)
		}
	})
}

// The report names the body that overran the deadline, even if the body ends as soon as its
// Context does.
func TestG11TheReportNamesTheBodyThatOverran(t *testing.T) {
	run := map[string]func(ex *core.Executor, body func()) error{
		"task":      func(ex *core.Executor, body func()) error { return ex.Execute(body) },
		"tail task": func(ex *core.Executor, body func()) error { return ex.ExecuteAfterIteration(body) },
		"timer":     func(ex *core.Executor, body func()) error { _, err := ex.Schedule(0, body); return err },
		"hook":      func(ex *core.Executor, body func()) error { _, err := ex.AddShutdownHook(body); return err },
		"listener": func(ex *core.Executor, body func()) error {
			core.Submit(ex, func() (int, error) { return 0, nil }).OnDone(func(int, error) { body() })
			return nil
		},
	}
	for kind, give := range run {
		for name, overrun := range map[string]func(*core.Executor){
			"ends with Context": waitsForContext,
			"goes on":           sleepsThroughTheDeadline,
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					ex := coretest.NewExecutor(t, core.WithName("bakery"))
					if err := give(ex, func() { overrun(ex) }); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					coretest.MustShutdownGracefully(t, ex, 0, time.Second)
					running := coretest.AwaitDone(t, ex).Running
					if !strings.Contains(running, "bakery") || !strings.Contains(running, kind) {
						t.Errorf("G11: Running is %q, want the executor's name and %q", running, kind)
					}
					if stack := "core_test." + map[bool]string{true: "waitsForContext", false: "sleepsThroughTheDeadline"}[name == "ends with Context"]; !strings.Contains(running, stack) {
						t.Errorf("G11: Running has no stack with %s: %q", stack, running)
					}
				})
			})
		}
	}
}

// The report is complete before Context ends. A window of two instructions would be seen here in one of
// many runs; chosen schedules see it at once (props/lanes/interleave).
func TestG11ABodyFindsItselfInTheReport(t *testing.T) {
	for range 200 {
		inBubble(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			var running string
			coretest.Must(t, ex.Execute(func() {
				<-ex.Context().Done()
				running = ex.Termination().Report().Running
			}))
			coretest.MustShutdownGracefully(t, ex, 0, time.Second)
			if done := coretest.AwaitDone(t, ex).Running; running != done || done == "" {
				t.Fatalf("G11: Running is %q when Context has ended, and %q at the end", running, done)
			}
		})
	}
}

func waitsForContext(ex *core.Executor)       { <-ex.Context().Done() }
func sleepsThroughTheDeadline(*core.Executor) { time.Sleep(time.Minute / 2) }

func TestG11RunningIsEmptyIfNoBodyOverran(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustShutdownGracefully(t, ex, time.Second, 1500*time.Millisecond)
		time.Sleep(900 * time.Millisecond)
		coretest.MustExecute(t, ex, func() {})
		if report := coretest.AwaitDone(t, ex); !report.TimedOut || report.Running != "" {
			t.Errorf("G11: TimedOut %v, Running %q; want true and nothing: the loop slept at the deadline", report.TimedOut, report.Running)
		}
	})
}

// Producers that never stop cannot postpone the close.
func TestG11WorkThatNeverStopsDoesNotPostponeTheClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustShutdownGracefully(t, ex, time.Second, 10*time.Second)
		for ex.Execute(func() {}) == nil {
			time.Sleep(300 * time.Millisecond)
		}
		if report := coretest.AwaitDone(t, ex); !report.TimedOut || report.Elapsed != 10*time.Second {
			t.Errorf("G11: done after %v, timed out %v; want 10s, true", report.Elapsed, report.TimedOut)
		}
	})
}

// Accepted before the deadline, blocked behind a body that overran it.
func TestG3WhatTheDeadlineFindsQueuedStillRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		var j coretest.Journal
		mustHook(t, ex, j.Adds("hook"))
		coretest.MustExecute(t, ex, func() { time.Sleep(time.Minute / 2) })
		coretest.MustExecute(t, ex, j.Adds("before"))
		coretest.MustShutdownGracefully(t, ex, 0, time.Second)
		coretest.MustExecute(t, ex, j.Adds("after"))
		coretest.AwaitDone(t, ex)
		j.Want(t, "G3, G6", "before hook after")
	})
}

func TestG16TheFirstCallWinsAndShutdownShortens(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		coretest.MustShutdownGracefully(t, ex, 5*time.Second, time.Minute)
		coretest.MustShutdownGracefully(t, ex, 0, 0)
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Second)
		synctest.Wait()
		if s := ex.State(); s != core.StateShuttingDown {
			t.Fatalf("G16: a later graceful call moved the state to %v, want ShuttingDown", s)
		}
		time.Sleep(2 * time.Second)
		ex.Shutdown()
		if s := ex.State(); s < core.StateShutdown {
			t.Errorf("G5: state %v when Shutdown has returned, want Shutdown", s)
		}
		if got, want := elapsedAtClose(t, ex, start), 2*time.Second; got != want {
			t.Errorf("G16: closed at %v, want %v, when Shutdown was called", got, want)
		}
		report := coretest.AwaitDone(t, ex)
		if report.Quiet != 5*time.Second || report.Timeout != time.Minute || report.TimedOut {
			t.Errorf("G16: report has (%v, %v, timed out %v), want the first call's (5s, 1m, false)", report.Quiet, report.Timeout, report.TimedOut)
		}
	})
}

func TestG16NothingLengthensAShutdown(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	ex.Shutdown()
	coretest.MustShutdownGracefully(t, ex, time.Hour, 2*time.Hour)
	release()
	if report := coretest.AwaitDone(t, ex); report.Quiet != 0 || report.Timeout != 0 {
		t.Errorf("G16: report has (%v, %v), want (0, 0)", report.Quiet, report.Timeout)
	}
}

func TestExtremeShutdownParametersEnd(t *testing.T) {
	const huge = time.Duration(math.MaxInt64)
	for _, p := range []struct{ quiet, timeout time.Duration }{
		{0, 0}, {1, 1}, {0, huge}, {time.Second, time.Second}, {time.Second, huge}, {0, 1},
	} {
		t.Run(p.quiet.String()+","+p.timeout.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := coretest.NewExecutor(t)
				start := time.Now()
				coretest.MustExecute(t, ex, func() {})
				coretest.MustShutdownGracefully(t, ex, p.quiet, p.timeout)
				if got := elapsedAtClose(t, ex, start); got != p.quiet {
					t.Errorf("G10: closed at %v, want %v", got, p.quiet)
				}
			})
		})
	}
	t.Run("quiet for ever is ended by Shutdown", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			coretest.MustShutdownGracefully(t, ex, huge, huge)
			time.Sleep(1000 * time.Hour)
			if s := ex.State(); s != core.StateShuttingDown {
				t.Errorf("G10: state %v, want ShuttingDown", s)
			}
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
		})
	})
}
