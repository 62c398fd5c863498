package gate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// stages is how often a figure is measured, at most. All are measured once. The suspects are measured again
// while the budget lasts, with layouts of their own in each stage. Few layouts say little about the next ones,
// and many for every benchmark would take hours to link.
const stages = 4

// firstStage is the share of the budget that the first stage may take.
const firstStage = 2.0 / 3

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
		again := g.reopened(all, found, stage)
		if len(again) == 0 {
			break
		}
		g.say("measuring %d benchmarks again, with fresh layouts: they may have changed", len(again))
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
			all = append(all, &series{target: t, benchmark: b, rounds: map[string]*rounds{}, leg: b.took})
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
	return all, g.measure(ctx, all, 1, g.Rounds, g.fewestFirst(), deadline)
}

// stage measures a later stage, in an equal share of the time that is left.
func (g *gate) stage(ctx context.Context, again []*series, stage int) error {
	share := g.left() / time.Duration(stages-stage)
	deadline := g.now().Add(share)
	if err := g.begin(ctx, again, stage); err != nil {
		return err
	}
	return g.measure(ctx, again, 0, g.Rounds, g.fewestLater(len(again)), deadline)
}

// left returns how much is left of the budget.
func (g *gate) left() time.Duration { return max(0, g.began.Add(g.Budget).Sub(g.now())) }

// reopened returns the benchmarks to measure again: those of the suspects that are open, as many as fit in the time
// that is left, and of those that may be worse at least one; these first, and those first that chance explains least.
func (g *gate) reopened(all []*series, found []Finding, stage int) []*series {
	var again []*series
	linked, left, open := map[*target]bool{}, g.left(), 0
	for _, f := range found {
		if f.open {
			open++
		}
	}
	likeliest := slices.SortedStableFunc(slices.Values(found), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.leaning, a.leaning), cmp.Compare(a.P, b.P))
	})
	for _, f := range likeliest {
		if !f.open {
			continue
		}
		s := all[slices.IndexFunc(all, func(s *series) bool { return s.is(f) })]
		if s.stage != stage-1 || slices.Contains(again, s) {
			continue
		}
		cost := s.cost(g.fewestLater(open))
		if linked[s.target] {
			cost -= s.target.linking
		}
		if cost > left && (len(again) > 0 || f.leaning < 0) {
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

// cost is how long a later stage takes for this benchmark alone.
func (s *series) cost(rounds int) time.Duration {
	return s.leg*time.Duration(legs(1)*rounds) + s.target.linking
}

// fewestFirst returns the least number of rounds of the first stage. With fewer, the most disturbed round decides whether
// a benchmark is a suspect.
func (g *gate) fewestFirst() int { return min(g.Rounds, stats.FewestRounds(suspicion, 1)) }

// fewestLater returns the least number of rounds of a later stage of so many suspects. With fewer, the most disturbed
// rounds of all later stages decide.
func (g *gate) fewestLater(suspects int) int {
	return min(g.Rounds, stats.FewestRounds(level/(stages-1)/float64(suspects), stages-1))
}

// affordable leaves out the slowest benchmarks until the fewest rounds of the first stage fit in the remaining time, of
// which some are done.
func (g *gate) affordable(all []*series, done int, deadline time.Time) []*series {
	left, rounds := max(0, deadline.Sub(g.now())), g.fewestFirst()-done
	var cost time.Duration
	for _, s := range all {
		cost += s.leg * time.Duration(legs(0)*rounds)
	}
	slices.SortStableFunc(all, func(a, b *series) int { return cmp.Compare(a.leg, b.leg) })
	kept := len(all)
	for ; kept > 0 && cost > left; kept-- {
		cost -= all[kept-1].leg * time.Duration(legs(0)*rounds)
	}
	for _, s := range all[kept:] {
		g.add(unmeasured(s.target.pkg.ImportPath, s.benchmark.name, measure.Time, NotRun, g.sufficed(kept, len(all))))
	}
	return all[:kept]
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
	of, suspects := map[string]rounds{}, 0
	for _, r := range measured(all) {
		of[r.key()] = r
	}
	for _, f := range found {
		if r, is := of[f.key()]; is && f.leaning != 0 && r.later > 0 {
			suspects++
		}
	}
	for i, f := range found {
		r, is := of[f.key()]
		if !is {
			continue
		}
		tests := suspects
		if f.leaning == 0 || r.later == 0 {
			tests++ // had it been one of them
		}
		s := all[slices.IndexFunc(all, func(s *series) bool { return s.is(f) })]
		found[i] = g.book().sight(f, r, g.stagesOf(s), tests)
	}
	return found
}

// stagesOf returns how many later stages a benchmark had, or would have had in the time that was left.
func (g *gate) stagesOf(s *series) int {
	had, left := s.stage, g.left()
	for ; had < stages-1 && s.cost(g.Rounds) <= left; had++ {
		left -= s.cost(g.Rounds)
	}
	return had
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
