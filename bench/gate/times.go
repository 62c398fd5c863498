package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// slicesPerLeg is how many slices the process of one leg measures. On a shared machine some of
// several short slices are undisturbed, and one long slice is almost always disturbed.
const slicesPerLeg = 5

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
	took      time.Duration // time of its last round
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
// round of each series instead of all rounds of one. It returns early with fewer rounds if the
// deadline would pass, but never with fewer than fewest.
func (g *gate) measure(ctx context.Context, all []*series, n, fewest int, deadline time.Time) error {
	began := g.now()
	for i := range n {
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
		perRound := g.now().Sub(began) / time.Duration(i+1)
		left := n - i - 1
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
	fewest := min(g.Rounds, fewestRounds(2*len(all)))
	if all, err = g.affordable(ctx, all, fewest, deadline); err != nil {
		return err
	}
	g.say("measuring %d benchmarks", len(all))
	if err := g.measure(ctx, all, g.Rounds, fewest, deadline); err != nil {
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
			all = append(all, &series{pkg: t.pkg.ImportPath, benchmark: b, layouts: l, rounds: map[string]*rounds{}})
		}
	}
	return all, nil
}

// affordable measures one round, whose times are discarded, and leaves out the slowest
// benchmarks until the fewest rounds fit in the remaining time.
func (g *gate) affordable(ctx context.Context, all []*series, fewest int, deadline time.Time) ([]*series, error) {
	if err := g.measure(ctx, all, 1, 1, deadline); err != nil {
		return nil, err
	}
	var total time.Duration
	for _, s := range all {
		s.rounds = map[string]*rounds{}
		total += s.took
	}
	slices.SortStableFunc(all, func(a, b *series) int { return int(a.took - b.took) })
	for len(all) > 0 && total*time.Duration(fewest) > deadline.Sub(g.now()) {
		last := all[len(all)-1]
		total -= last.took
		all = all[:len(all)-1]
		g.add(unmeasured(last.pkg, last.benchmark.name, measure.Time, NotRun,
			fmt.Sprintf("%d rounds take %v, which is over the budget of %v", fewest, (last.took*time.Duration(fewest)).Round(time.Second), g.Budget)))
	}
	return all, nil
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
	if err := g.measure(ctx, all, g.Rounds, fewestRounds(2*len(all)), g.began.Add(g.Budget)); err != nil {
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

// judgeNoise compares base with itself for some seconds, and reports whether the machine is
// quiet enough for the rounds to show a change.
func (g *gate) judgeNoise(ctx context.Context, targets []*target) error {
	const most, pairs, longest = 6, 8, 30 * time.Second
	if g.Times != TimesAuto || count(targets) == 0 {
		return nil
	}
	g.say("comparing base with itself to see how noisy the machine is")
	deadline := g.now().Add(longest)
	every := max(1, count(targets)/most)
	var seen []float64
	at := 0
	for _, t := range targets {
		for _, b := range t.benchmarks {
			if at++; (at-1)%every != 0 || g.now().After(deadline) {
				continue
			}
			var d []float64
			for i := range pairs {
				var v [2]float64
				for j := range 2 {
					line, err := t.base.Run(ctx, b.name, b.ops, slicesPerLeg)
					if err != nil {
						return ctx.Err() // a benchmark that fails is reported where it is judged
					}
					v[(i+j)%2] = line.Values[measure.Time]
				}
				d = append(d, stats.Pair(v[:1], v[1:])...)
			}
			seen = append(seen, g.expected(stats.Spread(d), count(targets)))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	if middle := stats.Median(seen); middle > g.Blind {
		g.report.Noise = fmt.Sprintf("with %d rounds, half of the benchmarks would have to be %s slower for the gate to find it, want %s or less",
			g.Rounds, percent(middle), percent(g.Blind))
		g.say("THE MACHINE IS TOO NOISY FOR TIMES: %s", g.report.Noise)
	}
	return nil
}

// expected estimates Rule.Visible for pairs with this spread.
func (g *gate) expected(spread float64, figures int) float64 {
	sd := spread / math.Sqrt(float64(g.Rounds)*3/math.Pi)
	test := stats.NormalQuantile(1-level/float64(figures)/2) * sd
	return math.Expm1(max(test, math.Log1p(g.Least)) + stats.NormalQuantile(0.9)*sd)
}
