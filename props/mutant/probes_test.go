package mutant

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"

	"github.com/stretchr/testify/require"
)

// The probes below are each for one planted bug that neither the generated programs nor
// the chosen schedules have met: the moment that shows it is too narrow, or the state
// too particular. They use package core as anybody may.

// lookingPoller sleeps on a channel, and looks at its executor while it is closed.
type lookingPoller struct {
	token  chan struct{}
	closes func()
}

func (p *lookingPoller) Wait(until core.Deadline) error {
	var over <-chan time.Time
	if !until.IsZero() {
		over = time.After(time.Until(until))
	}
	select {
	case <-p.token:
	case <-over:
	}
	return nil
}

func (p *lookingPoller) Wake() {
	select {
	case p.token <- struct{}{}:
	default:
	}
}

func (p *lookingPoller) Close() error { p.closes(); return nil }

// TestG15TerminatedIsNotSeenBeforeDone: while the poller is closed the executor has not
// ended, and State does not say so (mutant g15-terminated-before-done).
func TestG15TerminatedIsNotSeenBeforeDone(t *testing.T) {
	var ex *core.Executor
	var seen core.State
	ended := true
	p := &lookingPoller{token: make(chan struct{}, 1), closes: func() {
		seen = ex.State()
		select {
		case <-ex.Termination().Done():
		default:
			ended = false
		}
	}}
	ex, err := core.NewExecutor(core.WithPoller(p))
	require.NoError(t, err)
	require.NoError(t, ex.Execute(func() {}))
	require.NoError(t, ex.Close())
	require.False(t, ended, "G15: Done was closed before the poller")
	require.Equal(t, core.StateShutdown, seen, "G15: the state while Done is open")
	require.Equal(t, core.StateTerminated, ex.State())
}

// heapOfTimers are delays in seconds, each at the index that it will have in the heap,
// which has four children to a node. Below index 1 all are late, the 100 at its top
// included; at its last place, elsewhere, is 50.
func heapOfTimers() []int {
	delays := []int{1, 100, 2, 3, 4}
	for i := 5; i < 60; i++ {
		switch {
		case i == 59:
			delays = append(delays, 50)
		case i <= 8 || i >= 21:
			delays = append(delays, 200+i)
		default:
			delays = append(delays, i)
		}
	}
	return delays
}

// TestG7TimersAroundAHole: the timer that fills the hole of a cancelled one may have to
// rise, not only to sink (mutant g7-heap-hole-only-down): the one of 50 s takes the place
// of that at index 6, under the one of 100 s.
func TestG7TimersAroundAHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor()
		require.NoError(t, err)
		var timers []*core.Timer
		var got []int
		began := time.Now()
		for _, d := range heapOfTimers() {
			timer, err := ex.Schedule(time.Duration(d)*time.Second, func() { got = append(got, int(time.Since(began)/time.Second)) })
			require.NoError(t, err)
			timers = append(timers, timer)
		}
		synctest.Wait() // they are in the heap
		require.NoError(t, ex.Execute(func() { timers[6].Cancel() }))
		time.Sleep(time.Hour)
		require.NoError(t, ex.Close())
		want := slices.Sorted(slices.Values(slices.Delete(heapOfTimers(), 6, 7)))
		require.Equal(t, want, got, "G7: the seconds at which the timers ran")
	})
}

// TestG10TimerCancelledByABody: a timer that a body has cancelled holds up no shutdown,
// whether the loop has taken it into its heap (mutant g7-cancelled-stays-in-heap) or not
// (mutant g7-cancelled-stays-added).
func TestG10TimerCancelledByABody(t *testing.T) {
	for _, place := range []string{"heap", "added"} {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ex, err := core.NewExecutor(core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
				require.NoError(t, err)
				var timer *core.Timer
				schedule := func() {
					timer, err = ex.Schedule(time.Minute, func() { t.Error("G8: a cancelled timer ran") })
					require.NoError(t, err)
				}
				if place == "heap" {
					schedule()
					synctest.Wait()
				}
				require.NoError(t, ex.Execute(func() {
					if place == "added" {
						schedule()
					}
					timer.Cancel()
				}))
				synctest.Wait()
				began := time.Now()
				_, err = ex.ShutdownGracefully(0, time.Hour)
				require.NoError(t, err)
				require.NoError(t, ex.AwaitTermination(context.Background()))
				require.Zero(t, time.Since(began), "G10: nothing was pending, and the quiet period is zero")
			})
		})
	}
}

// TestG8CancelOfAPeriodicTimerIsTrueOnce, also if it is cancelled while the loop is in
// another timer of the same instant, and finds it in the heap (mutant
// g8-timer-cancel-races-begin).
func TestG8CancelOfAPeriodicTimerIsTrueOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor()
		require.NoError(t, err)
		gate, scheduled := make(chan struct{}), make(chan *core.Timer, 1)
		require.NoError(t, ex.Execute(func() { // both before either is due
			_, err := ex.Schedule(time.Second, func() { <-gate })
			require.NoError(t, err)
			periodic, err := ex.ScheduleAtFixedRate(time.Second, time.Second, func() { t.Error("G8: a cancelled timer ran") })
			require.NoError(t, err)
			scheduled <- periodic
		}))
		periodic := <-scheduled
		time.Sleep(2 * time.Second)
		require.True(t, periodic.Cancel(), "it has not begun")
		close(gate)
		synctest.Wait()
		require.False(t, periodic.Cancel(), "G8: it was cancelled before")
		require.NoError(t, ex.Close())
	})
}

// TestG6HooksThatAddHooksLeaveTasksTheirTurn: a hook that a hook adds runs in the turn
// after (mutant g6-hooks-of-the-same-turn).
func TestG6HooksThatAddHooksLeaveTasksTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1000
		ex, err := core.NewExecutor()
		require.NoError(t, err)
		hooks, ran := 0, false
		var hook func()
		hook = func() {
			if hooks++; hooks < most && !ran {
				_, err := ex.AddShutdownHook(hook)
				require.NoError(t, err)
			}
		}
		_, err = ex.AddShutdownHook(hook)
		require.NoError(t, err)
		require.NoError(t, ex.Execute(func() {
			_, err := ex.ShutdownGracefully(0, time.Hour)
			require.NoError(t, err)
			require.NoError(t, ex.Execute(func() { ran = true }))
		}))
		require.NoError(t, ex.AwaitTermination(context.Background()))
		require.True(t, ran)
		require.Less(t, hooks, most, "G13: hooks that ran before the task had its turn")
	})
}
