package interleave

import (
	"errors"
	"fmt"
	"os"

	"eventide/props/interleave/inprocess"
	"eventide/props/lanes/interleave/toy"
)

// ErrNotRun means that the lane has shown nothing: its other results are void.
var ErrNotRun = errors.New("interleave: not run")

// selfCheckSchedules is how many schedules each strategy gets for a planted bug.
const selfCheckSchedules = 2000

// SelfCheck proves, in this very process, that core's operations are controlled and that
// every strategy finds planted bugs: a lost update, and a lost wake-up, which ends in
// a deadlock. Without this check a lane that cannot find anything would look like one
// that passes.
func SelfCheck(seed uint64) error {
	if !controlled() {
		return fmt.Errorf("%w: core is not controlled: was this binary built with the overlay?", ErrNotRun)
	}
	for _, name := range append(inprocess.Names(), inprocess.Exhaustive) {
		for _, bug := range []struct {
			name   string
			broken func(st *inprocess.Strategy) bool
		}{
			{"lost update", func(st *inprocess.Strategy) bool {
				var sum int32
				r := inprocess.Run(st, inprocess.Options{}, func() { sum = toy.LostUpdate() })
				return r.Verdict == inprocess.Finished && sum != 2
			}},
			{"lost wake-up", func(st *inprocess.Strategy) bool {
				return inprocess.Run(st, inprocess.Options{}, toy.LostWakeUp).Verdict == inprocess.Deadlocked
			}},
		} {
			st, err := newStrategy(name, seed)
			if err != nil {
				return err
			}
			if !hunt(st, bug.broken) {
				return fmt.Errorf("%w: %s did not find the planted %s in %d schedules: was this binary built with the overlay?", ErrNotRun, name, bug.name, selfCheckSchedules)
			}
		}
	}
	if inprocess.RaceBuild && !huntRace(seed) {
		return fmt.Errorf("%w: the race detector did not see the planted race", ErrNotRun)
	}
	return nil
}

func hunt(st *inprocess.Strategy, broken func(*inprocess.Strategy) bool) bool {
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

func newStrategy(name string, seed uint64) (*inprocess.Strategy, error) {
	if name == inprocess.Exhaustive {
		return inprocess.NewExhaustive(2), nil
	}
	return inprocess.New(name, seed)
}

// huntRace looks for the planted races; the detector's reports of them go to stderr. The
// second race is in every schedule, even if one goroutine begins after the other has
// ended.
func huntRace(seed uint64) bool {
	fmt.Fprintln(os.Stderr, "lane: the next two reports are of planted races, which show that the race detector works")
	for _, planted := range []func() int{toy.Unordered, toy.OneAfterTheOther} {
		st, err := inprocess.New("walk", seed)
		if err != nil {
			panic(err) // the name is a constant
		}
		if !hunt(st, func(st *inprocess.Strategy) bool {
			return inprocess.Run(st, inprocess.Options{}, func() { planted() }).Races > 0
		}) {
			return false
		}
	}
	return true
}
