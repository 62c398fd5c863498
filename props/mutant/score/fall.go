package score

import "math"

// Fall compares the newest run with all before it.
type Fall struct {
	What        string // which score
	Now, Before Interval
	P           float64 // how likely chance alone makes the newest run so bad, or worse
}

// fallLevel is how unlikely a fall must be by chance to be one. Two scores are compared, so
// that a check of every night is wrong once in 50 nights at most.
const fallLevel = 0.01

// Fell reports whether chance does not explain the difference.
func (f Fall) Fell() bool { return f.P < fallLevel }

// Falls compares the newest run with all before it, by Fisher's exact test (one-sided): the
// score of the generic checks and the score of all. With fewer than two runs there is
// nothing to compare, and it returns nil.
func (k *Kept) Falls() []Fall {
	if len(k.Runs) < 2 {
		return nil
	}
	last := len(k.Runs) - 1
	now, before := Total(k.Runs[last].Picks), Total((&Kept{Runs: k.Runs[:last]}).Picks())
	return []Fall{
		{"generic checks", now.GenericScore(), before.GenericScore(), fisher(now.Generic, now.Of, before.Generic, before.Of)},
		{"all checks", now.Score(), before.Score(), fisher(now.Generic+now.Tests, now.Of, before.Generic+before.Tests, before.Of)},
	}
}

// fisher is the probability that of k+l kills among n+m picks, dealt at random, at most k
// fall to the n.
func fisher(k, n, l, m int) (p float64) {
	kills := k + l
	for i := max(0, kills-m); i <= k; i++ {
		p += math.Exp(choose(n, i) + choose(m, kills-i) - choose(n+m, kills))
	}
	return min(1, p)
}

// choose is the logarithm of a binomial coefficient.
func choose(n, k int) float64 {
	of := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	return of(n) - of(k) - of(n-k)
}
