package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG11RunningBeforeContextEnds: the report of a timeout shows where the bodies were before Context ended: afterwards they
// go on, and their stacks no longer show what they waited for (G11).
func TestPropG11RunningBeforeContextEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		workers := rapid.IntRange(0, 3).Draw(rt, "workers of the pool; 0: an executor")
		timeout := time.Duration(rapid.IntRange(0, 1).Draw(rt, "minutes")) * time.Minute
		checkInBubble(t, rt, func(t *testing.T) string {
			var ex core.EventExecutor
			if workers == 0 {
				ex = coretest.NewExecutor(t)
			} else {
				ex = coretest.NewPool(t, workers)
			}
			w := coretest.NewWaiting()
			for range max(workers, 1) {
				coretest.MustExecute(t, ex, func() { w.Run(ex.Context()) })
			}
			synctest.Wait()
			coretest.MustShutdownGracefully(t, ex, 0, timeout)
			time.Sleep(timeout) // of the bubble
			synctest.Wait()
			coretest.Want(t, "G1: state", ex.State(), core.StateShutdown)
			w.Release()
			if text := coretest.AwaitDone(t, ex).Running; !w.Waits(text) || w.IsPast(text) {
				return fmt.Sprintf("G11: a timeout after %v: the text is not that of bodies that wait for Context:\n%s", timeout, text)
			}
			return ""
		})
	})
}
