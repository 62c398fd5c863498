package compare

import (
	"math"
	"slices"

	"eventide/bench"

	"golang.org/x/perf/benchmath"
)

// Results are what Measure returns.
type Results []series

// A Row is one figure of the table.
type Row struct {
	Workload string  `json:"workload"`
	Impl     string  `json:"impl"`
	Unit     string  `json:"unit"`
	Median   float64 `json:"median"` // ns, over the rounds
	Rounds   int     `json:"rounds"`

	// MedianLow and MedianHigh are the 95 % confidence interval of Median. Both are 0 in
	// files that were written before they were kept.
	MedianLow  float64 `json:"median_low,omitempty"`
	MedianHigh float64 `json:"median_high,omitempty"`

	// Ratio is the median of the rounds' ratios to the implementation that the
	// workload is measured against, Low and High its 95 % confidence interval.
	// All are 0 if there is none.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`

	// Void counts the samples that were thrown away.
	Void int `json:"void,omitempty"`
}

// A figure is a number that a slice yields.
type figure struct {
	prefix string
	of     func(bench.Slice) float64
}

var (
	means     = []figure{{"ns/", bench.Slice.NsPerOp}}
	quantiles = []figure{
		{"p50 ns/", func(s bench.Slice) float64 { return s.Quantile(50) }},
		{"p99 ns/", func(s bench.Slice) float64 { return s.Quantile(99) }},
	}
	tails = append(slices.Clone(quantiles),
		figure{"p99.9 ns/", func(s bench.Slice) float64 { return s.Quantile(99.9) }},
		figure{"max ns/", func(s bench.Slice) float64 { return s.Quantile(100) }},
	)
)

// Rows returns the table: one row for each case, or two for one with
// percentiles, or four for one with a tail.
func (r Results) Rows() []Row {
	var rows []Row
	for _, s := range r {
		figures := means
		if s.slices[0].Latency != nil {
			figures = quantiles
		}
		if s.Tail {
			figures = tails
		}
		for _, f := range figures {
			rows = append(rows, r.row(s, f))
		}
	}
	return rows
}

func (r Results) row(s series, f figure) Row {
	own := s.values(f)
	cost := median(own)
	row := Row{Workload: s.Workload, Impl: s.Impl, Unit: f.prefix + s.Unit, Rounds: len(own), Median: cost.Center, MedianLow: finite(cost.Lo), MedianHigh: finite(cost.Hi)}
	for _, slice := range s.slices {
		row.Void += slice.Void
	}
	if s.Against != "" {
		sum := median(ratios(own, r.find(reference(s.Case).Name()).values(f)))
		row.Ratio, row.Low, row.High = sum.Center, sum.Lo, sum.Hi
	}
	return row
}

func (r Results) find(name string) series {
	i := slices.IndexFunc(r, func(s series) bool { return s.Name() == name })
	return r[i] // Measure has seen to it
}

func (s series) values(f figure) []float64 {
	var v []float64
	for _, slice := range s.slices {
		v = append(v, f.of(slice))
	}
	return v
}

// ratios divides round by round: what slows a round down slows both.
func ratios(own, against []float64) []float64 {
	r := make([]float64, len(own))
	for i := range own {
		r[i] = own[i] / against[i]
	}
	return r
}

// finite is v, or 0 if v is no number that JSON can hold: the interval of too few rounds has
// no end.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// median returns the median and its 95 % confidence interval.
func median(values []float64) benchmath.Summary {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95)
}

// A Growth says how a cost grows with n.
type Growth struct {
	Workload    string
	Least, Most int     // n
	Times       float64 // cost at Most / cost at Least
	Base, Slope float64 // least squares: cost = Base + Slope*log2(n), in ns
	R2          float64 // how much of the variance that explains
	Exponent    float64 // least squares of log cost against log n: 1 is linear, 0 flat
}

// A point is a cost at some n.
type point struct {
	n    int
	cost float64
}

// grow fits points, of which there must be two or more, in order of n.
func grow(workload string, points []point) Growth {
	first, last := points[0], points[len(points)-1]
	g := Growth{Workload: workload, Least: first.n, Most: last.n, Times: last.cost / first.cost}
	var logN, cost, logCost []float64
	for _, p := range points {
		logN = append(logN, math.Log2(float64(p.n)))
		cost = append(cost, p.cost)
		logCost = append(logCost, math.Log2(p.cost))
	}
	g.Base, g.Slope, g.R2 = line(logN, cost)
	_, g.Exponent, _ = line(logN, logCost)
	return g
}

// line fits y = a + b*x by least squares, and returns R² too.
func line(x, y []float64) (a, b, r2 float64) {
	mx, my := mean(x), mean(y)
	var sxx, sxy, syy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	b = sxy / sxx
	if syy == 0 {
		return my, b, 1 // y is constant, and so is the line
	}
	return my - b*mx, b, sxy * sxy / (sxx * syy)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
