package core_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// TestG6LaterTasksDoNotPassATail: a tail task accepted before the shutdown call comes
// before the hooks, and so before the tasks that were accepted after it.
func TestG6LaterTasksDoNotPassATail(t *testing.T) {
	for _, tails := range []int{1, 600} { // more than a turn has
		ex := coretest.NewExecutor(t)
		release := occupy(t, ex)
		var j coretest.Journal
		mustHook(t, ex, j.Adds("hook"))
		for range tails - 1 {
			mustTail(t, ex, func() {})
		}
		mustTail(t, ex, j.Adds("tail"))
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		for range 3 {
			coretest.MustExecute(t, ex, j.Adds("later"))
		}
		release()
		coretest.AwaitDone(t, ex)
		j.Want(t, "G6", "tail hook later later later")
	}
}

// TestG6ALaterTaskMayWaitForAHook: tasks accepted later do not delay hooks.
func TestG6ALaterTaskMayWaitForAHook(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		release := occupy(t, ex)
		hooked := make(chan struct{})
		mustHook(t, ex, func() { close(hooked) })
		mustTail(t, ex, func() {})
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		coretest.MustExecute(t, ex, func() { requireSoon(t, hooked, "G6: the hook, for which a later task waits") })
		release()
		coretest.AwaitDone(t, ex)
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
					ex := coretest.NewExecutor(t)
					timer := mustSchedule(t, ex, time.Hour, func() {})
					coretest.OnLoop(t, ex, func() {}) // the loop has taken it
					release := occupy(t, ex)
					coretest.MustExecute(t, ex, func() {
						if graceful {
							coretest.MustShutdownGracefully(t, ex, 0, 10*time.Minute)
						} else {
							ex.Shutdown()
						}
					})
					coretest.Must(t, next(ex, func() { requireSoon(t, timer.Done(), "G7: the end of a timer in the next body") }))
					release()
					coretest.AwaitDone(t, ex)
					coretest.WantErr(t, "G7: the timer", timer.Err(), core.ErrCancelled)
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
		coretest.MustExecute(t, &l.Executor, func() { coretest.Must(t, a.Input()); coretest.Must(t, b.Input()) })
		coretest.AwaitDone(t, l)
		coretest.Want(t, "no handler was called", first, false)
		coretest.WantErr(t, "G7: the timer", timer.Err(), core.ErrCancelled)
	})
	t.Run("hooks", func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		timer := mustSchedule(t, ex, time.Hour, func() {})
		mustHook(t, ex, func() { ex.Shutdown(); runtime.Goexit() })
		mustHook(t, ex, ended(t, timer))
		coretest.MustExecute(t, ex, func() {})
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		coretest.AwaitDone(t, ex)
		coretest.WantErr(t, "G7: the timer", timer.Err(), core.ErrCancelled)
	})
}

// TestG7OrderAcrossAShutdownInABody: a timer that a body has made comes before a later
// one that is in the heap, though the body has called for a shutdown meanwhile.
func TestG7OrderAcrossAShutdownInABody(t *testing.T) {
	for _, policy := range []core.TimersAtShutdown{core.RunDueTimers, core.RunTimersUntilTimeout} {
		inBubble(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(policy))
			var j coretest.Journal
			mustSchedule(t, ex, 20*time.Millisecond, j.Adds("at20"))
			coretest.OnLoop(t, ex, func() {}) // it is in the heap
			coretest.OnLoop(t, ex, func() {
				time.Sleep(10 * time.Millisecond)
				mustSchedule(t, ex, 0, j.Adds("at10"))
				time.Sleep(20 * time.Millisecond)
				coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
			})
			coretest.AwaitDone(t, ex)
			j.Want(t, "G7", "at10 at20")
		})
	}
}

// TestG13GoexitDoesNotStarve: bodies that end the goroutine and post another of their
// kind delay later work by no more than bodies that return.
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
				ex := coretest.NewExecutor(t)
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
				coretest.Must(t, ex.Execute(func() { _ = again(ex, body) }))
				<-ran
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
				if at >= 1000 {
					t.Errorf("G13: %d bodies before it, want fewer than 1000", at)
				}
			})
		}
	}
}

// meddler is a poller that calls a function when a Wait has found something.
type meddler struct {
	*pollertest.Model
	found func()
}

func (p *meddler) Wait(until core.Deadline) error {
	err := p.Model.Wait(until)
	p.found()
	return err
}

// Listeners run before the handlers of descriptors that became ready in the same sleep.
func TestListenersRunBeforeReadiness(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := &meddler{Model: pollertest.NewModel(nil), found: func() {}}
		l := loopOn(t, p)
		var j coretest.Journal
		d := p.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { coretest.Must(t, d.Drain()); j.Add("handler") })
		promise := core.NewPromise[int](l)
		promise.Future().OnDone(func(int, error) { j.Add("listener") })
		coretest.OnLoop(t, l, func() { // the next Wait of the loop calls found
			p.found = func() {
				p.found = func() {}
				completed := make(chan struct{})
				go func() { promise.TrySuccess(1); close(completed) }()
				<-completed
			}
		})
		synctest.Wait()
		coretest.Must(t, d.Input())
		synctest.Wait()
		j.Want(t, "a turn", "listener handler")
	})
}

// TestG13ASleepIsAPoll: a loop polls while it sleeps, so it polls again only when the tasks have had
// another share of its time.
func TestG13ASleepIsAPoll(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		for range 8 {
			release := occupy(t, &l.Executor)
			for range 320 { // of the 1024 that a loop may run between two polls
				coretest.MustExecute(t, l, func() {})
			}
			release()
			synctest.Wait()
		}
		coretest.Want(t, "polls between tasks", m.Count(pollertest.Poll), 0)
	})
}

// TestG6AHookThatExitsDoesNotBeginAnotherRound: a hook that a hook adds waits for the next turn, and so runs after the tail tasks of
// this one, also if the first hook ends the goroutine of the loop, and the turn continues on another (G6, G14).
func TestG6AHookThatExitsDoesNotBeginAnotherRound(t *testing.T) {
	for end, leave := range map[string]func(){"returns": func() {}, "exits": goexit} {
		for how, step := range handOvers {
			inBubble(t, func(t *testing.T) {
				ex := coretest.NewExecutor(t, withHandOver(step))
				var j coretest.Journal
				mustHook(t, ex, func() {
					j.Add("hook")
					mustHook(t, ex, j.Adds("its-hook"))
					mustTail(t, ex, j.Adds("its-tail"))
					leave()
				})
				coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
				coretest.AwaitDone(t, ex)
				j.Want(t, "G6: after a hook that "+end+", hand-over "+how, "hook its-tail its-hook")
			})
		}
	}
}
