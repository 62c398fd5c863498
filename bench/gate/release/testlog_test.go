package release

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/props/lane"
)

// TestNotExercisedIsNoRegression: a property whose programs met the premise too seldom has not
// run. Any other failed test is a failure.
func TestNotExercisedIsNoRegression(t *testing.T) {
	seldom := []testEvent{
		{"output", "p", "TestPropG8Cancel", "    sightings_test.go:61: " + lane.NotExercised + "G8: 400 programs, of which 0 exercised it\n"},
		{"output", "p", "TestPropG8Cancel", "--- FAIL: TestPropG8Cancel (0.1s)\n"},
		{"fail", "p", "TestPropG8Cancel", ""},
		{"output", "p", "", "FAIL\n"},
		{"fail", "p", "", ""},
		{"pass", "q", "TestPropG9", ""},
		{"pass", "q", "", ""},
	}
	for name, c := range map[string]struct {
		more []testEvent
		want Verdict
		note string
	}{
		"nothing else":  {nil, NotRun, "not exercised: G8: 400 programs"},
		"a violation":   {[]testEvent{{"output", "p", "TestPropG9", "G9 a future never ended"}, {"fail", "p", "TestPropG9", ""}}, Failed, "a future never ended"},
		"a subtest":     {[]testEvent{{"fail", "p", "TestPropG9/x", ""}, {"fail", "p", "TestPropG9", ""}}, Failed, "TestPropG9/x"},
		"a leak":        {[]testEvent{{"output", "q", "", "goleak: Errors"}, {"fail", "q", "", ""}}, Failed, "goleak: Errors"},
		"a build":       {[]testEvent{{"build-output", "", "", "undefined: x"}, {"build-fail", "", "", ""}, {"fail", "r", "", ""}}, Failed, "undefined: x"},
		"not in a test": {[]testEvent{{"output", "q", "TestX", "panic: not exercised: G8"}, {"fail", "q", "TestX", ""}}, Failed, "panic: not exercised"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict, note := readTestLog(lines(t, append(seldom, c.more...))).verdict()
			require.Equal(t, c.want, verdict)
			require.Contains(t, note, c.note)
		})
	}
	verdict, note := readTestLog([]byte("go: cannot find main module\n")).verdict()
	require.Equal(t, Failed, verdict)
	require.Contains(t, note, "cannot find main module")
}

func lines(t *testing.T, events []testEvent) []byte {
	t.Helper()
	var text []byte
	for _, e := range events {
		line, err := json.Marshal(e)
		require.NoError(t, err)
		text = append(append(text, line...), '\n')
	}
	return text
}

// TestPropertiesOfAModule runs the check as the gate does, on a module with a property that
// passes, one whose programs met the premise too seldom, and one that fails.
func TestPropertiesOfAModule(t *testing.T) {
	for _, c := range []struct {
		body string
		want Verdict
		note string
	}{
		{"", Pass, ""},
		{`t.Log("G8: exercised by 0 of 400 programs"); t.Error("not exercised: G8: 400 programs, of which 0 exercised it")`, NotRun, "not exercised: G8: 400 programs"},
		{`t.Error("G8 a body began")`, Failed, "G8 a body began"},
		{`panic("out of luck")`, Failed, "out of luck"},
	} {
		root := module(t)
		edit(t, root, filepath.Join("bench", "bench_test.go"), "func TestPropNothing(t *testing.T) {}", "func TestPropNothing(t *testing.T) { "+c.body+" }")
		f, err := checks[0].run(t.Context(), root)
		require.NoError(t, err)
		require.Equal(t, c.want, f.Verdict, f.Note)
		require.Contains(t, f.Note, c.note)
		report := Report{Findings: []Finding{{Tier: TierExact, Verdict: Pass}, f}}
		require.Equal(t, map[Verdict]int{Pass: ExitPass, NotRun: ExitInconclusive, Failed: ExitRegression}[c.want], report.ExitCode())
		if c.want == NotRun {
			require.Contains(t, report.Verdict(), "INCONCLUSIVE: not everything was run; NOT RUN: properties")
		}
	}
}
