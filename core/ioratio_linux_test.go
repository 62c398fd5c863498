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

	"pgregory.net/rapid"
)

// busyLoop keeps turnTasks tasks in the queue of l, each of which takes cost and
// resubmits itself until over returns true: one batch is one turn.
func busyLoop(t *testing.T, l *core.EventLoop, cost time.Duration, ran *int, over func() bool) {
	t.Helper()
	var task func()
	task = func() {
		time.Sleep(cost)
		*ran++
		if !over() {
			_ = l.Execute(task) // refused at the end of the test
		}
	}
	coretest.OnLoop(t, l, func() {
		for range core.TurnTasks {
			coretest.Must(t, l.Execute(task))
		}
	})
}

// TestPropG13IORatio: a loop that is busy with both gives readiness its share of the time, to the turn:
// after a handler that took h it runs tasks for h*(100-percent)/percent, rounded up
// to a turn of 64 of them, and never more than 16 turns, so that neither side
// starves the other. Calls of runtime.Goexit change nothing. Time is virtual.
func TestPropG13IORatio(t *testing.T) {
	const perTurn = core.TurnTasks * time.Millisecond
	rapid.Check(t, func(rt *rapid.T) {
		percent := rapid.OneOf(rapid.SampledFrom([]int{1, 10, 50, 80, 99, 100}), rapid.IntRange(1, 100)).Draw(rt, "percent")
		share := time.Duration(rapid.IntRange(0, 20).Draw(rt, "turns")) * perTurn // of the tasks
		handler := time.Duration(rapid.OneOf(
			rapid.SampledFrom([]int64{0, int64(time.Millisecond), int64(perTurn), 10 * int64(perTurn), 100 * int64(perTurn)}),
			rapid.Just(int64(share)*int64(percent)/max(1, 100-int64(percent))),
		).Draw(rt, "handler"))
		exits := rapid.Bool().Draw(rt, "the handler exits")
		turns := core.BusyTurns
		if percent < 100 {
			due := handler * time.Duration(100-percent) / time.Duration(percent)
			turns = int(min(max(1, (due+perTurn-1)/perTurn), core.BusyTurns))
		}
		checkInBubble(t, rt, func(t *testing.T) string { return checkIORatio(t, percent, handler, turns, exits) })
	})
}

// checkIORatio counts the tasks between calls of a handler.
func checkIORatio(t *testing.T, percent int, handler time.Duration, turns int, exits bool) (wrong string) {
	const most = 6
	l, m := modelLoop(t, core.WithIORatio(percent))
	d := m.Open()
	ran, last, calls := 0, 0, 0
	coretest.Must(t, d.Input())
	busyLoop(t, l, time.Millisecond, &ran, func() bool { return calls > most })
	mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
		time.Sleep(handler)
		if calls++; calls > most {
			coretest.Must(t, d.Drain())
		} else if calls > 2 && ran-last != turns*core.TurnTasks {
			wrong = fmt.Sprintf("G13: ratio %d, handler %v: %d tasks between two calls, want %d turns of %d",
				percent, handler, ran-last, turns, core.TurnTasks)
		}
		last = ran
		if exits {
			runtime.Goexit()
		}
	})
	time.Sleep(10 * time.Hour)
	coretest.OnLoop(t, l, func() {}) // the writes of handlers are visible
	if calls <= most && wrong == "" {
		wrong = fmt.Sprintf("G13: ratio %d, handler %v: %d calls of the handler in ten hours, want more than %d", percent, handler, calls, most)
	}
	return wrong
}

// Once no descriptor is ready any more, a busy loop polls every 16 turns again: its
// tasks do not pay for past readiness.
func TestABusyLoopWithoutReadinessPollsRarely(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t)
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { time.Sleep(time.Millisecond); coretest.Must(t, d.Drain()) })
		coretest.Must(t, d.Input())
		synctest.Wait()
		const turns = 1600
		ran := 0
		before := m.Count(pollertest.Poll)
		busyLoop(t, l, time.Millisecond, &ran, func() bool { return ran > turns*core.TurnTasks })
		time.Sleep(time.Hour)
		if got, most := m.Count(pollertest.Poll)-before, turns/core.BusyTurns+5; got > most || got < turns/core.BusyTurns-5 {
			t.Errorf("%d polls in %d turns without readiness, want about %d", got, turns, turns/core.BusyTurns)
		}
	})
}

// Readiness without end does not starve tasks, timers, tail tasks, hooks, or the
// close.
func TestG13ReadinessWithoutEndStarvesNothing(t *testing.T) {
	for _, percent := range []int{1, 50, 100} {
		inBubble(t, func(t *testing.T) {
			l, m := modelLoop(t, core.WithIORatio(percent))
			calls := 0
			for range 50 {
				d := m.Open()
				coretest.Must(t, d.Input())
				mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { calls++; time.Sleep(time.Millisecond) })
			}
			time.Sleep(time.Second)
			heard := make(chan string, 10)
			at := 0
			say := func(what string) func() {
				return func() {
					if calls-at > 200 {
						t.Errorf("G13: ratio %d: %s came after %d calls of handlers, want at most 200, which are 4 polls", percent, what, calls-at)
					}
					heard <- what
				}
			}
			coretest.OnLoop(t, l, func() {
				at = calls
				coretest.Must(t, l.Execute(say("task")))
				coretest.Must(t, l.ExecuteAfterIteration(say("tail task")))
				_, err := l.Schedule(0, say("timer"))
				coretest.Must(t, err)
			})
			for range 3 {
				<-heard
			}
			mustHook(t, &l.Executor, say("hook"))
			coretest.OnLoop(t, l, func() { at = calls })
			l.Shutdown()
			coretest.AwaitDone(t, l)
			<-heard
		})
	}
}

// Tasks without end do not starve readiness: it comes after a bounded batch.
func TestG13TasksWithoutEndDoNotStarveReadiness(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l, m := modelLoop(t, core.WithIORatio(100))
		d := m.Open()
		ran, at, calls := 0, 0, 0
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) {
			calls++
			coretest.Must(t, d.Drain())
			if got, most := ran-at, (core.BusyTurns+1)*core.TurnTasks; got > most {
				t.Errorf("G13: %d tasks ran between input and its handler, want at most %d", got, most)
			}
		})
		busyLoop(t, l, time.Millisecond, &ran, func() bool { return calls == 10 })
		for i := range 10 {
			in := make(chan struct{})
			coretest.Must(t, l.Execute(func() { at = ran; coretest.Must(t, d.Input()); close(in) }))
			<-in
			time.Sleep(time.Duration(2*i+2) * time.Second)
		}
		time.Sleep(time.Minute)
		coretest.OnLoop(t, l, func() {}) // what handlers wrote is visible
		if calls != 10 {
			t.Errorf("G13: %d calls for 10 inputs, far apart, want 10", calls)
		}
	})
}
