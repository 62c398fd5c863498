package release

import (
	"context"
	"fmt"
	"math"
	"slices"

	"eventide/bench/gate/stats"
)

// The figures of the time tier and of the latency tier.
const (
	metricTime = "ns/op"
	metricP50  = "p50-ns"
	metricP99  = "p99-ns"
)

// samples are the rounds of one figure of one benchmark.
type samples struct {
	benchmark, metric string
	base, again, head []float64 // the same number of each
}

// tier returns the tier that judges the figure: a benchmark with percentiles is judged by these.
func (s samples) tier() string {
	if s.metric == metricTime {
		return TierTime
	}
	return TierLatency
}

// slicesPerRound is how many slices the process of one leg measures. On a shared machine some of
// several short slices are undisturbed, and one long slice is almost always disturbed.
const slicesPerRound = 15

// rounds measures base, head and base again n times, in alternating order, so that both legs of
// base are equally far from head, and a machine that becomes slower affects all legs alike.
func (g *gate) rounds(ctx context.Context, b Benchmark, base, head subject, n int) ([]samples, error) {
	byMetric := map[string]*samples{}
	var order []string
	for round := range n {
		legs := []int{0, 1, 2}
		if round%2 == 1 {
			slices.Reverse(legs)
		}
		for _, leg := range legs {
			side := []subject{base, head, base}[leg]
			r, err := side.run(ctx, request{benchmark: b.Name, benchtime: b.Benchtime, slices: g.slices})
			if err != nil {
				return nil, sideError{leg % 2, err}
			}
			for _, metric := range judged(r) {
				s := byMetric[metric]
				if s == nil {
					s = &samples{benchmark: b.Name, metric: metric}
					byMetric[metric] = s
					order = append(order, metric)
				}
				to := []*[]float64{&s.base, &s.head, &s.again}[leg]
				*to = append(*to, r.metrics[metric])
			}
		}
	}
	var all []samples
	for _, metric := range order {
		s := *byMetric[metric]
		if len(s.base) == n && len(s.head) == n && len(s.again) == n {
			all = append(all, s)
		}
	}
	return all, nil
}

// judged returns the figures of a run that say how long it took: percentiles where
// it has them, else the mean.
func judged(r result) []string {
	if _, ok := r.metrics[metricP50]; ok {
		return []string{metricP50, metricP99}
	}
	return []string{metricTime}
}

// judgeTimes judges all figures of a tier together, because Holm's correction needs all their p
// values. A figure is inconclusive if base differs from itself by the rule: then the cause is
// not in the sources.
func judgeTimes(all []samples) []Finding {
	var own, against []float64
	for _, s := range all {
		own = append(own, pValue(s.base, s.again))
		against = append(against, pValue(s.base, s.head))
	}
	own, against = stats.Holm(own), stats.Holm(against)
	found := make([]Finding, len(all))
	for i, s := range all {
		found[i] = judgeTime(s, own[i], against[i])
	}
	return found
}

func judgeTime(s samples, pOwn, p float64) Finding {
	least := leastDelta
	if s.tier() == TierLatency {
		least = latencyDelta
	}
	f := Finding{
		Tier: s.tier(), Benchmark: s.benchmark, Metric: s.metric, P: p, Verdict: Pass,
		Base: stats.Median(s.base), Head: stats.Median(s.head), Noise: finite(noise(s.base, s.again)),
	}
	allowed := max(least, noiseFactor*f.Noise)
	f.Limit = f.Base * (1 + allowed)
	itself := relative(f.Base, stats.Median(s.again))
	switch {
	case pOwn < alpha && math.Abs(itself) > least:
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("base differs from itself by %+.1f %%, p %.2g", 100*itself, pOwn)
	case p < alpha && f.Head > f.Limit:
		f.Verdict = Regression
	case p < alpha && f.Head < f.Base/(1+allowed):
		f.Verdict = Better
	}
	return f
}

// confirm measures each suspect again. A suspect becomes a regression only if its fresh rounds,
// judged together with those of the other suspects, show it too.
func (g *gate) confirm(ctx context.Context, benchmarks []Benchmark, found []Finding, base, head subject) error {
	again := map[string]bool{}
	for _, f := range found {
		if f.Verdict == Regression {
			again[f.Benchmark] = true
		}
	}
	var fresh []samples
	for _, b := range benchmarks {
		if !again[b.Name] {
			continue
		}
		g.say("measuring %s once more", b.Name)
		s, err := g.rounds(ctx, b, base, head, g.n)
		if err != nil {
			return err
		}
		fresh = append(fresh, s...)
	}
	fresh = slices.DeleteFunc(fresh, func(s samples) bool { return !suspected(found, s) })
	second := judgeTimes(fresh)
	for i, f := range found {
		if f.Verdict != Regression {
			continue
		}
		for _, s := range second {
			if s.Benchmark == f.Benchmark && s.Metric == f.Metric {
				found[i] = confirmed(f, s)
			}
		}
	}
	return nil
}

func suspected(found []Finding, s samples) bool {
	return slices.ContainsFunc(found, func(f Finding) bool {
		return f.Verdict == Regression && f.Benchmark == s.benchmark && f.Metric == s.metric
	})
}

// confirmed combines the first and the second judgement of a suspect.
func confirmed(first, second Finding) Finding {
	switch second.Verdict {
	case Regression:
		first.Note = fmt.Sprintf("confirmed with fresh rounds: %+.1f %%, p %.2g", 100*second.Delta(), second.P)
	case Inconclusive:
		first.Verdict, first.Note = Inconclusive, second.Note
	default:
		first.Verdict = Pass
		first.Note = fmt.Sprintf("%+.1f %% at first, not confirmed: %+.1f %%, p %.2g", 100*first.Delta(), 100*second.Delta(), second.P)
	}
	return first
}
