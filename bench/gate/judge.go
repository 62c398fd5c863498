package gate

import (
	"fmt"
	"math"
	"strings"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// level is the chance of any false alarm in a run, by Holm's correction for the figures and an equal share of each stage.
const level = 0.01

// leastOther is the least ratio of a figure other than ns/op that counts as a regression. It
// is greater than that of ns/op because such figures, for example percentiles, vary more.
const leastOther = 0.5

// agreement is the p value below which the rounds of the last stage alone confirm a regression.
const agreement = 0.1

// rounds are the rounds of one figure of one benchmark, in all stages so far.
type rounds struct {
	pkg, benchmark, figure string
	base, head, again      []float64 // one of each for each round
	layouts                []int     // of each round; nil: the linker's own
	fresh                  int       // the first round of the last stage; 0: there was only one stage
	inverted               bool      // more is better
}

// against returns the differences of head from base.
func (r rounds) against() stats.Sample { return r.compared(r.head) }

// own returns the differences of base from itself.
func (r rounds) own() stats.Sample { return r.compared(r.again) }

func (r rounds) compared(side []float64) stats.Sample {
	if r.inverted {
		return stats.NewSample(side, r.base, r.layouts)
	}
	return stats.NewSample(r.base, side, r.layouts)
}

// last returns the differences of head from base in the last stage.
func (r rounds) last() []float64 {
	r.base, r.head, r.layouts = r.base[r.fresh:], r.head[r.fresh:], nil
	return r.against().Differences
}

// confirmed reports whether the rounds of the last stage alone say that head is worse, too: a
// disturbance of the machine that lasts for a stage is no regression.
func (r rounds) confirmed() bool {
	return r.fresh > 0 && stats.Shift(r.last()) > 0 && stats.SignedRank(r.last()) < agreement
}

// A rulebook has the limits for all figures that are judged together.
type rulebook struct {
	least float64 // relative, of ns/op
	blind float64 // relative: a figure is inconclusive if only greater changes could be found
}

// rule is for one of the stages: each may raise an alarm.
func (b rulebook) rule(figure string, tests int) stats.Rule {
	return stats.Rule{Level: level / stages, Tests: tests, Least: math.Log1p(b.leastOf(figure))}
}

func (b rulebook) leastOf(figure string) float64 {
	if figure == measure.Time {
		return b.least
	}
	return max(b.least, leastOther)
}

func (b rulebook) blindOf(figure string) float64 {
	if figure == measure.Time {
		return b.blind
	}
	return max(b.blind, 2*leastOther)
}

// pValues returns the corrected p values of head against base and of base against itself.
func pValues(all []rounds) (against, own []float64) {
	against, own = make([]float64, len(all)), make([]float64, len(all))
	for i, r := range all {
		against[i], own[i] = stats.SignedRank(r.against().Differences), stats.SignedRank(r.own().Differences)
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
	rule, against, own := b.rule(r.figure, tests), r.against(), r.own()
	f := Finding{
		Package: r.pkg, Benchmark: r.benchmark, Figure: r.figure, P: p,
		Base: stats.Median(r.base), Head: stats.Median(r.head), Visible: -1,
	}
	centre := stats.Shift(against.Differences)
	low, high := against.Interval(0.95)
	f.Change, f.Low, f.High = ratio(centre), ratio(low), ratio(high)
	f.suspect = p < level && centre > rule.Least
	beyond := rule.Beyond(against, p)
	switch {
	case rule.Beyond(own, pOwn) != 0:
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("base differs from itself by %s, p %.2g: something other than the sources is at work", percent(ratio(stats.Shift(own.Differences))), pOwn)
	case beyond > 0 && r.confirmed():
		f.Verdict = Regression
		f.Note = fmt.Sprintf("%s worse, 95 %% interval %s to %s; %s in the last %d rounds alone, which had layouts of their own",
			percent(f.Change), percent(f.Low), percent(f.High), percent(ratio(stats.Shift(r.last()))), len(r.base)-r.fresh)
	case beyond > 0:
		f.Verdict, f.open = Inconclusive, true
		f.Note = fmt.Sprintf("%s worse, but not in the last %d rounds, %s: something other than the sources is at work",
			percent(f.Change), len(r.base)-r.fresh, percent(ratio(stats.Shift(r.last()))))
	case beyond < 0:
		f.Verdict = Better
	default:
		f.Verdict = Pass
		f.open = f.suspect || high > rule.Least && (high-low)/2 < math.Log1p(2*b.blindOf(r.figure))
	}
	return f
}

// sight sets the least change that would have been found. A figure that passed after one stage
// would have had another, had it been worse.
func (b rulebook) sight(f Finding, r rounds, tests int) Finding {
	times := 1
	if r.fresh == 0 {
		times = 2
	}
	f.Visible = ratio(b.rule(r.figure, tests).Visible(r.against(), times))
	if blind := b.blindOf(r.figure); f.Verdict == Pass && (f.Visible < 0 || f.Visible > blind) {
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("only a change of %s or more would have been found, want %s or less", visible(f.Visible), percent(blind))
	}
	return f
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
