package stats

import (
	"math"
	"slices"
)

// SignedRank returns the p value of Wilcoxon's signed-rank test, two-sided: the chance of
// differences that lie as much to one side of zero as these if they are distributed
// symmetrically around it (F. Wilcoxon, Individual Comparisons by Ranking Methods,
// Biometrics Bulletin 1, 1945). Zeros are left out, as there. Equal differences share the
// mean of their ranks. The distribution is exact, with ties too: it is counted out for the
// ranks that occur. It returns 1 if no difference is left.
func SignedRank(differences []float64) float64 {
	ranks, positive := doubledRanks(differences)
	if len(ranks) == 0 {
		return 1
	}
	chance := sumChances(ranks)
	tail := 0.0
	for s := 0; s <= min(positive, len(chance)-1-positive); s++ {
		tail += chance[s]
	}
	return min(1, 2*tail)
}

// sumChances returns the chance of each sum of ranks if every rank is in it or not by the
// toss of a fair coin.
func sumChances(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	chance := make([]float64, total+1)
	chance[0] = 1
	for _, r := range ranks {
		for s := total; s >= 0; s-- {
			chance[s] /= 2
			if s >= r {
				chance[s] += chance[s-r] / 2
			}
		}
	}
	return chance
}

// criticalSum returns the greatest sum of the lesser ranks of n differences without ties at
// which SignedRank is below level, or -1 if none is.
func criticalSum(n int, level float64) int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	tail := 0.0
	for s, chance := range sumChances(ranks) {
		if tail += chance; 2*tail >= level {
			return s - 1
		}
	}
	return -1
}

// doubledRanks returns twice the rank of the size of each difference, which is a whole
// number even for ties, and the sum of those of the positive ones.
func doubledRanks(differences []float64) (ranks []int, positive int) {
	d := slices.DeleteFunc(slices.Clone(differences), func(v float64) bool { return v == 0 })
	slices.SortFunc(d, func(a, b float64) int {
		switch {
		case math.Abs(a) < math.Abs(b):
			return -1
		case math.Abs(a) > math.Abs(b):
			return 1
		}
		return 0
	})
	for from := 0; from < len(d); {
		to := from + 1
		for to < len(d) && math.Abs(d[to]) == math.Abs(d[from]) {
			to++
		}
		for i := from; i < to; i++ {
			rank := from + 1 + to
			ranks = append(ranks, rank)
			if d[i] > 0 {
				positive += rank
			}
		}
		from = to
	}
	return ranks, positive
}

// Shift returns the estimate of the differences' centre that belongs to the signed-rank
// test: the median of the means of all pairs of differences, each with itself too
// (J. L. Hodges and E. L. Lehmann, Estimates of Location Based on Rank Tests, Annals of
// Mathematical Statistics 34, 1963). Half a dozen disturbed rounds of twenty hardly move
// it. It returns 0 if there are no differences.
func Shift(differences []float64) float64 {
	means := walsh(differences)
	if len(means) == 0 {
		return 0
	}
	return Quantile(means, 0.5)
}

// ShiftInterval returns bounds of the centre that hold with a confidence such as 0.95, by
// inverting the test: they are the order statistics of the means that the normal
// approximation of the test's distribution names (M. Hollander and D. A. Wolfe,
// Nonparametric Statistical Methods, section 3.3). It returns 0, 0 without differences.
func ShiftInterval(differences []float64, confidence float64) (low, high float64) {
	means := walsh(differences)
	if len(means) == 0 {
		return 0, 0
	}
	n := float64(len(differences))
	at := n*(n+1)/4 - NormalQuantile(1-(1-confidence)/2)*math.Sqrt(n*(n+1)*(2*n+1)/24)
	k := max(0, int(at))
	return means[k], means[len(means)-1-k]
}

// walsh returns the means of all pairs of differences, sorted.
func walsh(d []float64) []float64 {
	means := pairMeans(d)
	slices.Sort(means)
	return means
}

// pairMeans returns the means of all pairs of differences, each with itself too.
func pairMeans(d []float64) []float64 {
	means := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i := range d {
		for _, other := range d[i:] {
			means = append(means, (d[i]+other)/2)
		}
	}
	return means
}
