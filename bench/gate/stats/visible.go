package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Rule says when the differences of a sample count.
type Rule struct {
	Level float64 // of the p value, after Holm's correction
	Tests int     // how many p values are corrected together
	Least float64 // logarithm of the least ratio that counts
}

// Power is the chance that a change of the size that Visible returns is found.
const Power = 0.95

// Beyond reports whether the centre of the differences lies farther from zero than the rule
// allows, given their corrected p value: the p value is below the level, the centre is
// beyond Least, and the layouts agree: the mean of their medians is farther from zero than by
// chance, by Student's test at the corrected level.
// The sign is that of the centre: 1 if head is greater, -1 if it is less, 0 if not beyond.
func (r Rule) Beyond(s Sample, corrected float64) int {
	centre := Shift(s.Differences)
	if corrected >= r.Level || math.Abs(centre) <= max(r.Least, r.layoutReach(s.byLayout())) {
		return 0
	}
	if centre > 0 {
		return 1
	}
	return -1
}

// layoutReach is how far the centre may be from zero because the layouts differ.
func (r Rule) layoutReach(groups [][]float64) float64 {
	sd, _ := layoutError(groups)
	return sd * r.layoutFactor(len(groups))
}

// layoutFactor is how many standard errors of the layouts' mean the centre may be from zero.
func (r Rule) layoutFactor(layouts int) float64 {
	if layouts < 2 {
		return 0
	}
	return studentQuantile(layouts-1, 1-r.Level/r.tests())
}

func (r Rule) tests() float64 { return math.Max(1, float64(r.Tests)) }

// A Design says how a figure is judged in stages: it is a suspect if the first one is beyond a rule, and
// then another rule judges the rounds of the later ones, without those of the first.
type Design struct {
	Suspect, Rule Rule
	Later         int // how many later stages a suspect has
}

// Visible returns the least change that makes a figure a suspect and then lies beyond its rule, with a chance of
// Power, if the first stage spreads as this sample does and each of the later ones has as many layouts and rounds.
// It makes no assumption about the distribution: it draws layouts, and rounds of each, again with replacement, and
// computes by how much each draw had to be moved (B. Efron, Bootstrap Methods, Annals of Statistics 7, 1979).
// The draws are the same every time. It is infinite if so few differences cannot reach the level
// after the correction.
//
// Do not keep the layouts and draw only their rounds: the next layouts of the same programs lie
// elsewhere, and a change that is seen with these would be missed with those.
func (d Design) Visible(first Sample) float64 {
	n := len(first.Differences)
	suspicious, critical := d.Suspect.criticalSum(n), d.Rule.criticalSum(n*d.Later)
	if suspicious < 0 || critical < 0 {
		return math.Inf(1)
	}
	centre, layouts := Shift(first.Differences), len(first.byLayout())
	once, more := d.Suspect.layoutFactor(layouts), 0.0
	if layouts > 1 { // otherwise all stages have the linker's own layout
		more = d.Rule.layoutFactor(layouts * d.Later)
	}
	var needed []float64
	for _, drawn := range redraw(first, 1+d.Later) {
		needed = append(needed, centre+max(d.Suspect.needed(drawn[:layouts], suspicious, once), d.Rule.needed(drawn[layouts:], critical, more)))
	}
	return Quantile(needed, Power)
}

func (r Rule) criticalSum(n int) int { return criticalSum(n, r.Level/r.tests()) }

// needed returns by how much differences have to be moved to be beyond the rule. The sum of the ranks of the
// negative differences is the number of means of pairs that are not positive (J. W. Tukey, 1949).
func (r Rule) needed(groups [][]float64, critical int, layoutFactor float64) float64 {
	means := pairMeans(slices.Concat(groups...))
	n := len(means)
	byRank := -nth(means, min(critical, n-1))
	sd, _ := layoutError(groups)
	return max(byRank, max(r.Least, sd*layoutFactor)-(nth(means, (n-1)/2)+nth(means, n/2))/2)
}

// FewestRounds returns the least number of rounds of a stage with which so many stages together reach the level
// although one round of eight, and at least one, has the other sign and is the farthest from zero. With fewer,
// the round that was disturbed most decides.
func FewestRounds(level float64, stages int) int {
	for rounds := 1; ; rounds++ {
		n, adverse := rounds*stages, 0
		for k := range (n + 7) / 8 {
			adverse += n - k
		}
		if criticalSum(n, level) >= adverse {
			return rounds
		}
	}
}

const (
	redraws  = 200
	drawSeed = 1
)

// redraw draws times more layouts than the sample has, and as many rounds of each as it had. Few layouts say
// little about how far layouts differ. So each draw takes another spread of those that these layouts fit,
// by the distribution of the variance of normal values (Student, The Probable Error of a Mean, Biometrika 6, 1908).
// Do not take the spread as it is: of five layouts it is often half of what the next ones have.
func redraw(s Sample, times int) [][][]float64 {
	groups, centre := s.byLayout(), Shift(s.Differences)
	away := make([]float64, len(groups))
	for k, of := range groups {
		away[k] = Median(of) - centre
	}
	random := rand.New(rand.NewPCG(drawSeed, drawSeed))
	drawn := make([][][]float64, redraws)
	for k := range drawn {
		wider := spreadFactor(random, len(groups)) - 1
		for range len(groups) * times {
			from := random.IntN(len(groups))
			of := make([]float64, len(groups[from]))
			for i := range of {
				of[i] = groups[from][random.IntN(len(of))] + wider*away[from]
			}
			drawn[k] = append(drawn[k], of)
		}
	}
	return drawn
}

// spreadFactor draws how many times as far as these n layouts all layouts may lie from their centre.
func spreadFactor(random *rand.Rand, n int) float64 {
	if n < 2 {
		return 1
	}
	squares := 0.0
	for range n - 1 {
		d := random.NormFloat64()
		squares += d * d
	}
	return math.Sqrt(float64(n) / squares)
}
