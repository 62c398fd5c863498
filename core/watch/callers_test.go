package watch_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// TestPropManyCallersAtOnce: no registration of many goroutines at once is lost, nor is its end.
func TestPropManyCallersAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		callers, watchers := rapid.IntRange(1, 4).Draw(rt, "callers"), rapid.IntRange(0, 4).Draw(rt, "goroutines that watch")
		each, executors := rapid.SampledFrom([]int{1, 3, 50, 300}).Draw(rt, "listeners of each"), rapid.IntRange(0, 3).Draw(rt, "executors of each")
		after := time.Duration(rapid.IntRange(0, 2).Draw(rt, "intervals before the calls")) * watch.DefaultInterval // as a reading begins
		inBubble(t, func(t *testing.T) {
			w := &watch.Watcher{}
			ex := coretest.NewExecutor(t)
			stop := run(t, w, ex)
			var called, stopped atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					time.Sleep(after) // of the bubble
					for range each {
						w.OnWait(func(string, time.Duration) { called.Add(1) })
						w.OnWait(func(string, time.Duration) { stopped.Add(1) })()
					}
				})
			}
			for range watchers {
				wg.Go(func() {
					time.Sleep(after) // of the bubble
					for range executors {
						if err := w.Watch(coretest.NewExecutor(t, core.WithName("one of many"))); err != nil {
							t.Error(err)
						}
						_ = w.Statuses()
					}
				})
			}
			wg.Wait()
			time.Sleep(watch.DefaultInterval / 4)                                      // of the bubble: the task neither begins nor ends as a reading begins
			coretest.MustExecute(t, ex, func() { time.Sleep(150 * time.Millisecond) }) // a reading finds it
			time.Sleep(time.Second)
			coretest.Want(t, "the listeners that got a wait", called.Load(), int64(callers*each))
			coretest.Want(t, "the listeners that were taken back and got a wait", stopped.Load(), 0)
			coretest.Want(t, "the watched executors", len(w.Statuses()), 1+watchers*executors)
			stop()
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}
