package core_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG9BodiesOfListeners: the listeners of a future that completes are one body, and those that are left after one that does
// not return are another one. The report of a panic is a body too. The loop begins no other bodies, and calls each listener once,
// in order (G9, G14).
func TestPropG9BodiesOfListeners(t *testing.T) {
	listeners := rapid.SliceOfN(rapid.SampledFrom([]string{"returns", "panics", "exits"}), 1, 6)
	rapid.Check(t, func(rt *rapid.T) {
		hows, pool := listeners.Draw(rt, "listeners"), rapid.Bool().Draw(rt, "pool")
		checkInBubble(t, rt, func(t *testing.T) string {
			rec := new(recorder)
			opts := []core.Option{core.WithTracer(rec), core.WithPanicHandler(func(*core.PanicError) {})}
			var ex core.EventExecutor
			if pool {
				ex = coretest.NewPool(t, 1, opts...)
			} else {
				ex = coretest.NewExecutor(t, opts...)
			}
			coretest.OnLoop(t, ex, func() {})
			p := core.NewPromise[int](ex)
			var called []int
			for i, how := range hows {
				p.Future().OnDone(func(int, error) {
					called = append(called, i)
					switch how {
					case "panics":
						panic(i)
					case "exits":
						runtime.Goexit()
					}
				})
			}
			p.TrySuccess(1)
			synctest.Wait()
			begun := 0
			for _, ev := range rec.all() {
				if ev.Kind == core.EventBegin && ev.Body == core.BodyListener {
					begun++
				}
			}
			panics := count(hows, "panics")
			if want := 1 + 2*panics + count(hows, "exits"); begun != want || !slices.Equal(called, firstNumbers(len(hows))) {
				return fmt.Sprintf("G9: the listeners %v of %v were called in %d bodies, want all in %d", called, hows, begun, want)
			}
			return ""
		})
	})
}
