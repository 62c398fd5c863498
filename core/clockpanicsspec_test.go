package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// TestPropG14PanicsInCallsOfTheClock: the loop calls a clock between two bodies, and at their ends. If the clock runs a
// function in line that panics, the panic is no failure of the clock: it is counted, and the handler gets it once, before the loop
// sleeps, in whatever call of the clock it was.
func TestPropG14PanicsInCallsOfTheClock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.SliceOfNDistinct(rapid.IntRange(1, 25), 1, 5, rapid.ID[int]).Draw(rt, "calls on the loop that panic")
		timers := rapid.IntRange(0, 3).Draw(rt, "timers")
		tasks := rapid.IntRange(0, 3).Draw(rt, "tasks in the shutdown")
		io := rapid.Bool().Draw(rt, "an event loop")
		checkInBubble(t, rt, func(t *testing.T) string {
			var handled, want []string
			clock, began := &askingClock{}, time.Now()
			opts := []core.Option{core.WithClock(clock), core.WithPanicHandler(func(p *core.PanicError) {
				handled = append(handled, fmt.Sprintf("%v at %v", p.Value, time.Since(began)))
			})}
			var ex interface {
				core.EventExecutor
				Stats() core.Stats
			}
			if io {
				ex = loopOn(t, pollertest.NewModel(nil), opts...)
			} else { // a poller that calls no clock after the sleep is announced
				ex = coretest.NewExecutor(t, append(opts, core.WithPoller(core.NewParkPoller(nil)))...)
			}
			calls := 0
			ask := func() {
				if !ex.InEventLoop() {
					return
				}
				calls++
				for _, k := range at {
					if k == calls {
						want = append(want, fmt.Sprintf("%d at %v", k, time.Since(began)))
						core.Submit(inline{ex}, func() (int, error) { panic(k) })
					}
				}
			}
			coretest.OnLoop(t, ex, func() {})
			clock.ask.Store(&ask)
			for i := range timers {
				mustSchedule(t, ex, time.Duration(i)*time.Second, func() {})
			}
			time.Sleep(time.Duration(timers) * time.Second)
			coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
			for range tasks {
				time.Sleep(time.Second / 2)
				coretest.MustExecute(t, ex, func() {})
			}
			report := coretest.AwaitDoneWithin(t, ex, time.Hour)
			if err := ex.Termination().Err(); err != nil || !slices.Equal(handled, want) || report.Panicked != int64(len(want)) {
				return fmt.Sprintf("G14: of %d calls of the clock, some panic: %q; the handler gets %q, %d are counted, and the error is %v", calls, want, handled, report.Panicked, err)
			}
			return ""
		})
	})
}
