package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// The exact figures, per operation unless their name says otherwise.
const (
	metricAllocs       = "mallocs/op"
	metricBytes        = "heap-B/op"
	metricWakes        = "wakes/op"
	metricParks        = "parks/op"
	metricSyscalls     = "syscalls/op"
	metricInstructions = "instructions/op"
	metricGoroutines   = "goroutines left"
)

// tolerances bound the growth of an exact figure: the greater of a share and a number.
// Instructions of one build repeat within 0.4 %; five instructions are 3 % of the 170
// of an Execute.
var tolerances = map[string]struct{ share, number float64 }{
	metricAllocs:       {0, 0.01}, // one in 64 calls is seen
	metricBytes:        {0.01, 4},
	metricWakes:        {0.02, 0.05},
	metricParks:        {0.02, 0.05},
	metricSyscalls:     {0.05, 0.25},
	metricInstructions: {0.02, 5},
	metricGoroutines:   {0, 0},
}

// exactMetrics is their order in the report.
var exactMetrics = []string{
	metricAllocs, metricBytes, metricWakes, metricParks,
	metricGoroutines, metricSyscalls, metricInstructions,
}

// exactRuns is how many slopes of each side are measured at first. For a suspect as many are
// measured again, up to exactTries times. It remains a suspect only while the least slope of
// head is above the greatest of base: a difference that does not repeat is no regression.
const (
	exactRuns  = 2
	exactTries = 4
)

// exactTier judges the exact figures of one benchmark.
func (g *gate) exactTier(ctx context.Context, b Benchmark, base, head subject) ([]Finding, error) {
	sides := [2]map[string][]float64{{}, {}}
	var found []Finding
	for range exactTries {
		for range exactRuns {
			for i, side := range []subject{base, head} {
				slopes, err := g.slopes(ctx, side, b)
				if err != nil {
					return nil, sideError{i, err}
				}
				for metric, v := range slopes {
					sides[i][metric] = append(sides[i][metric], v)
				}
			}
		}
		found = judgeExacts(b.Name, sides[0], sides[1])
		if !slices.ContainsFunc(found, Finding.bad) {
			break
		}
	}
	for _, t := range g.tools {
		if t.missing != "" {
			found = append(found, notRun(TierExact, b.Name, t.metric, t.missing))
		}
	}
	return found, nil
}

// judgeExacts judges the figures that both sides have.
func judgeExacts(benchmark string, base, head map[string][]float64) []Finding {
	var found []Finding
	for _, metric := range exactMetrics {
		was, is := base[metric], head[metric]
		if len(was) > 0 && len(is) > 0 {
			found = append(found, judgeExact(benchmark, metric, was, is))
		}
	}
	return found
}

// judgeExact compares the greatest value of base with the least value of head.
func judgeExact(benchmark, metric string, base, head []float64) Finding {
	t := tolerances[metric]
	limit := func(v float64) float64 { return v + max(v*t.share, t.number) }
	f := Finding{
		Tier: TierExact, Benchmark: benchmark, Metric: metric, P: 1,
		Base: slices.Max(base), Head: slices.Min(head), Verdict: Pass,
	}
	f.Limit = limit(f.Base)
	switch {
	case f.Head > f.Limit:
		f.Verdict = Regression
	case slices.Min(base) > limit(slices.Max(head)):
		f.Verdict = Better
	}
	return f
}

// slopes runs a benchmark with few and with many operations and returns how much each figure
// grows with an operation. So the cost of the start and the end of the process cancels out.
func (g *gate) slopes(ctx context.Context, side subject, b Benchmark) (map[string]float64, error) {
	slopes := map[string]float64{}
	few, many := b.ExactOps, 4*b.ExactOps
	of := func(wrap []string, totals func(result) map[string]float64) error {
		least, err := side.run(ctx, exactly(b.Name, few, wrap))
		if err != nil {
			return err
		}
		most, err := side.run(ctx, exactly(b.Name, many, wrap))
		if err != nil {
			return err
		}
		from, to := totals(least), totals(most)
		for metric, v := range to {
			slopes[metric] = max(0, (v-from[metric])/float64(most.ops-least.ops))
		}
		slopes[metricGoroutines] = max(slopes[metricGoroutines], most.metrics[metricGoroutines])
		return nil
	}
	if err := of(nil, ownTotals); err != nil {
		return nil, err
	}
	for _, t := range g.tools {
		if t.missing != "" {
			continue
		}
		var counting error
		err := of(t.command, func(r result) map[string]float64 {
			n, err := t.count(r.stderr)
			counting = errors.Join(counting, err)
			return map[string]float64{t.metric: n}
		})
		if err := errors.Join(err, counting); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", t.metric, b.Name, err)
		}
	}
	return slopes, nil
}

func exactly(benchmark string, ops int, wrap []string) request {
	return request{benchmark: benchmark, benchtime: strconv.Itoa(ops) + "x", exact: true, wrap: wrap}
}

// ownTotals are the figures that the benchmark reports itself, multiplied by its operations. A
// base that is older than a figure does not have it.
func ownTotals(r result) map[string]float64 {
	totals := map[string]float64{}
	for _, metric := range []string{metricAllocs, metricBytes, metricWakes, metricParks} {
		if v, ok := r.metrics[metric]; ok {
			totals[metric] = v * float64(r.ops)
		}
	}
	return totals
}
