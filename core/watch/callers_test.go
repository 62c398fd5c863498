package watch_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

// TestManyCallersAtOnce: no registration of many goroutines at once is lost, nor is its end.
func TestManyCallersAtOnce(t *testing.T) {
	const callers, each = 4, 2000
	inBubble(t, func(t *testing.T) {
		w := &watch.Watcher{}
		ex := coretest.NewExecutor(t)
		stop := run(t, w, ex)
		var heard, unheard atomic.Int64
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					w.OnWait(func(string, time.Duration) { heard.Add(1) })
					w.OnWait(func(string, time.Duration) { unheard.Add(1) })()
				}
			})
			wg.Go(func() {
				for range 20 {
					if err := w.Watch(coretest.NewExecutor(t, core.WithName("one of many"))); err != nil {
						t.Error(err)
					}
					_ = w.Statuses()
				}
			})
		}
		wg.Wait()
		coretest.MustExecute(t, ex, func() { time.Sleep(150 * time.Millisecond) }) // a reading finds it
		time.Sleep(time.Second)
		if n := heard.Load(); n != callers*each {
			t.Errorf("%d listeners heard of a wait, want %d", n, callers*each)
		}
		coretest.Want(t, "the listeners that were taken back and heard of a wait", unheard.Load(), 0)
		coretest.Want(t, "the watched executors", len(w.Statuses()), 1+callers*20)
		stop()
	})
}
