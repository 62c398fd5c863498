package scale

import (
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	points := func(law Law, spread float64, n ...int) Curve {
		c := Curve{X: "producers", Unit: "tasks/s"}
		for _, i := range n {
			v := law.At(float64(i))
			c.Points = append(c.Points, Point{N: i, Median: v, Low: v / spread, High: v * spread, Rounds: MinRounds})
		}
		c.fit()
		return c
	}
	for _, c := range []struct {
		curve Curve
		want  string
	}{
		{points(Law{1e6, 0.1, 0.001}, 1.1, 1, 8, 16, 32, 64), "knee at 30 producers"},
		{points(Law{1e6, 0.1, 0.001}, 1.3, 1, 8, 16, 32, 64), "too wide"},
		{points(Law{1e6, 0.25, 0}, 1.1, 1, 2, 4, 8, 16), "levels off at 4 M tasks/s: 25 % of the work"},
		{points(Law{1e6, 1, 0}, 1.1, 1, 2, 4, 8), "no gain from more producers, and no loss up to 8"},
		{points(Law{1e6, 0.5, 2}, 1.1, 1, 2, 4), "lower the throughput from the first on"},
		{points(Law{1e6, 0.001, 0}, 1.1, 1, 2, 4), "no knee and no level up to 4 producers"},
		{points(Law{1e6, 0, 0}, 1.1, 1, 2), "too few points"},
	} {
		if got := c.curve.Verdict(); !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.curve.Points, got, c.want)
		}
	}
}

// A point that was not run is no point of the law.
func TestPointsNotRunAreLeftOut(t *testing.T) {
	c := Curve{X: "connections", Points: []Point{{N: 1, Median: 10}, {N: 2, Median: 20}, {N: 4, Median: 40}, {N: 8, NotRun: "descriptors"}}}
	c.fit()
	if c.Law == nil || c.Law.Sigma != 0 || !strings.HasSuffix(c.Verdict(), "up to 4 connections") {
		t.Errorf("got %+v, %q; want a line up to 4", c.Law, c.Verdict())
	}
}

func TestPointHasTheMedianOfItsRounds(t *testing.T) {
	if p := newPoint(4, []float64{5, 1, 9}); p.Median != 5 || p.Low != 0 || p.High != 0 || p.Rounds != 3 || p.N != 4 {
		t.Errorf("of three rounds: got %+v, want the median 5 and no interval", p)
	}
	p := newPoint(4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	if p.Median != 6 || p.Low < 1 || p.Low >= 6 || p.High <= 6 || p.High > 11 {
		t.Errorf("of eleven rounds: got %+v, want the median 6 within its interval", p)
	}
}
