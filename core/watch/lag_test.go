package watch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

func TestOnWaitReceivesEachSample(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("orders"))
		w := &watch.Watcher{}
		heard := make(chan string, 100)
		w.OnWait(nil)
		ignore := w.OnWait(func(name string, wait time.Duration) { heard <- fmt.Sprint(name, " ", wait) })
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(70 * time.Millisecond) }) // until 120 ms: 20 ms after a reading
		time.Sleep(200 * time.Millisecond)
		if n, first := len(heard), <-heard; n != 1 || first != "orders 20ms" {
			t.Errorf("heard %d waits, first %q, want one of 20ms", n, first)
		}
		lag := w.Statuses()[0].Lag
		i := slices.Index(watch.LagBounds(), 25*time.Millisecond)
		if lag.Count != 1 || lag.Sum != 20*time.Millisecond || lag.Buckets[i] != 1 || lag.Buckets[i-1] != 0 {
			t.Errorf("lag %+v, want one wait of 20ms", lag)
		}
		ignore()
		coretest.OnLoop(t, ex, func() { time.Sleep(time.Second) })
		time.Sleep(time.Second)
		if n := len(heard); n != 0 {
			t.Errorf("heard %d waits after the stop, want none", n)
		}
		stop()
	})
}

// TestOnWaitIsNotCalledAfterItsStop: a stop counts for the rest of a reading, too: for the next samples and the
// next functions.
func TestOnWaitIsNotCalledAfterItsStop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := &watch.Watcher{}
		var called []string
		var stopFirst, stopSecond func()
		stopFirst = w.OnWait(func(string, time.Duration) { called = append(called, "first"); stopFirst(); stopSecond() })
		stopSecond = w.OnWait(func(string, time.Duration) { called = append(called, "second") })
		w.OnWait(func(string, time.Duration) { called = append(called, "third") })
		executors := []core.EventExecutor{coretest.NewExecutor(t), coretest.NewExecutor(t)}
		stop := run(t, w, executors...)
		coretest.Pass(50 * time.Millisecond)
		for _, ex := range executors {
			coretest.MustExecute(t, ex, func() { coretest.Pass(70 * time.Millisecond) }) // each waits once, beyond a reading
		}
		coretest.Pass(200 * time.Millisecond)
		stop()
		if want := []string{"first", "third", "third"}; !slices.Equal(called, want) {
			t.Errorf("called: %v, want %v: a function that was stopped is not called", called, want)
		}
	})
}

func TestOldestIsTheAgeOfATaskThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Limit: -1}
		stop := run(t, w, ex)
		coretest.MustExecute(t, ex, func() { time.Sleep(time.Minute) })
		coretest.MustExecute(t, ex, func() {})
		time.Sleep(50*time.Second + 50*time.Millisecond)
		if s := w.Statuses()[0]; s.Oldest < 49*time.Second || s.Oldest > 50*time.Second {
			t.Errorf("the oldest task has waited for %v, want 50s", s.Oldest)
		}
		time.Sleep(time.Minute)
		if s := w.Statuses()[0]; s.Oldest != 0 || s.RecentLag < 59*time.Second && s.RecentLag != 0 {
			t.Errorf("got %+v, want nothing waiting", s)
		}
		stop()
	})
}
