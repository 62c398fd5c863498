package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A noise draws the disturbance of a round.
type noise func(r *rand.Rand) float64

var noises = map[string]noise{
	"hardly any": func(r *rand.Rand) float64 { return 0.002 * r.NormFloat64() },
	"normal":     func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() },
	"heavy tails": func(r *rand.Rand) float64 { // one round of five is hit on either side
		d := 0.01 * r.NormFloat64()
		if r.IntN(5) == 0 {
			d += 0.5 * r.NormFloat64()
		}
		return d
	},
}

func draw(r *rand.Rand, n int, shift float64, noise noise, layouts int, layoutSpread float64) Sample {
	effects := make([]float64, layouts)
	for i := range effects {
		effects[i] = layoutSpread * r.NormFloat64()
	}
	s := Sample{Differences: make([]float64, n), Layouts: make([]int, n)}
	for i := range n {
		s.Layouts[i] = i % layouts
		s.Differences[i] = shift + noise(r) + effects[i%layouts]
	}
	return s
}

// TestVisibleIsFound: a change of the size that Visible returns is beyond the rule nearly as often as it says, whether
// the rounds differ more or the layouts. The size comes from one sample, and the change is in another of
// twice its size, as for a figure that gets a second stage.
func TestVisibleIsFound(t *testing.T) {
	rule := Rule{Level: 0.0025, Tests: 20, Least: math.Log(1.02)}
	for name, noise := range noises {
		for _, layoutSpread := range []float64{0, 0.003, 0.02} {
			r := rand.New(rand.NewPCG(1, 2))
			found, trials := 0, 100
			for range trials {
				visible := rule.Visible(draw(r, 20, 0, noise, 5, layoutSpread), 2)
				s := draw(r, 40, visible, noise, 10, layoutSpread)
				if rule.Beyond(s, SignedRank(s.Differences)*float64(rule.Tests)) > 0 {
					found++
				}
			}
			share := float64(found) / float64(trials)
			t.Logf("%s, layouts differ by %v: found %.2f", name, layoutSpread, share)
			require.Greater(t, share, 0.9, "%s, layouts differ by %v", name, layoutSpread)
		}
	}
}

// TestEqualSidesAreNotBeyond: hardly an alarm in 2000 figures of equal sides, although their layouts
// differ by as much as Rule.Least.
func TestEqualSidesAreNotBeyond(t *testing.T) {
	rule := Rule{Level: 0.01, Tests: 20, Least: math.Log(1.02)}
	for name, noise := range noises {
		r := rand.New(rand.NewPCG(3, 4))
		alarms := 0
		for range 2000 {
			s := draw(r, 20, 0, noise, 5, 0.02)
			if rule.Beyond(s, SignedRank(s.Differences)*float64(rule.Tests)) != 0 {
				alarms++
			}
		}
		t.Logf("%s: %d alarms", name, alarms)
		require.LessOrEqual(t, alarms, 4, "%s: 0.02 of the 100 runs of 20 figures, because either sign counts", name)
	}
}

// TestIntervalHoldsTheCentre: the interval includes how the layouts differ.
func TestIntervalHoldsTheCentre(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	missed := 0
	for range 1000 {
		if low, high := draw(r, 20, 0.03, noises["normal"], 5, 0.02).Interval(0.95); low > 0.03 || high < 0.03 {
			missed++
		}
	}
	require.InDelta(t, 50, missed, 35)
}

// TestLayoutsMustAgree: three layouts of four that are equal and one that is 10 % slower
// are no slower program, however many rounds there are.
func TestLayoutsMustAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var d []float64
	var layouts []int
	for i := range 80 {
		d, layouts = append(d, 0.022+0.001*r.NormFloat64()), append(layouts, i%4)
		if i%4 == 0 {
			d[i] += 0.1
		}
	}
	rule := Rule{Level: 0.01, Tests: 1, Least: 0.02}
	require.Equal(t, 1, rule.Beyond(Sample{Differences: d}, SignedRank(d)), "without layouts the rounds decide")
	require.Equal(t, 0, rule.Beyond(Sample{d, layouts}, SignedRank(d)))
}

// TestStudentQuantile: values of the printed tables.
func TestStudentQuantile(t *testing.T) {
	require.InDelta(t, 12.706, studentQuantile(1, 0.975), 0.001)
	require.InDelta(t, 3.182, studentQuantile(3, 0.975), 0.001)
	require.InDelta(t, 5.841, studentQuantile(3, 0.995), 0.001)
	require.InDelta(t, 2.086, studentQuantile(20, 0.975), 0.001)
}

// TestTooFewRoundsSeeNothing: seven pairs cannot reach 0.01.
func TestTooFewRoundsSeeNothing(t *testing.T) {
	require.True(t, math.IsInf(Rule{Level: 0.01}.Visible(Sample{Differences: make([]float64, 7)}, 1), 1))
	require.False(t, math.IsInf(Rule{Level: 0.01}.Visible(Sample{Differences: make([]float64, 8)}, 1), 1))
	require.True(t, math.IsInf(Rule{Level: 0.01, Tests: 20}.Visible(Sample{Differences: make([]float64, 8)}, 1), 1), "nor 0.01 of twenty figures")
}
