package bench

import (
	"slices"
	"sync"
	"time"

	"eventide/core"
)

// lateTimers are how many timers one operation of TimerLateness sets: spread over
// lateSpread, so that hardly two are due together.
const (
	lateTimers = 100
	lateSpread = 20 * time.Millisecond
)

// scheduler makes fire run after delay.
type scheduler func(delay time.Duration, fire func()) error

func latenessCases() Group {
	afterFunc := func(delay time.Duration, fire func()) error {
		time.AfterFunc(delay, fire)
		return nil
	}
	g := Group{{
		Workload: "TimerLateness", Impl: "afterfunc", Against: "afterfunc", Unit: "timer", MinOps: lateTimers,
		Open: runFunc(func(n int) (Slice, error) { return lateness(n, afterFunc) }).open,
	}}
	for _, x := range slices.Concat([]implementation{{"core", NewCore}}, loops) {
		g = append(g, Case{
			Workload: "TimerLateness", Impl: x.impl, Against: "afterfunc", Unit: "timer", MinOps: lateTimers,
			Open: openExecutor(x.open, func(ex Executor, n int) (Slice, error) {
				return lateness(n, func(delay time.Duration, fire func()) error {
					_, err := ex.(core.EventExecutor).Schedule(delay, fire)
					return err
				})
			}),
		})
	}
	return g
}

// lateness sets timers, lateTimers at a time, and measures how much later than it is
// due each fires. A timer that fires early counts as short (G7), with a lateness of 0.
func lateness(n int, schedule scheduler) (Slice, error) {
	samples, short := newLatencies(), 0
	for range max(1, n/lateTimers) {
		late := make([]time.Duration, lateTimers)
		var fired sync.WaitGroup
		for i := range late {
			delay := time.Millisecond + lateSpread*time.Duration(i)/lateTimers
			fired.Add(1)
			due := time.Now().Add(delay)
			err := schedule(delay, func() {
				late[i] = time.Since(due)
				fired.Done()
			})
			if err != nil {
				return Slice{}, err
			}
		}
		fired.Wait()
		for _, d := range late {
			if d < 0 {
				short++
			}
			if err := samples.add(max(0, d)); err != nil {
				return Slice{}, err
			}
		}
	}
	s := samples.slice(0)
	s.Short = short
	return s, nil
}
