package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropG14PanicsOfOneBody: functions that a body runs in line may panic, and then the body
// itself. The panic handler gets each panic once, in this order, before the next body begins.
func TestPropG14PanicsOfOneBody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"task", "timer", "hook"}).Draw(rt, "the body")
		pool := rapid.Bool().Draw(rt, "of a pool")
		functions := rapid.SliceOfN(rapid.Bool(), 0, 5).Draw(rt, "functions that panic")
		itself := rapid.Bool().Draw(rt, "the body panics")
		checkInBubble(t, rt, func(t *testing.T) string {
			var got []string
			handler := core.WithPanicHandler(func(p *core.PanicError) { got = append(got, fmt.Sprint(p.Value)) })
			var ex interface {
				core.EventExecutor
				AddShutdownHook(func()) (func() bool, error)
				Stats() core.Stats
			} = coretest.NewExecutor(t, handler)
			if pool {
				ex = coretest.NewPool(t, 1, handler)
			}
			next := func() { got = append(got, "the next body") }
			body := func() {
				for i, panics := range functions {
					core.Submit(inline{ex}, func() (int, error) {
						if panics {
							panic(i)
						}
						return i, nil
					})
				}
				if itself {
					panic("the body")
				}
			}
			want := []string{}
			for i, panics := range functions {
				if panics {
					want = append(want, fmt.Sprint(i))
				}
			}
			if itself {
				want = append(want, "the body")
			}
			panicked := int64(len(want))
			want = append(want, "the next body")
			switch kind {
			case "task":
				coretest.MustExecute(t, ex, body)
				coretest.MustExecute(t, ex, next)
			case "timer":
				for i, f := range []func(){body, next} {
					_, err := ex.Schedule(time.Duration(i+1), f)
					coretest.Must(t, err)
				}
				time.Sleep(time.Second) // a shutdown would cancel them
			case "hook":
				for _, f := range []func(){body, next} {
					_, err := ex.AddShutdownHook(f)
					coretest.Must(t, err)
				}
			}
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			if counted := ex.Stats().Panicked; !slices.Equal(got, want) || counted != panicked {
				return fmt.Sprintf("G14: a %s with functions that panic %v, and panics itself %v: %q, and %d panics are counted; want %q, %d",
					kind, functions, itself, got, counted, want, panicked)
			}
			return ""
		})
	})
}

// The panic handler is called for a panic that Stats counts already (G14), also on a goroutine that
// is not the loop.
func TestG14StatsCountAPanicBeforeItsReport(t *testing.T) {
	for _, pool := range []bool{false, true} {
		var counted []int64
		var stats func() core.Stats
		handler := core.WithPanicHandler(func(*core.PanicError) { counted = append(counted, stats().Panicked) })
		var ex core.EventExecutor
		if pool {
			p := coretest.NewPool(t, 1, handler)
			ex, stats = p, p.Stats
		} else {
			e := coretest.NewExecutor(t, handler)
			ex, stats = e, e.Stats
		}
		coretest.MustExecute(t, ex, panics)
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		core.Submit(ex, give(1)).OnDone(func(int, error) { panics() }) // refused: the listener runs here
		if want := []int64{1, 2}; !slices.Equal(counted, want) {
			t.Errorf("pool %v: the handler reads %v panics, want %v", pool, counted, want)
		}
	}
}
