package gate

import (
	"fmt"
	"math"
	"strings"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// level is the chance of any false alarm in a run, by Holm's correction.
const level = 0.01

// leastOther is the least ratio of a figure other than ns/op that counts as a regression. It
// is greater than that of ns/op because such figures, for example percentiles, vary more.
const leastOther = 0.5

// rounds are the rounds of one figure of one benchmark.
type rounds struct {
	pkg, benchmark, figure string
	base, head, again      []float64 // one of each for each round
	layouts                int
	inverted               bool // more is better
}

// paired returns the differences of head from base, and of base from itself.
func (r rounds) paired() (against, own []float64) {
	if r.inverted {
		return stats.Pair(r.head, r.base), stats.Pair(r.again, r.base)
	}
	return stats.Pair(r.base, r.head), stats.Pair(r.base, r.again)
}

// A rulebook has the limits for all figures that are judged together.
type rulebook struct {
	least float64 // relative, of ns/op
	blind float64 // relative: a figure is inconclusive if only greater changes could be found
}

func (b rulebook) rule(r rounds, tests int) stats.Rule {
	least := b.least
	if r.figure != measure.Time {
		least = max(least, leastOther)
	}
	return stats.Rule{Level: level, Tests: tests, Least: math.Log1p(least), Layouts: r.layouts}
}

// pValues returns the corrected p values of head against base and of base against itself.
func pValues(all []rounds) (against, own []float64) {
	against, own = make([]float64, len(all)), make([]float64, len(all))
	for i, r := range all {
		head, again := r.paired()
		against[i], own[i] = stats.SignedRank(head), stats.SignedRank(again)
	}
	return stats.Holm(against), stats.Holm(own)
}

// judge judges all figures together, because Holm's correction needs all their p values.
func (b rulebook) judge(all []rounds) []Finding {
	against, own := pValues(all)
	found := make([]Finding, len(all))
	for i, r := range all {
		found[i] = b.one(r, len(all), against[i], own[i])
	}
	return found
}

func (b rulebook) one(r rounds, tests int, p, pOwn float64) Finding {
	rule := b.rule(r, tests)
	against, own := r.paired()
	f := Finding{
		Package: r.pkg, Benchmark: r.benchmark, Figure: r.figure, P: p,
		Base: stats.Median(r.base), Head: stats.Median(r.head), Visible: ratio(rule.Visible(against)),
	}
	low, high := stats.ShiftInterval(against, 0.95)
	f.Change, f.Low, f.High = ratio(stats.Shift(against)), ratio(low), ratio(high)
	blind := b.blind
	if r.figure != measure.Time {
		blind = max(blind, 2*leastOther)
	}
	beyond := rule.Beyond(against, p)
	switch {
	case rule.Beyond(own, pOwn) != 0:
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("base differs from itself by %s, p %.2g: something other than the sources is at work", percent(ratio(stats.Shift(own))), pOwn)
	case beyond > 0:
		f.Verdict = Regression
	case beyond < 0:
		f.Verdict = Better
	case f.Visible < 0 || f.Visible > blind:
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("only a change of %s or more would have been found, want %s or less", visible(f.Visible), percent(blind))
	default:
		f.Verdict = Pass
	}
	return f
}

// confirm combines the first judgement of a suspect with the judgement of its fresh rounds.
func confirm(first, second Finding) Finding {
	switch second.Verdict {
	case Regression:
		first.Note = fmt.Sprintf("%s worse, 95 %% interval %s to %s; confirmed with fresh rounds and layouts: %s",
			percent(first.Change), percent(first.Low), percent(first.High), percent(second.Change))
	case Inconclusive:
		first.Verdict, first.Note = Inconclusive, fmt.Sprintf("%s at first; in fresh rounds %s", percent(first.Change), second.Note)
	default:
		first.Note = fmt.Sprintf("%s at first, not confirmed in fresh rounds: %s", percent(first.Change), percent(second.Change))
		first.Verdict, first.Change, first.Low, first.High, first.P = Pass, second.Change, second.Low, second.High, second.P
	}
	return first
}

// direction returns 1 if more of a unit is worse, -1 if less is worse, and 0 if that is unknown.
func direction(unit string, better map[string]int) int {
	switch {
	case better[unit] != 0:
		return -better[unit]
	case strings.HasSuffix(unit, "ns") || strings.HasSuffix(unit, "ns/op"):
		return 1
	}
	return 0
}
