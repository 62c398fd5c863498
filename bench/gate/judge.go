package gate

import (
	"fmt"
	"math"
	"strings"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// level is the chance of any false alarm in a run: each later stage has an equal share of it, which
// Holm's correction divides among the suspects.
const level = 0.01

// suspicion is the p value of the first stage below which a figure is a suspect, worse or better. One of
// ten that have not changed is.
const suspicion = 0.1

// leastOther is the least ratio of a figure other than ns/op that counts as a regression. It
// is greater than that of ns/op because such figures, for example percentiles, vary more.
const leastOther = 0.5

// rounds are the rounds of one figure of one benchmark, in all stages so far.
type rounds struct {
	pkg, benchmark, figure string
	base, head             []float64 // one of each for each round
	again                  []float64 // base once more, in the later stages
	layouts                []int     // of each round; nil: the linker's own
	later                  int       // the first round of the later stages; 0: there are none
	inverted               bool      // more is better
}

// first returns the rounds of the first stage.
func (r rounds) first() rounds {
	if r.later == 0 {
		return r
	}
	return r.part(0, r.later)
}

// fresh returns the rounds of the later stages.
func (r rounds) fresh() rounds { return r.part(r.later, len(r.base)) }

func (r rounds) part(from, to int) rounds {
	r.base, r.head, r.later = r.base[from:to], r.head[from:to], 0
	if r.layouts != nil {
		r.layouts = r.layouts[from:to]
	}
	return r
}

// against returns the differences of head from base.
func (r rounds) against() stats.Sample { return r.compared(r.head) }

// own returns the differences of base from itself, of later stages.
func (r rounds) own() stats.Sample { return r.compared(r.again) }

func (r rounds) compared(side []float64) stats.Sample {
	if r.inverted {
		return stats.NewSample(side, r.base, r.layouts)
	}
	return stats.NewSample(r.base, side, r.layouts)
}

// A rulebook has the limits for all figures that are judged together.
type rulebook struct {
	least float64 // relative, of ns/op
	blind float64 // relative: a figure is inconclusive if only greater changes could be found
}

// rule is the rule for the later stages of a number of suspects, each time that a stage ends.
func (b rulebook) rule(figure string, suspects int) stats.Rule {
	return stats.Rule{Level: level / (stages - 1), Tests: suspects, Least: math.Log1p(b.leastOf(figure))}
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

// estimate returns the change by some rounds, which are not judged yet.
func estimate(r rounds) Finding {
	against := r.against()
	low, high := against.Interval(0.95)
	return Finding{
		Package: r.pkg, Benchmark: r.benchmark, Figure: r.figure, Base: stats.Median(r.base), Head: stats.Median(r.head),
		Change: ratio(stats.Shift(against.Differences)), Low: ratio(low), High: ratio(high),
		P: stats.SignedRank(against.Differences), Visible: -1, Verdict: Pass,
	}
}

// leans returns 1 if head may be worse than base by what counts, -1 if it may be better, and 0 if the interval
// excludes that.
func (b rulebook) leans(f Finding) int {
	least := b.leastOf(f.Figure)
	switch {
	case f.Change > 0 && f.High > least:
		return 1
	case f.Change < 0 && f.Low < -least/(1+least):
		return -1
	}
	return 0
}

// suspects is the rule of the first stage. How much a change has to be is for the later ones.
var suspects = stats.Rule{Level: suspicion, Tests: 1}

// judge judges the figures of a run. Those that the first stage makes suspects are judged by the later stages
// alone, with a correction for how many of them had any.
//
// Do not judge a suspect by all its rounds: it is one because of how the first fell, so they are no evidence
// any more, unless the correction is for all figures of the run. Of 190 figures in 18 rounds not one round may then
// have the other sign, and a change of 30 % is overlooked.
func (b rulebook) judge(all []rounds) []Finding {
	found := make([]Finding, len(all))
	var again []int
	for i, r := range all {
		f := estimate(r.first())
		if suspects.Beyond(r.first().against(), f.P) != 0 {
			f.leaning = b.leans(f)
		}
		if f.open = f.leaning != 0; f.leaning > 0 {
			f.Verdict = Inconclusive
			f.Note = fmt.Sprintf("%s worse in the first stage, 95 %% interval %s to %s, and the budget does not suffice for another", percent(f.Change), percent(f.Low), percent(f.High))
		}
		if found[i] = f; f.open && r.later > 0 {
			again = append(again, i)
		}
	}
	against, own := make([]float64, len(again)), make([]float64, len(again))
	for k, i := range again {
		r := all[i].fresh()
		against[k], own[k] = stats.SignedRank(r.against().Differences), stats.SignedRank(r.own().Differences)
	}
	against, own = stats.Holm(against), stats.Holm(own)
	for k, i := range again {
		f := b.confirm(all[i].fresh(), len(again), against[k], own[k])
		f.leaning = found[i].leaning
		f.open = f.Verdict == Pass && b.leans(f) == f.leaning
		found[i] = f
	}
	return found
}

// confirm judges the later stages of one of so many suspects.
func (b rulebook) confirm(r rounds, suspects int, p, pOwn float64) Finding {
	rule, own, f := b.rule(r.figure, suspects), r.own(), estimate(r)
	f.P = p
	beyond := rule.Beyond(r.against(), p)
	switch {
	case rule.Beyond(own, pOwn) != 0:
		f.Verdict = Inconclusive
		f.Note = fmt.Sprintf("base differs from itself by %s, p %.2g: something other than the sources is at work", percent(ratio(stats.Shift(own.Differences))), pOwn)
	case beyond > 0:
		f.Verdict = Regression
		f.Note = fmt.Sprintf("%s worse, 95 %% interval %s to %s, in %d rounds after those that made it a suspect", percent(f.Change), percent(f.Low), percent(f.High), len(r.base))
	case beyond < 0:
		f.Verdict = Better
	}
	return f
}

// sight sets the least change that would have been found, if a suspect had so many later stages and there were
// so many suspects.
func (b rulebook) sight(f Finding, r rounds, later, tests int) Finding {
	d := stats.Design{Suspect: suspects, Later: later, Rule: b.rule(r.figure, tests)}
	f.Visible = ratio(d.Visible(r.first().against()))
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
