package gate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"eventide/bench/gate/measure"
)

// stages is how often a figure is measured, at most. All are measured once. Those that may have become worse
// are measured again while the budget lasts, with layouts of their own in each stage, and all their
// rounds are judged together. Few layouts say little about the next ones, and many for every benchmark
// would take hours to link.
const stages = 4

// firstStage is the share of the budget that the first stage may take.
const firstStage = 2.0 / 3

// fewestRounds is the least number of rounds of a stage that can reach the level for that many figures in
// two stages: with fewer rounds even pairs that all have one sign are not significant.
func fewestRounds(figures int) int {
	n := 8
	for math.Exp2(float64(1-2*n))*float64(figures) >= level/stages/2 {
		n++
	}
	return n
}

// times measures times and other figures that vary, unless the machine is too noisy.
func (g *gate) times(ctx context.Context, targets []*target) error {
	if why := g.noTimes(); why != "" {
		for _, t := range targets {
			for _, b := range t.benchmarks {
				g.add(unmeasured(t.pkg.ImportPath, b.name, measure.Time, NotRun, why))
			}
		}
		return nil
	}
	all, err := g.series(ctx, targets)
	if err != nil || len(all) == 0 {
		return err
	}
	if all, err = g.first(ctx, all); err != nil || len(all) == 0 {
		return err
	}
	found, err := g.judgeSeries(all)
	if err != nil {
		return err
	}
	for stage := 1; stage < stages; stage++ {
		again := g.reopened(all, found, g.began.Add(g.Budget))
		if len(again) == 0 {
			break
		}
		g.say("measuring %d benchmarks again, with fresh layouts: they may have become worse", len(again))
		if err := g.stage(ctx, again, stage); err != nil {
			return err
		}
		if found, err = g.judgeSeries(all); err != nil {
			return err
		}
	}
	g.add(g.sight(all, found)...)
	return nil
}

func (g *gate) noTimes() string {
	switch {
	case g.Times == TimesOff:
		return "not requested"
	case g.Times == TimesAuto && g.report.Noise != "":
		return "the machine is too noisy"
	}
	return ""
}

// series returns the benchmarks of the targets, with their first layouts.
func (g *gate) series(ctx context.Context, targets []*target) ([]*series, error) {
	var all []*series
	for _, t := range targets {
		for _, b := range t.benchmarks {
			all = append(all, &series{target: t, benchmark: b, rounds: map[string]*rounds{}, took: 3 * b.took})
		}
	}
	return all, g.begin(ctx, all, 0)
}

// begin links the layouts of a stage for each package once.
func (g *gate) begin(ctx context.Context, all []*series, stage int) error {
	linked := map[*target]layouts{}
	for _, s := range all {
		l, is := linked[s.target]
		if !is {
			g.say("linking %d layouts of %s", g.Layouts, s.target.pkg.ImportPath)
			began := g.now()
			var err error
			if l, err = g.link(ctx, s.target, stage); err != nil {
				return err
			}
			linked[s.target], s.target.linking = l, g.now().Sub(began)
		}
		s.begin(stage, l)
	}
	return nil
}

// first measures the first stage of those that the budget suffices for, and returns them.
func (g *gate) first(ctx context.Context, all []*series) ([]*series, error) {
	deadline := g.began.Add(time.Duration(float64(g.Budget) * firstStage))
	if all = g.affordable(all, 0, deadline); len(all) == 0 {
		return nil, nil
	}
	g.say("measuring %d benchmarks", len(all))
	if err := g.measure(ctx, all, 0, 1, 1, deadline); err != nil {
		return nil, err
	}
	all = g.affordable(all, 1, deadline) // the first round shows what one takes
	return all, g.measure(ctx, all, 1, g.Rounds, g.fewest(all), deadline)
}

// stage measures a later stage.
func (g *gate) stage(ctx context.Context, again []*series, stage int) error {
	if err := g.begin(ctx, again, stage); err != nil {
		return err
	}
	return g.measure(ctx, again, 0, g.Rounds, g.fewest(again), g.began.Add(g.Budget))
}

// reopened returns the benchmarks to measure again: every suspect, and of the others that are open
// those that fit in the time that is left, the most likely to be worse first.
func (g *gate) reopened(all []*series, found []Finding, deadline time.Time) []*series {
	var again []*series
	linked, left := map[*target]bool{}, deadline.Sub(g.now())
	likeliest := slices.SortedStableFunc(slices.Values(found), func(a, b Finding) int { return cmp.Compare(a.P, b.P) })
	for _, f := range likeliest {
		if !f.open {
			continue
		}
		s := all[slices.IndexFunc(all, func(s *series) bool { return s.is(f) })]
		if slices.Contains(again, s) {
			continue
		}
		cost := s.took * time.Duration(g.Rounds)
		if !linked[s.target] {
			cost += s.target.linking
		}
		if !f.suspect && cost > left {
			continue
		}
		left -= cost
		linked[s.target] = true
		again = append(again, s)
	}
	return again
}

func (s *series) is(f Finding) bool {
	return s.target.pkg.ImportPath == f.Package && s.benchmark.name == f.Benchmark
}

// fewest returns the least number of rounds in which a change of any of the benchmarks can be found,
// if each has another figure beside its time.
func (g *gate) fewest(all []*series) int { return min(g.Rounds, fewestRounds(2*len(all))) }

// affordable leaves out the slowest benchmarks until the fewest rounds fit in the remaining time, of which some are
// done.
func (g *gate) affordable(all []*series, done int, deadline time.Time) []*series {
	left := max(0, deadline.Sub(g.now()))
	cost := func(all []*series) (sum time.Duration) {
		for _, s := range all {
			sum += s.took
		}
		return sum * time.Duration(g.fewest(all)-done)
	}
	slices.SortStableFunc(all, func(a, b *series) int { return cmp.Compare(a.took, b.took) })
	for ; len(all) > 0 && cost(all) > left; all = all[:len(all)-1] {
		last := all[len(all)-1]
		g.add(unmeasured(last.target.pkg.ImportPath, last.benchmark.name, measure.Time, NotRun,
			fmt.Sprintf("%d rounds of it and of the %d quicker benchmarks take %v, and of the budget of %v there is %v left",
				g.fewest(all)-done, len(all)-1, cost(all).Round(time.Second), g.Budget, left.Round(time.Second))))
	}
	return all
}

// judgeSeries judges all rounds so far.
func (g *gate) judgeSeries(all []*series) ([]Finding, error) {
	var found []Finding
	for _, s := range all {
		if s.failed == nil {
			continue
		}
		f, err := asFinding(s.target.pkg.ImportPath, s.benchmark.name, s.failed)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return append(found, g.book().judge(measured(all))...), nil
}

// sight sets what could be seen.
func (g *gate) sight(all []*series, found []Finding) []Finding {
	of := map[string]rounds{}
	figures := measured(all)
	for _, r := range figures {
		of[r.key()] = r
	}
	for i, f := range found {
		if r, is := of[f.key()]; is {
			found[i] = g.book().sight(f, r, len(figures))
		}
	}
	return found
}

func (g *gate) book() rulebook { return rulebook{g.Least, g.Blind} }

// measured returns the rounds of all figures of the benchmarks that run.
func measured(all []*series) []rounds {
	var figures []rounds
	for _, s := range all {
		for _, r := range s.rounds {
			if s.failed == nil && len(r.base) > 0 {
				figures = append(figures, *r)
			}
		}
	}
	slices.SortFunc(figures, func(a, b rounds) int { return cmp.Compare(a.key(), b.key()) })
	return figures
}

func (r rounds) key() string {
	return Finding{Package: r.pkg, Benchmark: r.benchmark, Figure: r.figure}.key()
}
