package core_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"eventide/core"

	"github.com/stretchr/testify/require"
)

// TestG6LaterTasksDoNotPassATail: a tail task accepted before the shutdown call comes
// before the hooks, and so before the tasks that were accepted after it.
func TestG6LaterTasksDoNotPassATail(t *testing.T) {
	for _, tails := range []int{1, 600} { // more than a turn has
		ex := newExecutor(t)
		release := occupy(t, ex)
		var j journal
		mustHook(t, ex, j.note("hook"))
		for range tails - 1 {
			mustTail(t, ex, func() {})
		}
		mustTail(t, ex, j.note("tail"))
		mustShutdownGracefully(t, ex, 0, time.Hour)
		for range 3 {
			mustExecute(t, ex, j.note("later"))
		}
		release()
		awaitDone(t, ex)
		j.want(t, "G6", "tail hook later later later")
	}
}

// TestG6ALaterTaskMayWaitForAHook: what was accepted later does not hold hooks back.
func TestG6ALaterTaskMayWaitForAHook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := newExecutor(t)
		release := occupy(t, ex)
		hooked := make(chan struct{})
		mustHook(t, ex, func() { close(hooked) })
		mustTail(t, ex, func() {})
		mustShutdownGracefully(t, ex, 0, time.Hour)
		mustExecute(t, ex, func() { requireSoon(t, hooked, "G6: the hook, for which a later task waits") })
		release()
		awaitDone(t, ex)
	})
}

// requireSoon waits for c in a bubble, where an hour is nothing.
func requireSoon(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Errorf("%s: not within a minute", what)
	}
}

// TestG7CancelledBeforeTheNextBody: a shutdown call that cancels timers has ended them
// when the next body begins, be it a hook or a task.
func TestG7CancelledBeforeTheNextBody(t *testing.T) {
	for name, next := range map[string]func(*core.Executor, func()) error{
		"a hook": func(ex *core.Executor, f func()) error { _, err := ex.AddShutdownHook(f); return err },
		"a task": func(ex *core.Executor, f func()) error { return ex.Execute(f) },
		"a future's call": func(ex *core.Executor, f func()) error {
			core.Submit(ex, func() (int, error) { return 1, nil }).OnDone(func(int, error) { f() })
			return nil
		},
	} {
		for _, graceful := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, graceful %t", name, graceful), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					ex := newExecutor(t)
					timer := mustSchedule(t, ex, time.Hour, func() {})
					onLoop(t, ex, func() {}) // the loop has taken it
					release := occupy(t, ex)
					mustExecute(t, ex, func() {
						if graceful {
							mustShutdownGracefully(t, ex, 0, 10*time.Minute)
						} else {
							ex.Shutdown()
						}
					})
					require.NoError(t, next(ex, func() { requireSoon(t, timer.Done(), "G7: the end of a timer in the next body") }))
					release()
					awaitDone(t, ex)
					require.ErrorIs(t, timer.Err(), core.ErrCancelled)
				})
			})
		}
	}
}

// TestG7CancelledBeforeTheBodyAfterAnExit: the same where the body that makes the call ends
// the goroutine, in the middle of a turn.
func TestG7CancelledBeforeTheBodyAfterAnExit(t *testing.T) {
	ended := func(t *testing.T, timer *core.Timer) func() {
		return func() {
			select {
			case <-timer.Done():
			default:
				t.Error("G7: the next body began and the timer had not ended")
			}
		}
	}
	t.Run("handlers", func(t *testing.T) {
		l, m := modelLoop(t)
		timer := mustSchedule(t, &l.Executor, time.Hour, func() {})
		next := ended(t, timer)
		first := true
		handler := func(core.Readiness) {
			if first {
				first = false
				l.Shutdown()
				runtime.Goexit()
			}
			next()
		}
		a, b := m.Open(), m.Open()
		mustRegister(t, l, a.FD(), core.Readable, handler)
		mustRegister(t, l, b.FD(), core.Readable, handler)
		mustExecute(t, &l.Executor, func() { must(t, a.Input()); must(t, b.Input()) })
		awaitDone(t, l)
		require.False(t, first, "no handler was called")
		require.ErrorIs(t, timer.Err(), core.ErrCancelled)
	})
	t.Run("hooks", func(t *testing.T) {
		ex := newExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		timer := mustSchedule(t, ex, time.Hour, func() {})
		mustHook(t, ex, func() { ex.Shutdown(); runtime.Goexit() })
		mustHook(t, ex, ended(t, timer))
		mustExecute(t, ex, func() {})
		mustShutdownGracefully(t, ex, 0, time.Hour)
		awaitDone(t, ex)
		require.ErrorIs(t, timer.Err(), core.ErrCancelled)
	})
}

// TestG7OrderAcrossAShutdownInABody: a timer that a body has made comes before a later
// one that is in the heap, though the body has called for a shutdown meanwhile.
func TestG7OrderAcrossAShutdownInABody(t *testing.T) {
	for _, policy := range []core.TimersAtShutdown{core.RunDueTimers, core.RunTimersUntilTimeout} {
		inBubble(t, func(t *testing.T) {
			ex := newExecutor(t, core.WithTimersAtShutdown(policy))
			var j journal
			mustSchedule(t, ex, 20*time.Millisecond, j.note("at20"))
			onLoop(t, ex, func() {}) // it is in the heap
			onLoop(t, ex, func() {
				time.Sleep(10 * time.Millisecond)
				mustSchedule(t, ex, 0, j.note("at10"))
				time.Sleep(20 * time.Millisecond)
				mustShutdownGracefully(t, ex, 0, time.Hour)
			})
			awaitDone(t, ex)
			j.want(t, "G7", "at10 at20")
		})
	}
}

// TestG13GoexitDoesNotStarve: bodies that end the goroutine, and bring another of their
// kind, delay what comes behind them by as much as those that return.
func TestG13GoexitDoesNotStarve(t *testing.T) {
	endless := map[string]func(*core.Executor, func()) error{
		"tasks":  func(ex *core.Executor, f func()) error { return ex.Execute(f) },
		"timers": func(ex *core.Executor, f func()) error { _, err := ex.Schedule(0, f); return err },
		"tails":  func(ex *core.Executor, f func()) error { return ex.ExecuteAfterIteration(f) },
		"listeners": func(ex *core.Executor, f func()) error {
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { f() })
			p.TrySuccess(1)
			return nil
		},
	}
	for endlessName, again := range endless {
		for name, submit := range endless {
			t.Run(endlessName+" before "+name, func(t *testing.T) {
				ex := newExecutor(t)
				const most = 20_000 // each is a new goroutine
				n, at, ran := 0, 0, make(chan struct{})
				var body func()
				body = func() {
					if n++; n == 10 {
						_ = submit(ex, func() { at = n; close(ran) })
					}
					if at == 0 && n < most {
						_ = again(ex, body)
						runtime.Goexit()
					}
				}
				require.NoError(t, ex.Execute(func() { _ = again(ex, body) }))
				<-ran
				ex.Shutdown()
				awaitDone(t, ex)
				require.Less(t, at, 1000, "G13: bodies before it")
			})
		}
	}
}
