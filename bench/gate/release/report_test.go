package release

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench"
)

func TestExitCodes(t *testing.T) {
	pass := Finding{Tier: TierTime, Metric: metricTime, Verdict: Pass}
	with := func(tier string, v Verdict) Finding { return Finding{Tier: tier, Metric: metricTime, Verdict: v} }
	for _, c := range []struct {
		name   string
		report Report
		want   int
	}{
		{"pass", Report{Findings: []Finding{with(TierSelfTest, Pass), pass}}, ExitPass},
		{"better", Report{Findings: []Finding{with(TierTime, Better)}}, ExitPass},
		{"waived", Report{Findings: []Finding{with(TierTime, Waived)}}, ExitPass},
		{"slower", Report{Findings: []Finding{pass, with(TierTime, Regression)}}, ExitRegression},
		{"slower in the tail", Report{Findings: []Finding{pass, with(TierLatency, Regression)}}, ExitRegression},
		{"more allocations", Report{Findings: []Finding{pass, with(TierExact, Regression)}}, ExitRegression},
		{"a property fails", Report{Findings: []Finding{pass, with(TierProperties, Failed)}}, ExitRegression},
		{"a mutant survives", Report{Findings: []Finding{pass, with(TierMutants, Failed)}}, ExitRegression},
		{"a property is not exercised", Report{Findings: []Finding{pass, with(TierProperties, NotRun)}}, ExitInconclusive},
		{"a property is not exercised, and slower", Report{Findings: []Finding{with(TierProperties, NotRun), with(TierTime, Regression)}}, ExitRegression},
		{"restless", Report{Findings: []Finding{pass, with(TierTime, Inconclusive)}}, ExitInconclusive},
		{"restless and slower", Report{Findings: []Finding{with(TierTime, Regression), with(TierTime, Inconclusive)}}, ExitInconclusive},
		{"restless, but more allocations", Report{Findings: []Finding{with(TierExact, Regression), with(TierTime, Inconclusive)}}, ExitRegression},
		{"a part only", Report{Partial: true, Findings: []Finding{pass}}, ExitInconclusive},
		{"a part only, and slower", Report{Partial: true, Findings: []Finding{with(TierTime, Regression)}}, ExitRegression},
		{"nothing compared", Report{Findings: []Finding{with(TierSelfTest, Pass), with(TierTime, NotCompared)}}, ExitInconclusive},
		{"empty", Report{}, ExitInconclusive},
		{"broken", Report{Findings: []Finding{with(TierSelfTest, Failed), with(TierExact, Regression)}}, ExitBroken},
	} {
		require.Equal(t, c.want, c.report.ExitCode(), c.name)
	}
}

// TestCaughtOrNot: the self-test fails if a planted regression passes, is taken for noise, or is
// not measured.
func TestCaughtOrNot(t *testing.T) {
	for verdict, want := range map[Verdict]Verdict{
		Regression: Pass, Pass: Failed, Better: Failed, Inconclusive: Failed, NotRun: NotRun,
	} {
		f := caught("+1 alloc", metricAllocs, []Finding{{Metric: metricBytes, Verdict: Regression}, {Metric: metricAllocs, Verdict: verdict}})
		require.Equal(t, want, f.Verdict, "%s", verdict)
	}
	require.Equal(t, Failed, caught("+1 alloc", metricAllocs, []Finding{{Metric: metricBytes, Verdict: Regression}}).Verdict)
	require.True(t, Report{Findings: []Finding{caught("x", metricTime, nil)}}.broken())
}

func TestReports(t *testing.T) {
	r := Report{
		Schema: 1, Base: "abc", Head: "def-dirty", Go: "go1.26", Rounds: 20, UnusedWaivers: []string{"line 3: ns/op of B"},
		Findings: []Finding{
			{Tier: TierTime, Benchmark: "B", Metric: metricTime, Base: 100, Head: 130, Limit: 105, P: 0.001, Noise: 0.01, Verdict: Regression, Note: "confirmed | twice"},
			notRun(TierExact, "B", metricSyscalls, "strace is not installed"),
		},
	}
	var table, markdown, text strings.Builder
	require.NoError(t, r.WriteTable(&table))
	require.NoError(t, r.WriteMarkdown(&markdown))
	require.NoError(t, r.WriteJSON(&text))
	for _, want := range []string{"REGRESSION: B, ns/op: confirmed", "+30.0 %", "unused waiver, line 3", "NOT RUN: exact, syscalls/op: strace is not installed"} {
		require.Contains(t, table.String(), want)
	}
	require.Contains(t, markdown.String(), `confirmed \| twice`)
	require.Contains(t, markdown.String(), "# Release gate: REGRESSION: 1 findings; NOT RUN")
	var back Report
	require.NoError(t, json.Unmarshal([]byte(text.String()), &back))
	require.Equal(t, r, back)
}

// TestBenchmarksArePlanned: every workload of the project's own is gated, or left out
// by a rule that says why.
func TestBenchmarksArePlanned(t *testing.T) {
	all := names(Benchmarks())
	for _, want := range []string{
		"Execute/impl=core/producers=1", "Execute/impl=core-bounded/producers=64", "ExecuteInLoop/impl=core",
		"RoundTrip/impl=core", "ShutdownIdle/impl=core", "Stats/impl=core", "ScheduleCancel/impl=core/where=loop/timers=100",
		inLoop.Name, busyTrip.Name, "Shutdown/impl=core/tasks=10000", "TimerLateness/impl=core",
	} {
		require.Contains(t, all, want)
	}
	for _, g := range bench.Groups([]int{100, 10_000}) {
		for _, c := range g {
			if name := c.Name(); ours.MatchString(name) && !leftOut.MatchString(name) {
				require.Contains(t, all, name, "a workload without a plan")
			}
		}
	}
	for _, name := range all {
		require.NotRegexp(t, `impl=(channel|mutex|afterfunc|timer|unbuffered|goroutine|loop-blocking)`, name)
	}
}
