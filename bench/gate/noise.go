package gate

import (
	"context"
	"fmt"
	"math"

	"eventide/bench/gate/measure"
	"eventide/bench/gate/stats"
)

// slicesPerLeg is how many slices the process of one leg measures: the least time counts. On a shared
// machine some of several short slices are undisturbed, and one long slice is almost always disturbed. Where
// goroutines meet, slices differ by a third and more, because each begins with its threads in another state. On
// two processors twenty slices have a half to a third of the spread of five, and take twice as long with the start
// of the process; ten slices of ten milliseconds take five times as long, and are no better.
const slicesPerLeg = 20

// weigh runs every benchmark of base in a process of its own, as a leg if times are measured, and sets what that
// took. A benchmark that fails keeps 0: the comparison finds out on which side it fails.
func (g *gate) weigh(ctx context.Context, targets []*target) error {
	g.say("trying %d benchmarks", count(targets))
	for _, t := range targets {
		for i := range t.benchmarks {
			b := &t.benchmarks[i]
			ops, times := b.ops, slicesPerLeg
			if g.noTimes() != "" {
				ops, times = fewOps(b.ops), 1
			}
			began := g.now()
			_, err := t.base.Run(ctx, b.name, ops, times)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				b.took = g.now().Sub(began)
			}
		}
	}
	return nil
}

// judgeNoise compares a benchmark of the gate's own with itself, whose operations are equal and which one
// goroutine runs, before anything is built that may take minutes. Do not judge the machine by the benchmarks that are
// compared: where goroutines meet, they vary by a third on a quiet machine too, and then the times of all others would
// not be measured either.
func (g *gate) judgeNoise(ctx context.Context) error {
	const pairs, ops = 12, 1000 // a slice
	if g.Times != TimesAuto {
		return nil
	}
	g.say("comparing a benchmark of the gate with itself to see how noisy the machine is")
	var sides [2][]float64
	for i := range 2 * pairs {
		line, err := g.own.Run(ctx, "Work", ops, slicesPerLeg)
		if err != nil {
			return err
		}
		sides[i%2] = append(sides[i%2], line.Values[measure.Time])
	}
	if g.report.Noise = g.noise(stats.Pair(sides[0], sides[1])); g.report.Noise != "" {
		g.say("THE MACHINE IS TOO NOISY FOR TIMES: %s", g.report.Noise)
	}
	return nil
}

// noise says why the rounds cannot show a change, if the differences of base from itself are such as these; "" if they
// can.
func (g *gate) noise(own []float64) string {
	visible := g.expected(stats.Spread(own))
	if visible <= g.Blind {
		return ""
	}
	return fmt.Sprintf("with twice %d rounds, work that is always the same would have to be %s slower for the gate to find it, want %s or less",
		g.Rounds, percent(visible), percent(g.Blind))
}

// expectedSuspects is how many suspects a hundred figures have that have not changed.
const expectedSuspects = 100 * suspicion

// expected estimates the least change that is found in two later stages, for pairs with this spread and layouts that
// do not differ.
func (g *gate) expected(spread float64) float64 {
	sd := spread / math.Sqrt(2*float64(g.Rounds)*3/math.Pi)
	test := stats.NormalQuantile(1-level/(stages-1)/expectedSuspects/2) * sd
	return math.Expm1(max(test, math.Log1p(g.Least)) + stats.NormalQuantile(stats.Power)*sd)
}
