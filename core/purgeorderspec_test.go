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

// TestPropG7TimersEndBeforeTheNextBody: if a body calls Shutdown, the timers that it cancels have ended when the next body of the
// loop begins, of whatever kind the two are: a hook, task or tail task behind the call does not find a timer that still waits (G7).
func TestPropG7TimersEndBeforeTheNextBody(t *testing.T) {
	kinds := []string{"task", "tail task", "hook", "timer"}
	rapid.Check(t, func(rt *rapid.T) {
		bodies := rapid.SliceOfN(rapid.SampledFrom(kinds), 2, 6).Draw(rt, "bodies")
		closer := rapid.IntRange(0, len(bodies)-2).Draw(rt, "bodies before the one that calls Shutdown")
		before := rapid.Bool().Draw(rt, "during a graceful shutdown")
		checkInBubble(t, rt, func(t *testing.T) string { return runPurgeOrder(t, bodies, closer, before) })
	})
}

func runPurgeOrder(t *testing.T, bodies []string, closer int, graceful bool) (wrong string) {
	ex := coretest.NewExecutor(t, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
	var last *core.Timer
	begun, closed := 0, false
	body := func() {
		if closed && wrong == "" {
			select {
			case <-last.Done():
			default:
				wrong = fmt.Sprintf("G7: body %d of %q, Shutdown in number %d, begins before the timers that it cancels have ended", begun, bodies, closer)
			}
		}
		if begun == closer {
			ex.Shutdown()
			closed = true
		}
		begun++
	}
	coretest.OnLoop(t, ex, func() { // the loop finds all of them at once
		last = mustSchedule(t, ex, time.Hour, func() {})
		for _, kind := range bodies {
			switch kind {
			case "task":
				coretest.MustExecute(t, ex, body)
			case "tail task":
				coretest.Must(t, ex.ExecuteAfterIteration(body))
			case "hook":
				_, err := ex.AddShutdownHook(body)
				coretest.Must(t, err)
			case "timer":
				mustSchedule(t, ex, 0, body)
			}
		}
		if graceful {
			coretest.MustShutdownGracefully(t, ex, time.Hour, 2*time.Hour)
		}
	})
	synctest.Wait()
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	return wrong
}
