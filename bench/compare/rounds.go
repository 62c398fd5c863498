package compare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"time"

	"eventide/bench"
)

// MinRounds is the least number of rounds: with fewer there is no 95 % confidence
// interval worth the name.
const MinRounds = 10

// Options say what is measured, and for how long.
type Options struct {
	Groups   []bench.Group
	Run      *regexp.Regexp // which cases, by name; what they are compared with runs too
	Rounds   int
	Slice    time.Duration // of a case in a round, roughly
	Progress func(workload string)
}

// A series is what was measured of one case, round by round.
type series struct {
	bench.Case
	slices []bench.Slice
}

// Measure runs the selected cases.
func Measure(o Options) (Results, error) {
	if o.Rounds < MinRounds {
		return nil, fmt.Errorf("compare: %d rounds, want at least %d", o.Rounds, MinRounds)
	}
	var all Results
	for _, g := range o.Groups {
		g = choose(g, o.Run)
		if len(g) == 0 {
			continue
		}
		if o.Progress != nil {
			o.Progress(g[0].Workload)
		}
		measured, err := measureGroup(g, o)
		if err != nil {
			return nil, err
		}
		all = append(all, measured...)
	}
	return all, nil
}

// choose returns the cases that are asked for, and those they are compared with.
func choose(g bench.Group, run *regexp.Regexp) bench.Group {
	wanted := map[string]bool{}
	for _, c := range g {
		if run.MatchString(c.Name()) {
			wanted[c.Name()] = true
			wanted[reference(c).Name()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g), func(c bench.Case) bool { return !wanted[c.Name()] })
}

// reference names the case that c is compared with: itself, if none is.
func reference(c bench.Case) bench.Case {
	if c.Against != "" {
		c.Impl = c.Against
	}
	return c
}

func measureGroup(g bench.Group, o Options) (_ []series, err error) {
	runners := make([]bench.Runner, 0, len(g))
	defer func() {
		for _, r := range runners {
			err = errors.Join(err, r.Close())
		}
	}()
	measured := make([]series, len(g))
	for i, c := range g {
		r, err := c.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), err)
		}
		runners = append(runners, r)
		measured[i] = series{Case: c}
	}
	ops, err := calibrate(g, runners, o.Slice)
	if err != nil {
		return nil, err
	}
	for round := range o.Rounds {
		for _, i := range order(round, len(g)) {
			s, err := run(g[i], runners[i], ops[i])
			if err != nil {
				return nil, err
			}
			measured[i].slices = append(measured[i].slices, s)
		}
	}
	return measured, nil
}

// order is there and back again.
func order(round, n int) []int {
	forth := make([]int, n)
	for i := range forth {
		forth[i] = i
	}
	if round%2 == 1 {
		slices.Reverse(forth)
	}
	return forth
}

// run measures one slice. It does not pay for the garbage of the one before.
func run(c bench.Case, r bench.Runner, ops int) (bench.Slice, error) {
	runtime.GC()
	s, err := r.Run(ops)
	if err != nil {
		return s, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return s, nil
}

// calibrate returns how many operations each case is to do: as many as the one
// it is compared with does in a slice. Every case warms up by that.
func calibrate(g bench.Group, runners []bench.Runner, slice time.Duration) ([]int, error) {
	fits := map[string]int{}
	for i, c := range g {
		if reference(c).Name() != c.Name() {
			continue
		}
		n, err := fitting(c, runners[i], max(slice, c.MinTime))
		if err != nil {
			return nil, err
		}
		fits[c.Name()] = n
	}
	ops := make([]int, len(g))
	for i, c := range g {
		ops[i] = fits[reference(c).Name()]
		if _, err := run(c, runners[i], ops[i]); err != nil {
			return nil, err
		}
	}
	return ops, nil
}

// fitting finds out how many operations last as long as a slice, pauses included.
func fitting(c bench.Case, r bench.Runner, slice time.Duration) (int, error) {
	for n := 1; ; {
		took, err := fastest(c, r, n)
		if err != nil {
			return 0, err
		}
		if took >= slice/4 {
			return max(1, c.MinOps, int(float64(n)*float64(slice)/float64(took))), nil
		}
		n *= int(min(100, max(2, slice/(2*took))))
	}
}

// fastest returns the least of a few times: a single one may have been interrupted
// for longer than a slice is.
func fastest(c bench.Case, r bench.Runner, n int) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range 4 {
		began := time.Now()
		if _, err := r.Run(n); err != nil {
			return 0, fmt.Errorf("%s: %w", c.Name(), err)
		}
		least = min(least, max(1, time.Since(began)))
	}
	return least, nil
}
