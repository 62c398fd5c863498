package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// TestPropG14PanicsInCallsOfTheClock: the loop calls a clock between two bodies, and at their ends. If the clock runs a
// function in line that panics, the panic is no failure of the clock: it is counted, and the handler gets it once, before the loop
// sleeps and before it notifies a channel of the shutdown, in whatever call of the clock it was.
func TestPropG14PanicsInCallsOfTheClock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.SliceOfNDistinct(rapid.IntRange(1, 25), 1, 5, rapid.ID[int]).Draw(rt, "calls on the loop that panic")
		timers := rapid.IntRange(0, 3).Draw(rt, "timers")
		tasks := rapid.IntRange(0, 3).Draw(rt, "tasks in the shutdown")
		io := rapid.Bool().Draw(rt, "an event loop")
		ends := rapid.Bool().Draw(rt, "the first that panics begins the shutdown")
		checkInBubble(t, rt, func(t *testing.T) string {
			var handled, want []string
			late := ""
			clock, began := &askingClock{}, time.Now()
			opts := []core.Option{core.WithClock(clock), core.WithPanicHandler(func(p *core.PanicError) {
				handled = append(handled, fmt.Sprintf("%v at %v", p.Value, time.Since(began)))
			})}
			var ex interface {
				core.EventExecutor
				Stats() core.Stats
			}
			if io {
				m := pollertest.NewModel(nil)
				l, reg := loopOn(t, m, opts...), (*core.Registration)(nil)
				reg = mustRegisterChannel(t, l, m.Open().FD(), &fakeChannel{drain: func(core.Deadline) {
					late += missing(handled, want)
					reg.End(core.ChannelEnd{})
				}})
				ex = l
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
						core.Submit(inline{ex}, func() (int, error) {
							if ends {
								_, _ = ex.ShutdownGracefully(time.Second, time.Hour)
							}
							want = append(want, fmt.Sprintf("%d at %v", k, time.Since(began)))
							panic(k)
						})
					}
				}
			}
			coretest.OnLoop(t, ex, func() {})
			clock.ask.Store(&ask)
			for i := range timers {
				_, _ = ex.Schedule(time.Duration(i)*time.Second, func() {}) // refused if the shutdown is over
			}
			time.Sleep(time.Duration(timers) * time.Second)
			coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
			for range tasks {
				time.Sleep(time.Second / 2)
				_ = ex.Execute(func() {})
			}
			report := coretest.AwaitDoneWithin(t, ex, time.Hour)
			if err := ex.Termination().Err(); err != nil || !slices.Equal(handled, want) || report.Panicked != int64(len(want)) {
				return fmt.Sprintf("G14: of %d calls of the clock, some panic: %q; the handler gets %q, %d are counted, and the error is %v", calls, want, handled, report.Panicked, err)
			}
			if late != "" {
				return "G14: Drain of a channel was called before the panic handler had got the panics " + late
			}
			return ""
		})
	})
}

// missing returns those of want that are not in got.
func missing(got, want []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(got, s) }), ", ")
}
