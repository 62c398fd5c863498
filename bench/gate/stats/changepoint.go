package stats

import (
	"math"
	"math/rand/v2"
)

// ChangePoints returns the indices at which the distribution of a series changes, in
// order: the series from one to the next differs from that before. It is the E-divisive
// method (D. S. Matteson and N. A. James, A Nonparametric Approach for Multiple Change
// Point Analysis of Multivariate Data, JASA 109, 2014), by which MongoDB watches its
// benchmarks (D. Daly et al., The Use of Change Point Detection to Identify Software
// Performance Regressions in a Continuous Integration System, ICPE 2020): the split with
// the greatest energy distance between its parts is kept while random orders of its
// segment reach that distance with a chance below level. Segments are at least four long.
// The orders are drawn from a fixed seed, so the result is the same every time.
func ChangePoints(series []float64, level float64) []int {
	random := rand.New(rand.NewPCG(permutationSeed, permutationSeed))
	return changes(series, 0, level, random)
}

const (
	permutations    = 499
	permutationSeed = 1
	shortest        = 4
)

// changes splits a segment that begins at an index of the whole series.
func changes(segment []float64, from int, level float64, random *rand.Rand) []int {
	if len(segment) < 2*shortest {
		return nil
	}
	at, distance := bestSplit(segment)
	shuffled := append([]float64{}, segment...)
	asFar := 1
	for range permutations {
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, other := bestSplit(shuffled); other >= distance {
			asFar++
		}
	}
	if distance <= 0 || float64(asFar)/(permutations+1) >= level {
		return nil
	}
	left := changes(segment[:at], from, level, random)
	right := changes(segment[at:], from+at, level, random)
	return append(append(left, from+at), right...)
}

// bestSplit returns the split with the greatest scaled energy distance.
func bestSplit(v []float64) (at int, distance float64) {
	n := len(v)
	distance = math.Inf(-1)
	// within and between are the sums of |x-y| over pairs; they follow the split as it moves.
	left, right, between := 0.0, 0.0, 0.0
	for i := range v {
		for j := range i {
			right += math.Abs(v[i] - v[j])
		}
	}
	for k := 1; k < n; k++ {
		moved := v[k-1]
		toLeft, toRight := 0.0, 0.0
		for _, x := range v[:k-1] {
			toLeft += math.Abs(moved - x)
		}
		for _, x := range v[k:] {
			toRight += math.Abs(moved - x)
		}
		left, right, between = left+toLeft, right-toRight, between-toLeft+toRight
		if k < shortest || n-k < shortest {
			continue
		}
		a, b := float64(k), float64(n-k)
		energy := 2*between/(a*b) - 2*left/(a*(a-1)) - 2*right/(b*(b-1))
		if scaled := energy * a * b / (a + b); scaled > distance {
			at, distance = k, scaled
		}
	}
	return at, distance
}
