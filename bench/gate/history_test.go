package gate

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
)

// runs keeps a history of releases, each slower than the one before by the next of the steps.
func runs(t *testing.T, steps ...float64) (g *gate) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "history")
	for i, step := range steps {
		f := Finding{Package: "p", Benchmark: "B", Figure: measure.Time, Head: 100, Verdict: Pass, Change: step, Low: step - 0.002, High: step + 0.002}
		g = &gate{
			Options: Options{History: name, Keep: true, Least: 0.02},
			report:  &Report{Base: fmt.Sprint("v", i), Head: fmt.Sprint("v", i+1), Findings: []Finding{f}},
		}
		require.NoError(t, g.history())
	}
	return g
}

// TestSlowDrift: four steps of 1 %, each a pass, are 3 % from the best that is kept.
func TestSlowDrift(t *testing.T) {
	g := runs(t, 0, 0.01, 0.01, 0.01)
	f := g.report.Findings[0]
	require.Equal(t, Regression, f.Verdict)
	require.Contains(t, f.Note, "+3.0 % slower than v1, the best entry of the history")
	require.Equal(t, ExitRegression, g.report.ExitCode())
}

// TestSmallStepsAreNoDrift: up and down again, and steps that the intervals do not exclude.
func TestSmallStepsAreNoDrift(t *testing.T) {
	require.Equal(t, Pass, runs(t, 0, 0.01, -0.01, 0.01).report.Findings[0].Verdict)
}

// TestAnImprovementIsTheNewBest: 5 % faster, and then back by half in two steps.
func TestAnImprovementIsTheNewBest(t *testing.T) {
	g := runs(t, 0, -0.05, 0.015, 0.015)
	require.Equal(t, Regression, g.report.Findings[0].Verdict)
	require.Contains(t, g.report.Findings[0].Note, "than v2, the best")
}

// TestChangePointIsNamed: after ten releases that are alike, one is 1.5 % slower and stays.
func TestChangePointIsNamed(t *testing.T) {
	steps := make([]float64, 20)
	steps[10] = 0.015
	g := runs(t, steps...)
	require.Equal(t, Pass, g.report.Findings[0].Verdict)
	require.Equal(t, []string{"history: p.B ns/op changed by +1.5 % at v11"}, g.report.Drift)
}

// TestChainIsKept: an entry multiplies the index of its base by the ratio, and adds the variances.
func TestChainIsKept(t *testing.T) {
	g := runs(t, 0, 0.01)
	kept, err := readHistory(g.History)
	require.NoError(t, err)
	require.Len(t, kept, 2)
	last := kept[1].Figures["p.B ns/op"]
	require.InDelta(t, 1.01, last.Index, 1e-12)
	require.InDelta(t, math.Sqrt(2)*0.00102, math.Sqrt(last.Variance), 1e-4)
	require.Equal(t, "v1", kept[1].Base)
}
