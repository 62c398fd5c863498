package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"eventide/bench/gate/measure"
)

// The figures that are counted from outside.
const (
	syscalls     = "syscalls/op"
	instructions = "instructions/op"
)

// tolerances bound the growth of a count: the greater of a share and a number. Bytes
// vary with the growth of slices and maps; instructions repeat within 0.4 %.
var tolerances = map[string]struct{ share, number float64 }{
	measure.Allocs: {0, 0.5}, // testing prints whole allocations
	measure.Bytes:  {0.02, 8},
	syscalls:       {0.05, 0.25},
	instructions:   {0.02, 5},
}

// Each side is counted countRuns times, and more often if the counts so far show a regression.
const countRuns = 2

// fewestCounts returns how often each side must be counted before a difference is a regression.
// A count that varies, of which all n values of head exceed all n of base by chance, is one case
// in C(2n, n). Among that many figures this must be rarer than level: with six counts of each
// side, as here until a thousand figures were compared, every second run would raise an alarm.
func fewestCounts(figures int) int {
	n, cases := countRuns, 6.0 // C(4, 2)
	for cases*level < float64(figures) {
		n++
		cases *= float64(2*(2*n-1)) / float64(n)
	}
	return n
}

// judgeCount compares the greatest count of base with the least of head: a difference that
// does not repeat is no regression.
func judgeCount(pkg, benchmark, figure string, base, head []float64) Finding {
	t := tolerances[figure]
	limit := func(v float64) float64 { return v + max(v*t.share, t.number) }
	f := Finding{Package: pkg, Benchmark: benchmark, Figure: figure, P: 1, Base: slices.Max(base), Head: slices.Min(head), Verdict: Pass}
	if f.Base > 0 {
		f.Change, f.Visible = f.Head/f.Base-1, limit(f.Base)/f.Base-1
	}
	switch {
	case f.Head > limit(f.Base):
		f.Verdict = Regression
		f.Note = fmt.Sprintf("%s more, from %s to %s, in each of %d runs", number(f.Head-f.Base), number(f.Base), number(f.Head), len(head))
	case slices.Min(base) > limit(slices.Max(head)):
		f.Verdict = Better
	}
	return f
}

// A countedSide can count what a benchmark does.
type countedSide interface {
	Run(ctx context.Context, name string, ops, times int) (measure.Line, error)
	CountSyscalls(ctx context.Context, name string, ops int) (float64, error)
	CountInstructions(ctx context.Context, name string, ops int) (float64, error)
}

// counter takes the counts of one benchmark.
type counter struct {
	missing map[string]string // why a figure cannot be counted here, by figure
	figures int               // how many the run compares
}

// compare judges the counts of a benchmark of which one run of ops operations takes about a
// millisecond.
func (c *counter) compare(ctx context.Context, pkg, name string, ops int, base, head countedSide) ([]Finding, error) {
	values := [2]map[string][]float64{{}, {}}
	var found []Finding
	for n := 1; n <= fewestCounts(c.figures); n++ {
		for i, side := range []countedSide{base, head} {
			if err := c.count(ctx, side, name, ops, values[i]); err != nil {
				return nil, sideError{i, err}
			}
		}
		if found = judgeCounts(pkg, name, values[0], values[1]); n >= countRuns && !slices.ContainsFunc(found, Finding.bad) {
			break
		}
	}
	for _, figure := range []string{syscalls, instructions} {
		if why, is := c.missing[figure]; is {
			found = append(found, unmeasured(pkg, name, figure, NotRun, why))
		}
	}
	return found, nil
}

// judgeCounts judges the figures that both sides have.
func judgeCounts(pkg, benchmark string, base, head map[string][]float64) (found []Finding) {
	for _, figure := range []string{measure.Allocs, measure.Bytes, syscalls, instructions} {
		if was, is := base[figure], head[figure]; len(was) > 0 && len(is) > 0 {
			found = append(found, judgeCount(pkg, benchmark, figure, was, is))
		}
	}
	return found
}

// fewOps returns the smaller number of operations between which counts are taken.
func fewOps(ops int) int { return min(max(1, ops), 200) }

// count adds one value of each count that can be taken: the slope between a run of few
// operations and one of many, so that the start and the end of the process cancel out.
func (c *counter) count(ctx context.Context, side countedSide, name string, ops int, values map[string][]float64) error {
	few := fewOps(ops)
	many := 4 * few
	line, err := side.Run(ctx, name, many, 1)
	if err != nil {
		return err
	}
	for _, figure := range []string{measure.Allocs, measure.Bytes} {
		if v, is := line.Values[figure]; is {
			values[figure] = append(values[figure], v)
		}
	}
	for figure, take := range map[string]func(context.Context, string, int) (float64, error){
		syscalls: side.CountSyscalls, instructions: side.CountInstructions,
	} {
		if c.missing[figure] != "" {
			continue
		}
		least, err := take(ctx, name, few)
		if err != nil {
			return err
		}
		most, err := take(ctx, name, many)
		if err != nil {
			return err
		}
		values[figure] = append(values[figure], math.Max(0, (most-least)/float64(many-few)))
	}
	return nil
}

// A sideError says on which side a run failed: 0 is base, 1 is head.
type sideError struct {
	side int
	err  error
}

func (e sideError) Error() string { return [2]string{"base", "head"}[e.side] + ": " + e.err.Error() }
func (e sideError) Unwrap() error { return e.err }

// asFinding turns a failed run into a finding. A failed run of head is Failed. A failed run of
// base, or a benchmark that only one side has, is NotCompared. Other errors are returned.
func asFinding(pkg, benchmark string, err error) (Finding, error) {
	var failed sideError
	if !errors.As(err, &failed) || errors.Is(err, context.Canceled) {
		return Finding{}, err
	}
	v := NotCompared
	if failed.side == 1 && !errors.Is(err, measure.ErrNoBenchmark) {
		v = Failed
	}
	return unmeasured(pkg, benchmark, "all", v, failed.Error()), nil
}
