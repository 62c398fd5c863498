package core_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG19NoRetriesInABody: the handler of a full queue is asked again and again for a call on another goroutine, until the
// bodies make room, but never for a call inside a body: no worker makes room while it waits (G19).
func TestPropG19NoRetriesInABody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 3).Draw(rt, "workers, or 0: an executor")
		limit := rapid.IntRange(16, 18).Draw(rt, "limit")
		inside := rapid.IntRange(0, 3).Draw(rt, "calls too many in a body")
		outside := rapid.IntRange(0, 3).Draw(rt, "calls too many on another goroutine")
		checkInBubble(t, rt, func(t *testing.T) string {
			asked, gate := 0, make(chan struct{})
			opts := []core.Option{core.WithMaxPendingTasks(limit), core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
				if asked++; asked == 1 {
					close(gate)
				}
				return time.Second, asked < 100 // or a body that retries would not end
			})}
			var ex core.EventExecutor
			if size == 0 {
				ex = coretest.NewExecutor(t, opts...)
			} else {
				ex = coretest.NewPool(t, size, opts...)
			}
			fill := make(chan struct{})
			for range max(size, 1) - 1 {
				coretest.MustExecute(t, ex, func() { <-gate })
			}
			wrong := ""
			coretest.MustExecute(t, ex, func() {
				<-fill
				for i := range limit + inside {
					err := ex.Execute(func() {})
					if errors.Is(err, core.ErrQueueFull) != (i >= limit) || asked > 0 {
						wrong = fmt.Sprintf("G19: call %d in a body, with room for %d: %v; the handler was asked %d times", i+1, limit, err, asked)
					}
				}
				<-gate
			})
			synctest.Wait()
			close(fill)
			synctest.Wait()
			began := time.Now()
			for range outside {
				if err := ex.Execute(func() {}); err != nil {
					return fmt.Sprintf("G19: %v, want the handler to wait for room", err)
				}
			}
			if took := time.Since(began); asked != min(1, outside) || took != time.Duration(asked)*time.Second {
				wrong = fmt.Sprintf("G19: %d calls with no room took %v, and the handler was asked %d times", outside, took, asked)
			}
			if outside == 0 {
				close(gate)
			}
			return wrong
		})
	})
}
