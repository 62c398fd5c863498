package watch_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// TestPropInterval: Run reads at once, and then after each Interval. An Interval of 0 or less means DefaultInterval.
func TestPropInterval(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		interval := rapid.SampledFrom([]time.Duration{math.MinInt64, -1, 0, 1, 2, 3, 1000, 99 * time.Millisecond, time.Hour}).Draw(rt, "interval")
		early := time.Duration(rapid.Int64Range(0, 3).Draw(rt, "early"))
		wrong := ""
		synctest.Test(t, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			w := &watch.Watcher{Interval: interval}
			defer run(t, w, ex)()
			if interval <= 0 {
				interval = watch.DefaultInterval
			}
			early = min(early, interval)
			accepted := func() int64 { return w.Statuses()[0].Stats.Accepted }
			for n := range int64(3) {
				coretest.MustExecute(t, ex, func() {})
				for i, pause := range []time.Duration{interval - early, early} {
					want := n // the reading is made after both pauses
					if i == 1 || early == 0 {
						want++
					}
					time.Sleep(pause)
					synctest.Wait()
					if got := accepted(); got != want {
						wrong = fmt.Sprintf("%v before reading %d: %d tasks, want %d", early, n+2, got, want)
						return
					}
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
