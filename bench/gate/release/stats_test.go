package release

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.02}, []float64{0.02}},
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}}, // Holm's own example
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.001, 0.001}, []float64{0.002, 0.002}},
	} {
		require.InDeltaSlice(t, c.want, holm(c.p), 1e-12, "%v", c.p)
	}
}

func TestPValue(t *testing.T) {
	same := pValue([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6})
	apart := pValue([]float64{1, 2, 3, 4, 5, 6}, []float64{11, 12, 13, 14, 15, 16})
	require.Greater(t, same, 0.9)
	require.InDelta(t, 2.0/924, apart, 1e-9, "two of the 12-over-6 orders are as extreme")
	require.Equal(t, 1.0, pValue([]float64{5, 5}, []float64{5, 5}), "nothing differs")
}

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	require.Equal(t, 2.5, median(v))
	require.Equal(t, 1.0, quantile(v, 0))
	require.Equal(t, 4.0, quantile(v, 1))
	require.Equal(t, []float64{4, 1, 3, 2}, v, "the caller's order stays")
}

func TestNoiseGrowsWithTheSpread(t *testing.T) {
	quiet, loud := make([]float64, 20), make([]float64, 20)
	again := make([]float64, 20)
	for i := range quiet {
		quiet[i], loud[i], again[i] = 100+float64(i%3), 100+float64(40*(i%3)), 100+float64((i+1)%3)
	}
	require.Less(t, noise(quiet, again), 0.02)
	require.Greater(t, noise(loud, again), 0.2)
	require.Equal(t, noise(loud, again), noise(loud, again), "the draws are the same every time")
	require.Zero(t, noise(quiet, quiet))
	require.True(t, math.IsInf(relative(0, 1), 1))
	require.Zero(t, relative(0, 0))
}
