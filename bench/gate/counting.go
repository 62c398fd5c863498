package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// counting is a benchmark whose counts are compared, and how long one run of it takes, with what it
// prepares.
type counting struct {
	*target
	benchmark
	took time.Duration
}

// allCounts is the figure of a benchmark of which nothing was counted.
const allCounts = "counts"

// counts compares what can be counted. It begins with the benchmarks that take the least time, so
// that as many as possible are counted within the budget; those that are left are not run.
func (g *gate) counts(ctx context.Context, targets []*target) error {
	all, err := g.weigh(ctx, targets)
	if err != nil {
		return err
	}
	deadline := g.countsUntil()
	began := g.now()
	for i, x := range all {
		if g.now().After(deadline) {
			g.add(unmeasured(x.pkg.ImportPath, x.name, allCounts, NotRun, fmt.Sprintf("the counts of %d benchmarks took the budget of %v", i, g.Budget)))
			continue
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

// countsUntil returns when no further benchmark is counted: half of the budget is for times, if
// they are wanted.
func (g *gate) countsUntil() time.Time {
	if g.noTimes() != "" {
		return g.began.Add(g.Budget)
	}
	return g.began.Add(g.Budget / 2)
}

// weigh runs every benchmark of base once and returns all in the order of the times. A benchmark
// that fails comes first: compare finds out on which side it fails.
func (g *gate) weigh(ctx context.Context, targets []*target) ([]counting, error) {
	var all []counting
	for _, t := range targets {
		for _, b := range t.benchmarks {
			began := g.now()
			_, err := t.base.Run(ctx, b.name, fewOps(b.ops), 1)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			x := counting{t, b, g.now().Sub(began)}
			if err != nil {
				x.took = 0
			}
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b counting) int { return cmp.Compare(a.took, b.took) })
	g.say("counting %d benchmarks", len(all))
	return all, nil
}
