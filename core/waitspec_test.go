package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

var errGaveUp = errors.New("gave up")

// TestPropG18Waits: a call that would wait for the loop returns ErrInEventLoop in a body, and ErrStarting in the
// spawner, be it for the start or in place of a goroutine that a body has ended. Everywhere else, also where the
// spawner was called before, it waits until the context ends.
func TestPropG18Waits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := rapid.SliceOfN(rapid.SampledFrom([]string{"AwaitTermination", "Termination.Wait", "Future.Wait", "a full queue"}), 1, 4).Draw(rt, "calls")
		refusals := rapid.IntRange(0, 2).Draw(rt, "starts that fail")
		exits := rapid.IntRange(0, 3).Draw(rt, "bodies that exit")
		checkInBubble(t, rt, func(t *testing.T) (wrong string) {
			var ex *core.Executor
			retried := false
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(errGaveUp)
			check := func(where string, want error) {
				for _, call := range calls {
					var err error
					switch call {
					case "AwaitTermination":
						err = ex.AwaitTermination(ctx)
					case "Termination.Wait":
						_, err = ex.Termination().Wait(ctx)
					case "Future.Wait":
						_, err = core.NewPromise[int](ex).Future().Wait(ctx)
					case "a full queue":
						if where == "the spawner of the start" {
							continue // the queue is empty
						}
						for retried, err = false, nil; err == nil; {
							err = ex.Execute(func() {})
						}
						if errors.Is(err, core.ErrQueueFull) && retried == (want == errGaveUp) {
							err = want
						}
					}
					if !errors.Is(err, want) && wrong == "" {
						wrong = fmt.Sprintf("G18, G19: %s in %s: %v, want %v", call, where, err, want)
					}
				}
			}
			starts := 0
			ex = coretest.NewExecutor(t, core.WithMaxPendingTasks(16), core.WithSpawner(func(loop func()) error {
				if starts++; starts <= refusals+1 {
					check("the spawner of the start", core.ErrStarting)
					if starts <= refusals {
						return errSpawn
					}
				} else {
					check("the spawner behind an exit", core.ErrStarting)
				}
				return spawnIt(loop)
			}), core.WithRejectedHandler(func(attempt int, _ *core.RejectedError) (time.Duration, bool) {
				retried = true
				return time.Second, attempt < 3
			}))
			for range refusals {
				if err := ex.Execute(func() {}); !errors.Is(err, errSpawn) {
					return fmt.Sprintf("G17: a start that fails: %v", err)
				}
			}
			coretest.OnLoop(t, ex, func() { check("a body", core.ErrInEventLoop) })
			for range exits {
				coretest.MustExecute(t, ex, func() { check("a body that exits", core.ErrInEventLoop); goexit() })
				synctest.Wait()
			}
			release := occupy(t, ex)
			check("the goroutine that has started it", errGaveUp)
			release()
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			if err := ex.AwaitTermination(ctx); err != nil {
				return fmt.Sprintf("G15: behind the end: %v", err)
			}
			return wrong
		})
	})
}
