package release

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPValue(t *testing.T) {
	same := pValue([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6})
	apart := pValue([]float64{1, 2, 3, 4, 5, 6}, []float64{11, 12, 13, 14, 15, 16})
	require.Greater(t, same, 0.9)
	require.InDelta(t, 2.0/924, apart, 1e-9, "two of the 12-over-6 orders are as extreme")
	require.Equal(t, 1.0, pValue([]float64{5, 5}, []float64{5, 5}), "nothing differs")
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
