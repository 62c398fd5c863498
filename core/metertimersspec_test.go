package core_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// timerRound is what happens between two readings: a body takes a time, and timers become due after delays.
type timerRound struct {
	busy   time.Duration // 0: no body
	delays []time.Duration
}

// TestPropMeterTimers: since a Read, a meter of an executor, or of a pool of one worker, takes one sample of a wake-up, and
// one of the first timer that begins: how late it is, because a body runs when it becomes due.
func TestPropMeterTimers(t *testing.T) {
	seconds := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 5).Draw(t, "seconds")) * time.Second
	})
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) timerRound {
		return timerRound{seconds.Draw(t, "busy"), rapid.SliceOfN(seconds, 0, 3).Draw(t, "delays")}
	}), 1, 5)
	rapid.Check(t, func(rt *rapid.T) {
		rounds, owned, pool := program.Draw(rt, "rounds"), rapid.Bool().Draw(rt, "clock of the user"), rapid.Bool().Draw(rt, "pool of one worker")
		checkInBubble(t, rt, func(t *testing.T) string {
			var opts []core.Option
			if owned {
				opts = append(opts, core.WithClock(slowAlarms{}))
			}
			var ex metered = coretest.NewExecutor(t, opts...)
			if pool {
				ex = coretest.NewPool(t, 1, opts...)
			}
			coretest.OnLoop(t, ex, func() {})
			synctest.Wait()
			m := ex.NewMeter()
			for i, r := range rounds {
				m.Read()
				var want []time.Duration
				if r.busy > 0 {
					coretest.MustExecute(t, ex, sleeper(r.busy))
					synctest.Wait() // it runs
				}
				for _, d := range r.delays {
					mustSchedule(t, ex, d, func() {})
				}
				if r.busy > 0 || len(r.delays) > 0 {
					want = append(want, 0) // the wake-up, which takes no virtual time
				}
				if len(r.delays) > 0 {
					want = append(want, max(0, r.busy-slices.Min(r.delays)))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := m.Read().Waits; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
					return fmt.Sprintf("pool %v: round %d of %v: the waits are %v, want %v", pool, i, rounds, got, want)
				}
			}
			return ""
		})
	})
}
