package watch_test

import (
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

// TestRecentValuesCoverTwoWindows: Busy and RecentLag are of the last 10 to 20 seconds; BusyTime
// and Lag are of the whole time.
func TestRecentValuesCoverTwoWindows(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Limit: -1}
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(9800 * time.Millisecond) }) // until 9.85 s
		for _, at := range []struct {
			sleep     time.Duration
			busy      float64
			recentLag time.Duration
		}{
			{15 * time.Second, 9.8 / 15, 9750 * time.Millisecond}, // the first reading in the body was at 0.1 s
			{10 * time.Second, 0, 0},
		} {
			time.Sleep(at.sleep)
			s := w.Statuses()[0]
			if off := s.Busy - at.busy; off < -0.001 || off > 0.001 || s.RecentLag != at.recentLag {
				t.Errorf("busy %v, recent lag %v, want %v and %v", s.Busy, s.RecentLag, at.busy, at.recentLag)
			}
			if s.BusyTime != 9800*time.Millisecond || s.Lag.Count != 98 { // a sample of each reading from 0.1 s to 9.8 s
				t.Errorf("busy time %v, lag %+v, want 9.8s and 98 waits", s.BusyTime, s.Lag)
			}
		}
		stop()
	})
}

// TestBusyOfAPoolIsASum: over its workers, so the share may exceed 1.
func TestBusyOfAPoolIsASum(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		pool := coretest.NewPool(t, 2)
		w := &watch.Watcher{}
		stop := run(t, w, pool)
		for range 2 {
			coretest.MustExecute(t, pool, func() { time.Sleep(500 * time.Millisecond) })
		}
		time.Sleep(450 * time.Millisecond)
		s := w.Statuses()[0]
		coretest.Want(t, "kind", s.Kind, watch.KindPool)
		coretest.Want(t, "busy", s.Busy, 2)
		time.Sleep(time.Second)
		coretest.Want(t, "busy time", w.Statuses()[0].BusyTime, time.Second)
		stop()
	})
}

// TestWaitBeyondTheLastBound: such a wait is in the count and in the sum, and in no bucket.
func TestWaitBeyondTheLastBound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		bounds := watch.LagBounds()
		if !slices.IsSorted(bounds) || len(bounds) != len(watch.Lag{}.Buckets) {
			t.Errorf("bounds %v, want one for each bucket, in order", bounds)
		}
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Interval: 100 * time.Second}
		stop := run(t, w, ex)
		coretest.MustExecute(t, ex, func() { time.Sleep(190 * time.Second) }) // one reading comes in it
		time.Sleep(250 * time.Second)
		coretest.Want(t, "lag", w.Statuses()[0].Lag, watch.Lag{Count: 1, Sum: 90 * time.Second})
		stop()
	})
}

// TestWatcherInsideABody: its methods may be called inside bodies.
func TestWatcherInsideABody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("orders"))
		w := &watch.Watcher{Interval: -1} // the default
		stop := run(t, w, ex)
		other := coretest.NewExecutor(t, core.WithName("files"))
		coretest.OnLoop(t, ex, func() {
			if err := w.Watch(embeds{other}); err != nil {
				t.Error(err)
			}
			w.OnWait(func(string, time.Duration) {})()
			time.Sleep(250 * time.Millisecond) // two readings find this body
			s := w.Statuses()
			if len(s) != 2 || s[0].Longest() == 0 || s[1].Name != "files" || len(w.String()) < 10 {
				t.Errorf("got %+v, want this body, and the executor files", s)
			}
		})
		stop()
	})
}

// embeds is a type of a user.
type embeds struct{ *core.Executor }
