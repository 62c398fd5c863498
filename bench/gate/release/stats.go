package release

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"

	"eventide/bench/gate/stats"
)

// The limits of the gate.
const (
	alpha        = 0.01 // after Holm's correction
	leastDelta   = 0.05 // of a time: less is not worth a release
	noiseFactor  = 2    // times the 90th percentile of base against itself
	latencyDelta = 1.0  // a percentile that doubles
)

// pValue returns the two-sided p value of Mann and Whitney's test: the chance of samples as
// different as these if both come from one distribution.
func pValue(a, b []float64) float64 {
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

const (
	resamples = 1000
	noiseSeed = 1
)

// noise returns the 90th percentile of the relative distance of the medians of a and b, which
// measure the same program. It draws rounds with replacement; the draws are the same every time.
func noise(a, b []float64) float64 {
	random := rand.New(rand.NewPCG(noiseSeed, noiseSeed))
	apart := make([]float64, resamples)
	drawnA, drawnB := make([]float64, len(a)), make([]float64, len(a))
	for i := range apart {
		for j := range a {
			round := random.IntN(len(a))
			drawnA[j], drawnB[j] = a[round], b[round]
		}
		apart[i] = math.Abs(relative(stats.Median(drawnA), stats.Median(drawnB)))
	}
	return stats.Quantile(apart, 0.9)
}

// relative is how much more b is than a.
func relative(a, b float64) float64 {
	if a == 0 {
		if b == 0 {
			return 0
		}
		return math.Inf(1)
	}
	return b/a - 1
}
