package release

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/measure"
)

// TestExactFigures plants one more of each, and less than the tolerance.
func TestExactFigures(t *testing.T) {
	for _, c := range []struct {
		metric     string
		base, head []float64
		want       Verdict
	}{
		{metricAllocs, []float64{0, 0}, []float64{1, 1}, Regression},
		{metricAllocs, []float64{0, 0}, []float64{1.0 / 64, 1.0 / 64}, Regression},
		{metricAllocs, []float64{0, 0.001}, []float64{0.002, 0.004}, Pass},
		{metricAllocs, []float64{1, 1}, []float64{0, 0}, Better},
		{metricBytes, []float64{48, 48}, []float64{64, 64}, Regression},
		{metricWakes, []float64{1, 1}, []float64{2, 2}, Regression},
		{metricParks, []float64{1, 1}, []float64{2, 2}, Regression},
		{metricSyscalls, []float64{0, 0}, []float64{1, 1}, Regression},
		{metricSyscalls, []float64{10, 10.2}, []float64{10.4, 10.5}, Pass},
		{metricInstructions, []float64{1000, 1004}, []float64{1030, 1031}, Regression},
		{metricInstructions, []float64{1000, 1004}, []float64{1010, 1060}, Pass},
		{metricInstructions, []float64{160, 170}, []float64{172, 174}, Pass}, // four more, of five that may be
		{metricGoroutines, []float64{0, 0}, []float64{1, 1}, Regression},
		{metricGoroutines, []float64{0, 0}, []float64{0, 1}, Pass}, // does not repeat
	} {
		f := judgeExact("B", c.metric, c.base, c.head)
		require.Equal(t, c.want, f.Verdict, "%s from %v to %v", c.metric, c.base, c.head)
	}
}

// TestSlopesForgetWhatAProcessNeeds: 500 allocations at the start are not the
// operations' own.
func TestSlopesForgetWhatAProcessNeeds(t *testing.T) {
	g := testGate(1)
	slopes, err := g.slopes(t.Context(), starting{3, 500}, g.benchmarks[0])
	require.NoError(t, err)
	require.InDelta(t, 3, slopes[metricAllocs], 1e-9)
}

const straceOutput = `strace: Process 4878 attached
PASS
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 52.58    0.665914         148      4496       259 futex
 24.67    0.312382          76      4090           nanosleep
 18.31    0.231914          59      3917           epoll_pwait
  4.21    0.053268          26      2010           write
------ ----------- ----------- --------- --------- ------------------
100.00    1.263478         102     14513       259 total
`

func TestToolsAreRead(t *testing.T) {
	n, err := countSyscalls([]byte(straceOutput))
	require.NoError(t, err)
	require.Equal(t, 3917.0+2010, n)
	_, err = countSyscalls([]byte("strace: ptrace: Operation not permitted"))
	require.ErrorContains(t, err, "not permitted")

	n, err = countInstructions([]byte("==1== Events    : Ir\n==1== Collected : 7842259\n"))
	require.NoError(t, err)
	require.Equal(t, 7842259.0, n)
	_, err = countInstructions(nil)
	require.Error(t, err)
}

// TestMissingToolIsSaid: its figures are not run, and the verdict names it.
func TestMissingToolIsSaid(t *testing.T) {
	g := testGate(1)
	g.tools = []tool{{metric: metricInstructions, missing: "valgrind is not installed"}}
	side := newFake(1, map[string]float64{metricTime: 100, metricAllocs: 0})
	found, err := g.exactTier(t.Context(), g.benchmarks[0], side, side)
	require.NoError(t, err)
	report := Report{Findings: found}
	require.Equal(t, 1, verdicts(found)[NotRun])
	require.Equal(t, ExitPass, report.ExitCode())
	require.Contains(t, report.Verdict(), "NOT RUN: exact, instructions/op: valgrind is not installed")
	report.Strict = true
	require.Equal(t, ExitInconclusive, report.ExitCode())
}

// TestToolFailureIsTheSides: a tool that prints something else is no zero.
func TestToolFailureIsTheSides(t *testing.T) {
	g := testGate(1)
	g.tools = []tool{{metric: metricInstructions, count: func([]byte) (float64, error) { return 0, fmt.Errorf("garbled") }}}
	side := newFake(1, map[string]float64{metricTime: 100})
	_, err := g.exactTier(t.Context(), g.benchmarks[0], side, side)
	require.ErrorContains(t, err, "garbled")
}

const leakOutput = `goleak: Errors on successful test run: found unexpected goroutines:
[Goroutine 21 in state chan receive, with eventide/bench.a on top of the stack:
eventide/bench.a()
 Goroutine 22 in state select, with eventide/bench.b on top of the stack:
]`

func TestParse(t *testing.T) {
	r, err := parse([]byte("goos: linux\nBenchmarkRoundTrip/impl=core-2  2000  694.2 ns/op  761.0 p50-ns  0.5000 mallocs/op\n" +
		"BenchmarkRoundTrip/impl=core-2  2000  600 ns/op  765 p50-ns  0.5000 mallocs/op\nPASS\n"))
	require.NoError(t, err)
	require.Equal(t, 2000, r.ops)
	require.InDelta(t, 600, r.metrics[metricTime], 1e-9, "the fastest")
	require.InDelta(t, 763, r.metrics[metricP50], 1e-9, "the median")
	require.InDelta(t, 0.5, r.metrics[metricAllocs], 1e-9)
	_, err = parse([]byte("PASS\n"))
	require.ErrorIs(t, err, measure.ErrNoBenchmark)
	require.Equal(t, 2, goroutinesLeft(nil, []byte(leakOutput)))
	require.Equal(t, 0, goroutinesLeft([]byte("Goroutine 3 in state running")))
	require.Equal(t, `^BenchmarkExecute$/^impl=core$/^producers=1$`, measure.Pattern("Execute/impl=core/producers=1"))
}

// TestExactSuspectsAreConfirmed: a figure that was high in the first two runs only is
// no regression; one that stays high is, after all tries.
func TestExactSuspectsAreConfirmed(t *testing.T) {
	for _, c := range []struct {
		high int // requests of head that have one more; two make a slope
		want Verdict
		runs int
	}{
		{0, Pass, 2 * exactRuns},
		{2 * exactRuns, Pass, 4 * exactRuns},
		{1000, Regression, 2 * exactRuns * exactTries},
	} {
		g := testGate(1)
		base, head := newFake(1, map[string]float64{metricAllocs: 1}), newFake(2, map[string]float64{metricAllocs: 1})
		head.rise = c.high
		found, err := g.exactTier(t.Context(), g.benchmarks[0], base, head)
		require.NoError(t, err)
		require.Equal(t, c.want, found[0].Verdict, "%d high runs: %+v", c.high, found)
		require.Equal(t, c.runs, head.runs)
	}
}
