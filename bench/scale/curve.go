package scale

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Curve is a throughput as a function of a number, such as that of producers.
type Curve struct {
	Name   string  `json:"name"`
	X      string  `json:"x"`    // what the number counts
	Unit   string  `json:"unit"` // of the throughput
	Points []Point `json:"points"`
	Law    *Law    `json:"law,omitempty"` // nil: too few points for a fit
}

// A Point is the median of its rounds, with its 95 % confidence interval: 0 and 0 if there
// are too few rounds for one.
type Point struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Rounds int     `json:"rounds"`
	NotRun string  `json:"not_run,omitempty"` // why it was not measured
}

// newPoint summarises the rounds of a point.
func newPoint(n int, rounds []float64) Point {
	sample := benchmath.NewSample(slices.Clone(rounds), &benchmath.DefaultThresholds)
	m := benchmath.AssumeNothing.Summary(sample, 0.95)
	p := Point{N: n, Median: m.Center, Low: m.Lo, High: m.Hi, Rounds: len(rounds)}
	if math.IsInf(p.Low, 0) || math.IsInf(p.High, 0) {
		p.Low, p.High = 0, 0
	}
	return p
}

// fit sets the law of the points that were measured.
func (c *Curve) fit() {
	var n, x []float64
	for _, p := range c.Points {
		if p.NotRun == "" {
			n, x = append(n, float64(p.N)), append(x, p.Median)
		}
	}
	if law, ok := Fit(n, x); ok {
		c.Law = &law
	}
}

// Verdict returns a sentence about the end of the curve: whether it grows, levels off or falls.
func (c Curve) Verdict() string {
	measured := slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return p.NotRun != "" })
	if c.Law == nil || len(measured) == 0 {
		return "too few points for a law"
	}
	if c.noisy(measured) {
		return "the intervals are too wide to tell a knee: other load disturbed the rounds"
	}
	last := measured[len(measured)-1].N
	knee, ok := c.Law.Knee()
	contention := fmt.Sprintf("%.0f %% of the work is done by one at a time", 100*c.Law.Sigma)
	switch {
	case ok && knee < 1:
		return fmt.Sprintf("more %s lower the throughput from the first on", c.X)
	case ok && knee <= float64(last):
		return fmt.Sprintf("knee at %.0f %s: more of them lower the throughput, because they move shared memory between each other; %s", knee, c.X, contention)
	case c.Law.Sigma >= 1:
		return fmt.Sprintf("no gain from more %s, and no loss up to %d", c.X, last)
	case c.Law.Sigma*float64(last) > 1:
		return fmt.Sprintf("levels off at %s: %s", rate(c.Law.Lambda/c.Law.Sigma, c.Unit), contention)
	}
	return fmt.Sprintf("no knee and no level up to %d %s", last, c.X)
}

// mostSpread is the greatest width of a confidence interval, as the ratio of its ends at the
// median of a curve's points, with which a fit has a meaning: neighbouring points differ by less.
const mostSpread = 1.5

func (c Curve) noisy(measured []Point) bool {
	var spreads []float64
	for _, p := range measured {
		if p.Low > 0 {
			spreads = append(spreads, p.High/p.Low)
		}
	}
	slices.Sort(spreads)
	return len(spreads) > 0 && spreads[len(spreads)/2] > mostSpread
}

// rate writes a throughput with three digits.
func rate(v float64, unit string) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M %s", v/1e6, unit)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k %s", v/1e3, unit)
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
