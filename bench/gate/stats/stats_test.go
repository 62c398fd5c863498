package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// depression are the differences of Hollander and Wolfe's Table 3.1, Hamilton's depression
// scale before and after therapy.
var depression = []float64{
	0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68, 1.29 - 1.88, 1.06 - 1.55, 3.14 - 3.06, 1.29 - 1.30,
}

// TestSignedRankOfHollanderAndWolfe: their T is 5 of 45, one-sided p 0.0195, and their
// estimate of the treatment effect -0.46.
func TestSignedRankOfHollanderAndWolfe(t *testing.T) {
	require.InDelta(t, 2*0.01953125, SignedRank(depression), 1e-12)
	require.InDelta(t, -0.46, Shift(depression), 1e-9)
	low, high := ShiftInterval(depression, 0.96)
	require.InDelta(t, -0.786, low, 0.002)
	require.InDelta(t, -0.010, high, 0.002)
}

// TestSignedRankTables: the critical values of Wilcoxon's table: the greatest sum of the
// lesser ranks that is significant at 5 % and 1 %, two-sided.
func TestSignedRankTables(t *testing.T) {
	for _, c := range []struct {
		n, five, one int
	}{{8, 3, 0}, {10, 8, 3}, {12, 13, 7}, {15, 25, 15}, {20, 52, 37}, {25, 89, 68}} {
		for level, critical := range map[float64]int{0.05: c.five, 0.01: c.one} {
			require.LessOrEqual(t, SignedRank(ranksWithSum(c.n, critical)), level, "n %d, sum %d", c.n, critical)
			require.Greater(t, SignedRank(ranksWithSum(c.n, critical+1)), level, "n %d, sum %d", c.n, critical+1)
		}
	}
}

// TestCriticalSum: the table again, from the other end.
func TestCriticalSum(t *testing.T) {
	require.Equal(t, 8, criticalSum(10, 0.05))
	require.Equal(t, 37, criticalSum(20, 0.01))
	require.Equal(t, -1, criticalSum(7, 0.01))
	require.Equal(t, -1, criticalSum(0, 0.01))
}

// ranksWithSum returns 1 to n with signs such that the positive ones add up to sum.
func ranksWithSum(n, sum int) []float64 {
	d := make([]float64, n)
	for r := n; r >= 1; r-- {
		d[r-1] = -float64(r)
		if r <= sum {
			d[r-1], sum = float64(r), sum-r
		}
	}
	return d
}

func TestSignedRankOfTiesAndZeros(t *testing.T) {
	require.Equal(t, 1.0, SignedRank(nil))
	require.Equal(t, 1.0, SignedRank([]float64{0, 0}))
	require.InDelta(t, 2.0/8, SignedRank([]float64{1, 1, 1, 0}), 1e-12, "three of one sign, of eight")
	require.Equal(t, 1.0, SignedRank([]float64{1, -1, 1, -1}))
	require.Zero(t, Shift(nil))
}

// TestPair: a round without two times has no ratio.
func TestPair(t *testing.T) {
	require.InDeltaSlice(t, []float64{math.Log(2), 0}, Pair([]float64{1, 0, 3}, []float64{2, 5, 3}), 1e-12)
}

// TestHolm: the third row is corrected by hand from Holm's rule.
func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.02}, []float64{0.02}},
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.001, 0.001}, []float64{0.002, 0.002}},
	} {
		require.InDeltaSlice(t, c.want, Holm(c.p), 1e-12, "%v", c.p)
	}
}

func TestQuantilesAndSpread(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	require.Equal(t, 2.5, Median(v))
	require.Equal(t, 1.0, Quantile(v, 0))
	require.Equal(t, 4.0, Quantile(v, 1))
	require.Equal(t, []float64{4, 1, 3, 2}, v, "the caller's order stays")
	require.InDelta(t, 1.959964, NormalQuantile(0.975), 1e-6)
	require.InDelta(t, 1.4826, Spread([]float64{1, 2, 3, 4, 1000}), 1e-9, "one far value does not move it")
	require.Zero(t, Spread([]float64{1}))
}

// nile is the annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m³ (G. W. Cobb,
// Biometrika 65, 1978).
var nile = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
	1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
	831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759,
	781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
	744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}

// TestChangePointOfTheNile: the flow fell after 1898, when the dam was begun: its 28th year.
func TestChangePointOfTheNile(t *testing.T) {
	require.InDelta(t, 919.35, mean(nile), 1e-9, "the series is the published one")
	require.Equal(t, []int{28}, ChangePoints(nile, 0.01))
}

func TestChangePointsOfStepsAndOfNone(t *testing.T) {
	steps := make([]float64, 60)
	for i := range steps {
		steps[i] = float64(i/20) + 0.1*math.Sin(float64(7*i))
	}
	require.Equal(t, []int{20, 40}, ChangePoints(steps, 0.01))
	level := make([]float64, 60)
	for i := range level {
		level[i] = math.Sin(float64(7 * i))
	}
	require.Empty(t, ChangePoints(level, 0.01))
	require.Empty(t, ChangePoints([]float64{1, 1, 1, 9, 9, 9}, 0.01), "too short")
	require.Empty(t, ChangePoints(make([]float64, 20), 0.01), "no change at all")
}

// TestNth: as sorting says, also with equal values.
func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		v := make([]float64, 1+r.IntN(40))
		for i := range v {
			v[i] = float64(r.IntN(20))
		}
		k := r.IntN(len(v))
		sorted := slices.Sorted(slices.Values(v))
		require.Equal(t, sorted[k], nth(v, k))
		require.Equal(t, sorted, slices.Sorted(slices.Values(v)))
	}
}
