package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"eventide/bench/gate/measure"
)

// layouts are the binaries of both sides of a package, one for each layout.
type layouts struct{ base, head []measure.Binary }

// build links the layouts of a target. Each stage has layouts of its own.
func (g *gate) build(ctx context.Context, t *target, stage int) (layouts, error) {
	if g.Layouts == 1 {
		return layouts{[]measure.Binary{t.base}, []measure.Binary{t.head}}, nil
	}
	var l layouts
	for k := range g.Layouts {
		seed := 1 + 2*(k+stage*g.Layouts)
		base, err := g.Build(ctx, g.Old, t.pkg, seed)
		if err != nil {
			return l, err
		}
		head, err := g.Build(ctx, g.New, t.pkg, seed+1)
		if err != nil {
			return l, err
		}
		l.base, l.head = append(l.base, base), append(l.head, head)
	}
	return l, nil
}

// A series is the rounds of one benchmark as they are measured.
type series struct {
	pkg       string
	benchmark benchmark
	layouts   layouts
	rounds    map[string]*rounds // by unit
	failed    error
	took      time.Duration // of its last round; before the first: as weigh expects it
}

// round measures base, head and base again, from left to right or from right to left.
func (s *series) round(ctx context.Context, n int) error {
	began := time.Now()
	defer func() { s.took = time.Since(began) }()
	k := len(s.layouts.base)
	legs := []measure.Binary{s.layouts.base[n%k], s.layouts.head[n%k], s.layouts.base[(n+1)%k]}
	order := []int{0, 1, 2}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	var said [3]measure.Line
	for _, leg := range order {
		line, err := legs[leg].Run(ctx, s.benchmark.name, s.benchmark.ops, slicesPerLeg)
		if err != nil {
			return sideError{leg % 2, err}
		}
		said[leg] = line
	}
	for unit := range said[0].Values {
		way := direction(unit, s.benchmark.better)
		if way == 0 || tolerances[unit].number != 0 || unit == "MB/s" { // MB/s is ns/op once more
			continue
		}
		r := s.rounds[unit]
		if r == nil {
			r = &rounds{pkg: s.pkg, benchmark: s.benchmark.name, figure: unit, layouts: k, inverted: way < 0}
			s.rounds[unit] = r
		}
		head, is := said[1].Values[unit]
		if again, too := said[2].Values[unit]; is && too {
			r.base, r.head, r.again = append(r.base, said[0].Values[unit]), append(r.head, head), append(r.again, again)
		}
	}
	return nil
}

// measure runs the series round by round, so that a disturbance of some seconds falls on one
// round of each series instead of all rounds of one. It begins at round from, and ends before round to. It
// returns early if the deadline would pass, but never with fewer rounds than fewest, those before from included.
func (g *gate) measure(ctx context.Context, all []*series, from, to, fewest int, deadline time.Time) error {
	began := g.now()
	for i := from; i < to; i++ {
		for _, s := range all {
			if s.failed != nil {
				continue
			}
			if err := s.round(ctx, i); err != nil {
				if _, isSide := errors.AsType[sideError](err); !isSide || ctx.Err() != nil {
					return errors.Join(ctx.Err(), err)
				}
				s.failed = err
			}
		}
		perRound := g.now().Sub(began) / time.Duration(i-from+1)
		left := to - i - 1
		if fit := int(deadline.Sub(g.now()) / max(1, perRound)); fit < left {
			left = max(fit, fewest-i-1)
		}
		if left <= 0 {
			break
		}
		g.say("round %d done, %d to go, about %v left", i+1, left, (perRound * time.Duration(left)).Round(time.Second))
	}
	return nil
}

// fewestRounds is the least number of rounds that can reach the level for that many figures:
// with fewer rounds even pairs that all have one sign are not significant.
func fewestRounds(figures int) int {
	n := 8
	for math.Exp2(float64(1-n))*float64(figures) >= level/2 {
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
	all, err := g.series(ctx, targets, 0)
	if err != nil || len(all) == 0 {
		return err
	}
	deadline := g.began.Add(g.Budget * 4 / 5) // the rest is for fresh rounds of suspects
	if all = g.affordable(all, 0, deadline); len(all) == 0 {
		return nil
	}
	g.say("measuring %d benchmarks", len(all))
	if err := g.measure(ctx, all, 0, 1, 1, deadline); err != nil {
		return err
	}
	all = g.affordable(all, 1, deadline) // the first round shows what one takes
	if err := g.measure(ctx, all, 1, g.Rounds, g.fewest(all), deadline); err != nil {
		return err
	}
	found, err := g.judgeSeries(all)
	if err != nil {
		return err
	}
	if err := g.confirm(ctx, targets, found); err != nil {
		return err
	}
	g.add(found...)
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

// series links the layouts of the targets, and returns their benchmarks.
func (g *gate) series(ctx context.Context, targets []*target, stage int) ([]*series, error) {
	var all []*series
	for _, t := range targets {
		if len(t.benchmarks) == 0 {
			continue
		}
		g.say("linking %d layouts of %s", g.Layouts, t.pkg.ImportPath)
		l, err := g.build(ctx, t, stage)
		if err != nil {
			return nil, err
		}
		for _, b := range t.benchmarks {
			all = append(all, &series{pkg: t.pkg.ImportPath, benchmark: b, layouts: l, rounds: map[string]*rounds{}, took: 3 * b.took})
		}
	}
	return all, nil
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
		g.add(unmeasured(last.pkg, last.benchmark.name, measure.Time, NotRun,
			fmt.Sprintf("%d rounds of it and of the %d quicker benchmarks take %v, and of the budget of %v there is %v left",
				g.fewest(all)-done, len(all)-1, cost(all).Round(time.Second), g.Budget, left.Round(time.Second))))
	}
	return all
}

func (g *gate) judgeSeries(all []*series) ([]Finding, error) {
	var measured []rounds
	var found []Finding
	for _, s := range all {
		if s.failed != nil {
			f, err := asFinding(s.pkg, s.benchmark.name, s.failed)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
			continue
		}
		for _, r := range s.rounds {
			if len(r.base) > 0 {
				measured = append(measured, *r)
			}
		}
	}
	slices.SortFunc(measured, func(a, b rounds) int { return slices.Compare(a.key(), b.key()) })
	return append(found, rulebook{g.Least, g.Blind}.judge(measured)...), nil
}

func (r rounds) key() []string { return []string{r.pkg, r.benchmark, r.figure} }

func (f Finding) key() []string { return []string{f.Package, f.Benchmark, f.Figure} }

// confirm measures each suspect again, with fresh layouts. The suspects are judged among
// themselves.
func (g *gate) confirm(ctx context.Context, targets []*target, found []Finding) error {
	var again []*target
	for _, t := range targets {
		suspects := *t
		suspects.benchmarks = slices.DeleteFunc(slices.Clone(t.benchmarks), func(b benchmark) bool {
			return !slices.ContainsFunc(found, func(f Finding) bool {
				return f.Verdict == Regression && f.Package == t.pkg.ImportPath && f.Benchmark == b.name
			})
		})
		if len(suspects.benchmarks) > 0 {
			again = append(again, &suspects)
		}
	}
	if len(again) == 0 {
		return nil
	}
	g.say("measuring %d suspects once more", count(again))
	all, err := g.series(ctx, again, 1)
	if err != nil {
		return err
	}
	if err := g.measure(ctx, all, 0, g.Rounds, g.fewest(all), g.began.Add(g.Budget)); err != nil {
		return err
	}
	second, err := g.judgeSeries(all)
	if err != nil {
		return err
	}
	for i, f := range found {
		if f.Verdict != Regression {
			continue
		}
		for _, s := range second {
			if slices.Equal(s.key(), f.key()) {
				found[i] = confirm(f, s)
			}
		}
	}
	return nil
}
