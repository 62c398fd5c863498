package release

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// selfShare is the slowness that the self-test plants.
const selfShare = 0.25

// A planting is a regression that the gate must find, and the benchmark and figure that show it.
type planting struct {
	name, plant string
	benchmark   Benchmark
	metric      string
}

// The benchmarks of the self-test: both do the same thing every time at
// GOMAXPROCS=1.
var (
	inLoop   = Benchmark{Name: "ExecuteInLoop/impl=core", Benchtime: "60000x", ExactOps: 13_000}
	busyTrip = Benchmark{Name: "RoundTripBusy/impl=core", Benchtime: "1000x", ExactOps: 1000}
)

var exactPlantings = []planting{
	{"+1 alloc", "alloc", inLoop, metricAllocs},
	{"+1 wake", "wake", busyTrip, metricWakes},
	{"+1 syscall", "syscall", inLoop, metricSyscalls},
}

// selfTest measures the planted build against head. A finding passes if its planted regression
// was found.
func (g *gate) selfTest(ctx context.Context, head subject, planted func(env ...string) subject) ([]Finding, error) {
	g.say("self-test: equal sides")
	found, err := g.selfEqual(ctx, head)
	if err != nil {
		return nil, err
	}
	for _, p := range exactPlantings {
		g.say("self-test: %s", p.name)
		f, err := g.exactTier(ctx, p.benchmark, head, planted(plantEnv+"="+p.plant))
		if err != nil {
			return nil, err
		}
		found = append(found, caught(p.name, p.metric, f))
	}
	g.say("self-test: +%.0f %% time", 100*selfShare)
	var last Finding
	slow, err := g.calibrateSpin(ctx, head, planted)
	if err != nil {
		return nil, err
	}
	for range selfTries {
		times, err := g.timeTiers(ctx, []Benchmark{inLoop}, head, slow)
		if err != nil {
			return nil, err
		}
		f := caught("+25 % time", metricTime, times)
		if f.Verdict == Pass {
			return append(found, f), nil
		}
		last = f
	}
	return append(found, last), nil
}

// selfTries is how often the self-test tries to find the planted slowness, because one try may
// miss it by chance.
const selfTries = 2

// selfEqual compares head with itself by both rules.
func (g *gate) selfEqual(ctx context.Context, head subject) ([]Finding, error) {
	exact, err := g.exactTier(ctx, inLoop, head, head)
	if err != nil {
		return nil, err
	}
	times, err := g.timeTiers(ctx, []Benchmark{inLoop}, head, head)
	if err != nil {
		return nil, err
	}
	f := Finding{Tier: TierSelfTest, Benchmark: inLoop.Name, Metric: "equal sides", P: 1, Verdict: Pass}
	for _, other := range slices.Concat(exact, times) {
		switch other.Verdict {
		case Regression, Inconclusive, Failed, NotCompared:
			f.Verdict, f.Note = Failed, fmt.Sprintf("head against itself: %s of %s is %s, %v and %v, %s",
				other.Metric, other.Benchmark, other.Verdict, other.Base, other.Head, other.Note)
		}
	}
	return []Finding{f}, nil
}

// caught turns the finding that should be a regression into one of the self-test.
func caught(name, metric string, found []Finding) Finding {
	i := slices.IndexFunc(found, func(f Finding) bool { return f.Metric == metric })
	if i < 0 {
		return Finding{Tier: TierSelfTest, Metric: name, P: 1, Verdict: Failed, Note: "nothing measures " + metric}
	}
	f := found[i]
	f.Tier, f.Metric = TierSelfTest, name
	switch f.Verdict {
	case Regression:
		f.Verdict = Pass
	case NotRun: // the tool is missing, so the figure is not run anywhere
	default:
		f.Note = fmt.Sprintf("planted and not found: %s went from %s to %s, p %.2g; the limit is %s, because base differs from itself by up to %.1f %%. %s",
			metric, number(f.Base), number(f.Head), f.P, number(f.Limit), 100*f.Noise, f.Note)
		f.Verdict = Failed
	}
	return f
}

// calibrations is how often each side of the calibration runs; the fastest counts.
const calibrations = 12

// calibrateSpin returns the planted side with as many turns of the spin as make it
// slower by selfShare.
func (g *gate) calibrateSpin(ctx context.Context, head subject, planted func(env ...string) subject) (subject, error) {
	spinning := func(turns int) subject {
		return planted(plantEnv+"=spin", plantSpinEnv+"="+strconv.Itoa(turns))
	}
	const many = 100
	least := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for range calibrations {
		for i, side := range []subject{head, spinning(0), spinning(many)} {
			r, err := side.run(ctx, request{benchmark: inLoop.Name, benchtime: inLoop.Benchtime, slices: g.slices})
			if err != nil {
				return nil, err
			}
			least[i] = min(least[i], r.metrics[metricTime])
		}
	}
	perTurn := (least[2] - least[1]) / many
	if perTurn <= 0 {
		return nil, fmt.Errorf("gate: %d turns of the planted spin take no time: %v ns against %v", many, least[2], least[1])
	}
	turns := max(0, int(((1+selfShare)*least[0]-least[1])/perTurn+0.5))
	return spinning(turns), nil
}
