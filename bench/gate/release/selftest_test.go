package release

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plantedFake is a side with the regressions that its environment plants, except those that
// blind names.
func plantedFake(blind string) func(env ...string) subject {
	seed := uint64(100)
	return func(env ...string) subject {
		seed++
		kind, turns := strings.TrimPrefix(env[0], plantEnv+"="), 0
		if len(env) > 1 {
			turns, _ = strconv.Atoi(strings.TrimPrefix(env[1], plantSpinEnv+"="))
		}
		side := newFake(seed, selfFigures())
		switch {
		case kind == blind:
		case kind == "alloc":
			side.figures[metricAllocs]++
		case kind == "wake":
			side.figures[metricWakes]++
		case kind == "spin":
			side.figures[metricTime] += float64(turns)
		}
		return side
	}
}

func selfFigures() map[string]float64 {
	return map[string]float64{metricTime: 100, metricAllocs: 0, metricWakes: 1}
}

// TestSelfTest: a gate that finds every planted regression is sound; a gate that misses one is
// broken, and names it.
func TestSelfTest(t *testing.T) {
	for _, blind := range []string{"", "alloc", "wake"} {
		g := testGate(1)
		g.tools = []tool{{metric: metricSyscalls, missing: "left out of this test"}}
		found, err := g.selfTest(t.Context(), newFake(1, selfFigures()), plantedFake(blind))
		require.NoError(t, err)
		report := Report{Findings: found}
		require.Equal(t, blind != "", report.broken(), "blind for %q: %+v", blind, found)
		for _, f := range found {
			want := Pass
			switch {
			case blind != "" && f.Metric == "+1 "+blind:
				want = Failed
			case f.Metric == "+1 syscall":
				want = NotRun
			}
			require.Equal(t, want, f.Verdict, "blind for %q: %s", blind, f.Metric)
		}
		if blind != "" {
			require.Equal(t, ExitBroken, report.ExitCode())
		}
	}
}

// TestSelfTestSeesSlowness: the planted slowness is 25 %; a self-test without it fails.
func TestSelfTestSeesSlowness(t *testing.T) {
	g := testGate(1)
	head := newFake(1, selfFigures())
	slow, err := g.calibrateSpin(t.Context(), head, plantedFake(""))
	require.NoError(t, err)
	require.InDelta(t, 125, slow.(*fake).figures[metricTime], 3)
	times, err := g.timeTiers(t.Context(), []Benchmark{inLoop}, head, slow)
	require.NoError(t, err)
	require.Equal(t, Pass, caught("+25 % time", metricTime, times).Verdict)
	times, err = g.timeTiers(t.Context(), []Benchmark{inLoop}, head, newFake(3, selfFigures()))
	require.NoError(t, err)
	require.Equal(t, Failed, caught("+25 % time", metricTime, times).Verdict)
	_, err = g.calibrateSpin(t.Context(), head, plantedFake("spin"))
	require.ErrorContains(t, err, "take no time")
}

// TestRestlessSelfTestIsBroken: head differs from head, whatever the reason.
func TestRestlessSelfTestIsBroken(t *testing.T) {
	g := testGate(1)
	head := newFake(1, selfFigures())
	exact := 2 * 2 * exactRuns // what the exact figures take comes first
	head.drift = func(run int) float64 {
		if leg := (run - exact) % 6; leg == 2 || leg == 3 { // base's second leg, forth and back
			return 1.3
		}
		return 1
	}
	found, err := g.selfEqual(t.Context(), head)
	require.NoError(t, err)
	require.Equal(t, Failed, found[0].Verdict, "%+v", found)
	require.Equal(t, ExitBroken, Report{Findings: found}.ExitCode())
}
