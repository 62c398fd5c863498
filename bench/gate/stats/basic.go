package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm corrects p values for their number. A corrected value is below a level only if the
// chance that any of all true hypotheses is rejected is below it (S. Holm, A Simple
// Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
// 1979).
func Holm(p []float64) []float64 {
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

// Median returns the 0.5 quantile. v must not be empty.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile interpolates between order statistics. v must not be empty and stays as it is.
func Quantile(v []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// nth returns the value that would be at index k if v were sorted, and changes the order of v (C. A. R. Hoare,
// Algorithm 65: Find, Communications of the ACM 4, 1961).
func nth(v []float64, k int) float64 {
	for low, high := 0, len(v)-1; low < high; {
		pivot, i, j := v[k], low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for pivot < v[j] {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		if j < k {
			low = i
		}
		if k < i {
			high = j
		}
	}
	return v[k]
}

// NormalQuantile returns the value below which a standard normal variable is with
// probability p.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Spread is 1.4826 times the median distance from the median, which estimates the standard
// deviation of normal values and is not moved by a few far ones. It returns 0 for fewer
// than two values.
func Spread(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	centre := Median(v)
	distances := make([]float64, len(v))
	for i, x := range v {
		distances[i] = math.Abs(x - centre)
	}
	return 1.4826 * Median(distances)
}
