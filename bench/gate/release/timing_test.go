package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// seeds of the fakes: every table row runs with each.
var seeds = []uint64{1, 2, 3, 4, 5}

// TestTimes judges sides with and without planted slowness.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head map[string]float64
		want       Verdict
	}{
		{"the same", map[string]float64{metricTime: 100}, map[string]float64{metricTime: 100}, Pass},
		{"25 % slower", map[string]float64{metricTime: 100}, map[string]float64{metricTime: 125}, Regression},
		{"12 % slower", map[string]float64{metricTime: 100}, map[string]float64{metricTime: 112}, Regression},
		{"2 % slower: below what matters", map[string]float64{metricTime: 100}, map[string]float64{metricTime: 102}, Pass},
		{"25 % faster", map[string]float64{metricTime: 125}, map[string]float64{metricTime: 100}, Better},
		{"p99 at 1.5", map[string]float64{metricP50: 100, metricP99: 100}, map[string]float64{metricP50: 100, metricP99: 150}, Pass},
		{"p99 at 3", map[string]float64{metricP50: 100, metricP99: 100}, map[string]float64{metricP50: 100, metricP99: 300}, Regression},
	} {
		for _, seed := range seeds {
			g := testGate(1)
			found, err := g.timeTiers(t.Context(), g.benchmarks, newFake(2*seed, c.base), newFake(2*seed+1, c.head))
			require.NoError(t, err)
			require.Positive(t, verdicts(found)[c.want], "%s, seed %d: %+v", c.name, seed, found)
			if c.want == Pass {
				require.Len(t, found, verdicts(found)[Pass], "%s, seed %d: %+v", c.name, seed, found)
			}
		}
	}
}

// TestEqualSidesPass: forty benchmarks that are the same give no alarm of any kind.
func TestEqualSidesPass(t *testing.T) {
	for _, seed := range seeds {
		g := testGate(40)
		side := map[string]float64{metricTime: 100}
		found, err := g.timeTiers(t.Context(), g.benchmarks, newFake(2*seed, side), newFake(2*seed+1, side))
		require.NoError(t, err)
		require.Equal(t, map[Verdict]int{Pass: 40}, verdicts(found), "seed %d", seed)
	}
}

// TestRestlessMachineIsInconclusive: base's second leg is always slower, as it would
// be if something ran beside every third process.
func TestRestlessMachineIsInconclusive(t *testing.T) {
	base, head := newFake(1, map[string]float64{metricTime: 100}), newFake(2, map[string]float64{metricTime: 100})
	base.drift = func(run int) float64 {
		if legOfRun := run % 4; legOfRun == 1 || legOfRun == 2 { // the last leg forth is the first one back
			return 1.3
		}
		return 1
	}
	g := testGate(1)
	found, err := g.timeTiers(t.Context(), g.benchmarks, base, head)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, found[0].Verdict, "%+v", found)
	require.Equal(t, ExitInconclusive, Report{Findings: found}.ExitCode())
}

// TestDriftIsNoRegression: everything becomes slower by a half in the course of the
// rounds, the same for both sides.
func TestDriftIsNoRegression(t *testing.T) {
	base, head := newFake(1, map[string]float64{metricTime: 100}), newFake(2, map[string]float64{metricTime: 100})
	base.drift = func(run int) float64 { return 1 + float64(run)/80 }
	head.drift = func(run int) float64 { return 1 + float64(run)/40 }
	g := testGate(1)
	found, err := g.timeTiers(t.Context(), g.benchmarks, base, head)
	require.NoError(t, err)
	require.Equal(t, Pass, found[0].Verdict, "%+v", found)
}

// TestSuspectsAreConfirmed: a figure that was slow in the first rounds only is no regression,
// because the machine was slow.
func TestSuspectsAreConfirmed(t *testing.T) {
	base, head := newFake(1, map[string]float64{metricTime: 100}), newFake(2, map[string]float64{metricTime: 100})
	head.drift = func(run int) float64 {
		if run < DefaultRounds {
			return 1.5
		}
		return 1
	}
	g := testGate(1)
	found, err := g.timeTiers(t.Context(), g.benchmarks, base, head)
	require.NoError(t, err)
	require.Equal(t, Pass, found[0].Verdict)
	require.Contains(t, found[0].Note, "not confirmed")
	require.Equal(t, 2*DefaultRounds, head.runs)
}

func TestMissingBenchmarkIsNotCompared(t *testing.T) {
	base, head := newFake(1, map[string]float64{metricTime: 100}), newFake(2, map[string]float64{metricTime: 100})
	base.only = "B/n=1"
	g := testGate(2)
	found, err := g.timeTiers(t.Context(), g.benchmarks, base, head)
	require.NoError(t, err)
	require.Equal(t, map[Verdict]int{Pass: 1, NotCompared: 1}, verdicts(found))
	head.only = "B/n=0"
	found, err = g.timeTiers(t.Context(), g.benchmarks, base, head)
	require.NoError(t, err)
	require.Equal(t, map[Verdict]int{NotCompared: 2}, verdicts(found))
	require.Equal(t, ExitInconclusive, Report{Findings: found}.ExitCode(), "nothing was compared")
}

// TestManyFiguresAreCorrectedFor: a difference that would be a regression alone is
// what chance gives one of a hundred figures.
func TestManyFiguresAreCorrectedFor(t *testing.T) {
	suspect, quiet := samples{benchmark: "B", metric: metricTime}, samples{benchmark: "C", metric: metricTime}
	for i := range DefaultRounds {
		v := 100 + float64(i)
		suspect.base, suspect.head = append(suspect.base, v), append(suspect.head, v+7)
		quiet.base, quiet.head = append(quiet.base, v), append(quiet.head, v)
	}
	suspect.again, quiet.again = suspect.base, quiet.base
	require.Equal(t, Regression, judgeTimes([]samples{suspect})[0].Verdict)
	hundred := []samples{suspect}
	for range 99 {
		hundred = append(hundred, quiet)
	}
	require.Equal(t, Pass, judgeTimes(hundred)[0].Verdict)
}
