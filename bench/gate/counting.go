package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// allCounts is the figure of a benchmark of which nothing was counted.
const allCounts = "counts"

// counts compares what can be counted. It begins with the benchmarks that take the least time, so
// that as many as possible are counted within the budget; those that are left are not run.
func (g *gate) counts(ctx context.Context, targets []*target) error {
	type counting struct {
		*target
		benchmark
	}
	var all []counting
	for _, t := range targets {
		for _, b := range t.benchmarks {
			all = append(all, counting{t, b})
		}
	}
	slices.SortStableFunc(all, func(a, b counting) int { return cmp.Compare(a.took, b.took) })
	g.say("counting %d benchmarks", len(all))
	g.counter.figures = len(tolerances) * len(all)
	deadline := g.countsUntil()
	began := g.now()
	for i, x := range all {
		if g.now().After(deadline) {
			for _, left := range all[i:] {
				g.add(unmeasured(left.pkg.ImportPath, left.name, allCounts, NotRun, g.sufficed(i, len(all))))
			}
			break
		}
		found, err := g.counter.compare(ctx, x.pkg.ImportPath, x.name, x.ops, x.base, x.head)
		if err != nil {
			failed, err := asFinding(x.pkg.ImportPath, x.name, err)
			if err != nil {
				return err
			}
			found = []Finding{failed}
		}
		g.add(found...)
		if i%10 == 9 {
			g.say("counted %d of %d benchmarks in %v, the slowest are left", i+1, len(all), g.now().Sub(began).Round(time.Second))
		}
	}
	return nil
}

// sufficed says how far the budget went. It is the same text for all that is left, so that a report has it once.
func (g *gate) sufficed(done, all int) string {
	return fmt.Sprintf("the budget of %v sufficed for the %d quickest of %d benchmarks", g.Budget, done, all)
}

// countsUntil returns when no further benchmark is counted: two thirds of the budget are for times, if
// they are wanted.
func (g *gate) countsUntil() time.Time {
	if g.noTimes() != "" {
		return g.began.Add(g.Budget)
	}
	return g.began.Add(g.Budget / 3)
}
