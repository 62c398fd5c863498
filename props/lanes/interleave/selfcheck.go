package interleave

import (
	"errors"
	"fmt"
	"os"

	"eventide/props/lanes/interleave/det"
	"eventide/props/lanes/interleave/strategy"
	"eventide/props/lanes/interleave/toy"
)

// ErrNotRun means that the lane has shown nothing: whatever it says else is void.
var ErrNotRun = errors.New("interleave: not run")

// selfCheckSchedules is how many schedules each strategy gets for a planted bug.
const selfCheckSchedules = 2000

// SelfCheck proves, in this very process, that core's operations are instrumented and that
// every strategy finds planted bugs: a lost update, and a lost wake-up, which ends in
// a deadlock. Without that a lane that finds nothing looks like one that passes.
func SelfCheck(seed uint64) error {
	if !instrumented() {
		return fmt.Errorf("%w: core is not instrumented: was this binary built with the overlay of cmd/rewrite?", ErrNotRun)
	}
	for _, name := range append(strategy.Names(), "exhaustive") {
		for _, bug := range []struct {
			name   string
			broken func(st det.Strategy) bool
		}{
			{"lost update", func(st det.Strategy) bool {
				var sum int32
				r := det.Run(st, det.Options{}, func() { sum = toy.LostUpdate() })
				return r.Verdict == det.Finished && sum != 2
			}},
			{"lost wake-up", func(st det.Strategy) bool {
				return det.Run(st, det.Options{}, toy.LostWakeUp).Verdict == det.Deadlocked
			}},
		} {
			st, err := newStrategy(name, seed)
			if err != nil {
				return err
			}
			if !hunt(st, bug.broken) {
				return fmt.Errorf("%w: %s did not find the planted %s in %d schedules: was this binary built with the overlay of cmd/rewrite?", ErrNotRun, name, bug.name, selfCheckSchedules)
			}
		}
	}
	if det.RaceBuild && !huntRace(seed) {
		return fmt.Errorf("%w: the race detector did not see the planted race", ErrNotRun)
	}
	return nil
}

func hunt(st strategy.Strategy, broken func(det.Strategy) bool) bool {
	for range selfCheckSchedules {
		if !st.Begin() {
			return false
		}
		if broken(st) {
			return true
		}
	}
	return false
}

func newStrategy(name string, seed uint64) (strategy.Strategy, error) {
	if name == "exhaustive" {
		return strategy.NewExhaustive(2), nil
	}
	return strategy.New(name, seed)
}

// huntRace looks for the planted races; the detector's reports of them go to stderr. The
// second is there in every schedule, and is looked for in the one where a goroutine
// begins when another has ended, after runs that left goroutines to be used again.
func huntRace(seed uint64) bool {
	fmt.Fprintln(os.Stderr, "lane: the next two reports of a race are of races that are planted, to see that the detector works")
	st, err := strategy.New("walk", seed)
	if err != nil {
		panic(err) // the name is a constant
	}
	races := func(st det.Strategy, f func() int) bool {
		return det.Run(st, det.Options{}, func() { f() }).Races > 0
	}
	return hunt(st, func(st det.Strategy) bool { return races(st, toy.Unordered) }) && races(newest{}, toy.OneAfterTheOther)
}

// newest lets the goroutine that was started last go on.
type newest struct{}

//go:norace
func (newest) Next(d *det.Decision) int { return len(d.Runnable) - 1 }
