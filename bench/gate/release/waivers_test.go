package release

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/waiver"
)

func TestWaivedIsNoRegression(t *testing.T) {
	found := []Finding{
		{Tier: TierTime, Benchmark: "B", Metric: metricTime, Verdict: Regression},
		{Tier: TierExact, Benchmark: "B", Metric: metricAllocs, Verdict: Regression},
		{Tier: TierTime, Benchmark: "C", Metric: metricTime, Verdict: Pass},
	}
	unused := waive(found, []waiver.Waiver{{Benchmark: "B", Metric: metricTime, Until: "x"}, {Benchmark: "C", Metric: metricTime, Until: "x"}})
	require.Equal(t, []Verdict{Waived, Regression, Pass}, []Verdict{found[0].Verdict, found[1].Verdict, found[2].Verdict})
	require.Len(t, unused, 1)
	require.Equal(t, "C", unused[0].Benchmark)
}

// TestKeptWaiversHold: the file that is kept names benchmarks that exist.
func TestKeptWaiversHold(t *testing.T) {
	file, err := os.Open("../../../" + WaiverFile)
	require.NoError(t, err)
	defer file.Close()
	kept, err := waiver.Parse(file, waiverMetrics)
	require.NoError(t, err)
	for _, w := range kept {
		require.Contains(t, names(Benchmarks()), w.Benchmark)
	}
}
