package scale

import "math"

// A Law is a curve of the Universal Scalability Law, see the package comment.
type Law struct {
	Lambda float64 `json:"lambda"` // throughput of one
	Sigma  float64 `json:"sigma"`  // contention, 0 or more
	Kappa  float64 `json:"kappa"`  // cost of agreement, 0 or more
}

// At returns the throughput at n.
func (l Law) At(n float64) float64 {
	return l.Lambda * n / (1 + l.Sigma*(n-1) + l.Kappa*n*(n-1))
}

// Knee returns the n at which the throughput is greatest. ok is false if it grows for ever or
// levels off.
func (l Law) Knee() (n float64, ok bool) {
	if l.Kappa == 0 {
		return 0, false
	}
	return math.Sqrt(max(0, 1-l.Sigma) / l.Kappa), true
}

// Fit fits the law to a curve, whose first point must be the throughput of one, by least
// squares of the relative cost n*X(1)/X(n) - 1, which is linear in σ and κ. ok is false
// with fewer than three points or if a throughput is not positive.
func Fit(n, throughput []float64) (law Law, ok bool) {
	if len(n) < 3 || len(n) != len(throughput) || n[0] != 1 {
		return Law{}, false
	}
	var s11, s12, s22, s1y, s2y float64
	for i := range n {
		if throughput[i] <= 0 {
			return Law{}, false
		}
		// y = σ a + κ b
		a, b := n[i]-1, n[i]*(n[i]-1)
		y := n[i]*throughput[0]/throughput[i] - 1
		s11, s12, s22 = s11+a*a, s12+a*b, s22+b*b
		s1y, s2y = s1y+a*y, s2y+b*y
	}
	law.Lambda = throughput[0]
	law.Sigma, law.Kappa = nonNegative(s11, s12, s22, s1y, s2y)
	return law, true
}

// nonNegative solves the normal equations of two coefficients, neither of which may be
// negative: if one would be, it is 0, and the other is fitted alone.
func nonNegative(s11, s12, s22, s1y, s2y float64) (sigma, kappa float64) {
	if det := s11*s22 - s12*s12; det > 0 {
		sigma, kappa = (s1y*s22-s2y*s12)/det, (s2y*s11-s1y*s12)/det
		if sigma >= 0 && kappa >= 0 {
			return sigma, kappa
		}
	}
	// Fit each coefficient alone, and keep the fit with the smaller sum of squares.
	sigma, kappa = max(0, s1y/s11), max(0, s2y/s22)
	if sigma*s1y >= kappa*s2y {
		return sigma, 0
	}
	return 0, kappa
}
