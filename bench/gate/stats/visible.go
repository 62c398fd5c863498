package stats

import (
	"math"
	"math/rand/v2"

	"github.com/aclements/go-moremath/stats"
)

// A Rule says when a difference between two sides counts.
type Rule struct {
	Level   float64 // of the p value, after Holm's correction
	Tests   int     // how many p values are corrected together
	Least   float64 // logarithm of the least ratio that counts
	Layouts int     // how many layouts of the binaries the rounds went through in turn; 0 or 1: one
}

// power is the chance that one of the two stages, the first rounds or the fresh ones, finds a
// change of the size that Visible returns. Both stages find it with a chance of 0.81.
const power = 0.9

// Beyond reports whether the centre of the differences lies farther from zero than the rule
// allows, given their corrected p value: the p value is below the level, the centre is
// beyond Least, and the layouts agree: their means, one value each, differ from zero by more
// than they differ from each other by Student's test. One layout may be faster than another of the same program
// by some percent (T. Mytkowicz et al., Producing Wrong Data Without Doing Anything
// Obviously Wrong!, ASPLOS 2009), and more rounds of one layout do not help against it.
// The sign is that of the centre: 1 if head is greater, -1 if it is less, 0 if not beyond.
func (r Rule) Beyond(differences []float64, corrected float64) int {
	centre := Shift(differences)
	if corrected >= r.Level || math.Abs(centre) <= max(r.Least, r.layoutQuantile()*r.layoutError(differences)) {
		return 0
	}
	if centre > 0 {
		return 1
	}
	return -1
}

// Visible returns the least centre that Beyond reports in both stages together with a chance
// of about 0.8, for differences that spread like these. It makes no assumption about the
// spread: it draws rounds of each layout again with replacement and computes by how much
// each draw had to be moved to be reported (B. Efron, Bootstrap Methods, Annals of
// Statistics 7, 1979). The draws are the same every time. It is infinite if so few
// differences cannot reach the level after the correction.
func (r Rule) Visible(differences []float64) float64 {
	critical := criticalSum(len(differences), r.Level/r.tests())
	if critical < 0 {
		return math.Inf(1)
	}
	centre, quantile := Shift(differences), r.layoutQuantile()
	var needed []float64
	for _, d := range r.redraw(differences) {
		// The sum of the ranks of the negative differences is the number of means of pairs
		// that are not positive (J. W. Tukey, 1949).
		means := walsh(d)
		byRank := centre - means[critical]
		byCentre := centre - Quantile(means, 0.5) + max(r.Least, quantile*r.layoutError(d))
		needed = append(needed, max(byRank, byCentre))
	}
	return Quantile(needed, power)
}

const (
	redraws  = 200
	drawSeed = 1
)

// redraw draws rounds with replacement; each takes the place of one of its own layout.
func (r Rule) redraw(differences []float64) [][]float64 {
	random := rand.New(rand.NewPCG(drawSeed, drawSeed))
	layouts, n := max(1, r.Layouts), len(differences)
	drawn := make([][]float64, redraws)
	for k := range drawn {
		drawn[k] = make([]float64, n)
		for i := range n {
			first := i % layouts
			rounds := (n - first + layouts - 1) / layouts
			drawn[k][i] = differences[first+layouts*random.IntN(rounds)]
		}
	}
	return drawn
}

func (r Rule) tests() float64 { return math.Max(1, float64(r.Tests)) }

// layoutQuantile returns how many standard errors the mean of the layouts' means may be from
// zero by chance, by Student's distribution. The chance allowed in one stage is the square root
// of the chance allowed in both stages and all tests together, because the second stage has
// fresh layouts.
func (r Rule) layoutQuantile() float64 {
	if r.Layouts < 2 {
		return 0
	}
	return studentQuantile(r.Layouts-1, 1-math.Sqrt(r.Level/r.tests()))
}

// layoutError is the standard error of the mean of the layouts' means.
func (r Rule) layoutError(differences []float64) float64 {
	if r.Layouts < 2 || len(differences) < r.Layouts {
		return 0
	}
	means := make([]float64, r.Layouts)
	for k := range means {
		var of []float64
		for i := k; i < len(differences); i += r.Layouts {
			of = append(of, differences[i])
		}
		means[k] = Median(of)
	}
	centre, sum := mean(means), 0.0
	for _, m := range means {
		sum += (m - centre) * (m - centre)
	}
	count := float64(r.Layouts)
	return math.Sqrt(sum / (count - 1) / count)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// studentQuantile returns the value below which a variable of Student's distribution is with
// probability p > 0.5.
func studentQuantile(freedom int, p float64) float64 {
	student := stats.TDist{V: float64(freedom)}
	low, high := 0.0, 1e4
	for range 50 {
		if middle := (low + high) / 2; student.CDF(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
