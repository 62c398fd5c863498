package release

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
)

// The limits of the gate.
const (
	alpha        = 0.01 // after Holm's correction
	leastDelta   = 0.05 // of a time: less is not worth a release
	noiseFactor  = 2    // times the 90th percentile of base against itself
	latencyDelta = 1.0  // a percentile that doubles
)

// pValue is Mann and Whitney's, two-sided: the chance of samples as different as
// these if both come from one distribution.
func pValue(a, b []float64) float64 {
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

// holm corrects p values for their number: one is below alpha after it only if the
// chance that any of all is a false alarm is below alpha (Holm 1979).
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = least
	}
	return corrected
}

func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile interpolates between order statistics. v must not be empty.
func quantile(v []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

const (
	resamples = 1000
	noiseSeed = 1
)

// noise is the 90th percentile of how far the medians of a and of b are apart,
// relative, when both measure the same thing: by drawing rounds with replacement.
// The draws are the same every time.
func noise(a, b []float64) float64 {
	random := rand.New(rand.NewPCG(noiseSeed, noiseSeed))
	apart := make([]float64, resamples)
	drawnA, drawnB := make([]float64, len(a)), make([]float64, len(a))
	for i := range apart {
		for j := range a {
			round := random.IntN(len(a))
			drawnA[j], drawnB[j] = a[round], b[round]
		}
		apart[i] = math.Abs(relative(median(drawnA), median(drawnB)))
	}
	return quantile(apart, 0.9)
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
