package stats

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// A Sample is the rounds of one figure: how far head was from base in each, and in which layout of the
// binaries. One layout may be faster than another of the same program by some percent (T. Mytkowicz
// et al., Producing Wrong Data Without Doing Anything Obviously Wrong!, ASPLOS 2009), and more rounds
// of one layout do not help against it.
type Sample struct {
	Differences []float64 // logarithms of the ratio of head to base
	Layouts     []int     // of each difference; nil: all had one
}

// NewSample returns the logarithms of the ratios head[i] / base[i] with their layouts. Rounds in
// which either is not positive have no ratio and are left out.
func NewSample(base, head []float64, layouts []int) Sample {
	var s Sample
	for i := range min(len(base), len(head)) {
		if base[i] <= 0 || head[i] <= 0 {
			continue
		}
		s.Differences = append(s.Differences, math.Log(head[i]/base[i]))
		if layouts != nil {
			s.Layouts = append(s.Layouts, layouts[i])
		}
	}
	return s
}

// Pair returns the differences of a sample whose rounds had one layout.
func Pair(base, head []float64) []float64 { return NewSample(base, head, nil).Differences }

// byLayout returns the differences of each layout.
func (s Sample) byLayout() [][]float64 {
	if s.Layouts == nil {
		return [][]float64{s.Differences}
	}
	var groups [][]float64
	at := map[int]int{}
	for i, d := range s.Differences {
		group, known := at[s.Layouts[i]]
		if !known {
			group = len(groups)
			at[s.Layouts[i]] = group
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], d)
	}
	return groups
}

// layoutError returns the standard error of the mean of the layouts' medians, and its degrees of
// freedom: 0 if there are fewer than two layouts.
func (s Sample) layoutError() (sd float64, freedom int) { return layoutError(s.byLayout()) }

func layoutError(groups [][]float64) (sd float64, freedom int) {
	if len(groups) < 2 {
		return 0, 0
	}
	medians := make([]float64, len(groups))
	for k, of := range groups {
		medians[k] = Median(of)
	}
	centre, sum := mean(medians), 0.0
	for _, m := range medians {
		sum += (m - centre) * (m - centre)
	}
	count := float64(len(groups))
	return math.Sqrt(sum / (count - 1) / count), len(groups) - 1
}

// Interval returns the bounds of the centre that hold with a confidence such as 0.95: those of the
// rounds, or those of the layouts where these differ by more.
func (s Sample) Interval(confidence float64) (low, high float64) {
	low, high = ShiftInterval(s.Differences, confidence)
	if sd, freedom := s.layoutError(); freedom > 0 {
		centre, reach := Shift(s.Differences), sd*studentQuantile(freedom, 1-(1-confidence)/2)
		low, high = min(low, centre-reach), max(high, centre+reach)
	}
	return low, high
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
