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

// TestVisibleIsFound: a change of the size that Visible returns is found nearly as often as it says, whether
// the rounds differ more or the layouts, and few rounds or many. The size comes from the first stage of equal
// sides, and the change is in other stages.
func TestVisibleIsFound(t *testing.T) {
	for _, d := range []Design{
		{Suspect: Rule{Level: 0.1}, Later: 2, Rule: Rule{Level: 0.003, Tests: 1, Least: math.Log(1.02)}},
		{Suspect: Rule{Level: 0.1}, Later: 3, Rule: Rule{Level: 0.003, Tests: 10, Least: math.Log(1.02)}},
	} {
		for name, noise := range noises {
			for _, layoutSpread := range []float64{0, 0.003, 0.02} {
				for _, n := range []int{15, 20} {
					if n == 20 && layoutSpread != 0 {
						continue // few rounds are the harder case
					}
					r := rand.New(rand.NewPCG(1, 2))
					found, trials := 0, 100
					for range trials {
						visible := d.Visible(draw(r, n, 0, noise, 5, layoutSpread))
						first, later := draw(r, n, visible, noise, 5, layoutSpread), draw(r, d.Later*n, visible, noise, d.Later*5, layoutSpread)
						if d.Suspect.Beyond(first, SignedRank(first.Differences)) > 0 &&
							d.Rule.Beyond(later, SignedRank(later.Differences)*float64(d.Rule.Tests)) > 0 {
							found++
						}
					}
					share := float64(found) / float64(trials)
					t.Logf("%s, layouts differ by %v, %d rounds, %d later stages: found %.2f", name, layoutSpread, n, d.Later, share)
					require.Greater(t, share, 0.9, "%s, layouts differ by %v, %d rounds, %d later stages", name, layoutSpread, n, d.Later)
				}
			}
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

// TestMoreStagesSeeLessInOneLayout: without random layouts, stages differ only by their rounds.
func TestMoreStagesSeeLessInOneLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	s := Sample{Differences: draw(r, 20, 0, noises["normal"], 1, 0).Differences}
	before := math.Inf(1)
	for later := 1; later < 4; later++ {
		visible := Design{Suspect: Rule{Level: 0.1}, Later: later, Rule: Rule{Level: 0.003, Tests: 10, Least: 0.001}}.Visible(s)
		require.Less(t, visible, before, "%d later stages", later)
		before = visible
	}
}

// TestTooFewRoundsSeeNothing: seven pairs cannot reach 0.01, nor eight for twenty figures, nor four a suspicion of 0.1.
func TestTooFewRoundsSeeNothing(t *testing.T) {
	visible := func(n, later, tests int) float64 {
		return Design{Suspect: Rule{Level: 0.1}, Later: later, Rule: Rule{Level: 0.01, Tests: tests}}.Visible(Sample{Differences: make([]float64, n)})
	}
	require.True(t, math.IsInf(visible(7, 1, 1), 1))
	require.False(t, math.IsInf(visible(8, 1, 1), 1))
	require.True(t, math.IsInf(visible(8, 1, 20), 1))
	require.True(t, math.IsInf(visible(4, 3, 1), 1))
	require.False(t, math.IsInf(visible(5, 3, 1), 1))
}

// TestFewestRoundsAllowForDisturbedOnes: with so many rounds one of eight may have the other sign and be the greatest
// of all. With one less it may not.
func TestFewestRoundsAllowForDisturbedOnes(t *testing.T) {
	for _, level := range []float64{0.1, 0.01, 1e-4} {
		for _, stages := range []int{1, 3} {
			reached := func(rounds int) bool {
				d := make([]float64, rounds*stages)
				for i := range d {
					d[i] = float64(i + 1)
					if i >= len(d)-(len(d)+7)/8 {
						d[i] *= -1
					}
				}
				return SignedRank(d) < level
			}
			fewest := FewestRounds(level, stages)
			t.Logf("level %v, %d stages: %d rounds", level, stages, fewest)
			require.True(t, reached(fewest), "level %v, %d stages: %d rounds", level, stages, fewest)
			require.False(t, reached(fewest-1), "level %v, %d stages: %d rounds", level, stages, fewest)
		}
	}
}
