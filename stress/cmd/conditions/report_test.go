package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// small is a report of two binaries and two conditions, with these verdicts.
func small(t *testing.T, verdicts ...string) *report {
	binaries := []binary{{Package: "p/one"}, {Package: "p/two"}}
	conditions := []condition{{Name: "plain"}, {Name: "buffers-small"}}
	r := newReport(t.Context(), settings{conditions: conditions}, binaries)
	require.Equal(t, 4, r.count(notRun), "what nobody has run is not run")
	for i, v := range verdicts {
		c := cell{Verdict: v}
		switch v {
		case fail:
			c.Reason, c.Failed, c.Output = "1 tests failed", []string{"TestB/c"}, "out/conditions/x.txt"
		case notRun:
			c.Reason = "no namespaces"
		}
		r.set(binaries[i/2], conditions[i%2], c)
	}
	return r
}

// TestExitCodes: only -strict makes an error of what was not run, and nothing makes a
// pass of it.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdicts        []string
		code, strict    int
		passes, summary string
	}{
		{[]string{pass, pass, pass, pass}, exitPass, exitPass, "", "4 pass, 0 FAIL, 0 NOT RUN"},
		{[]string{pass, notRun, pass, pass}, exitPass, exitNotRun, "", "3 pass, 0 FAIL, 1 NOT RUN"},
		{[]string{pass, notRun, fail, pass}, exitFail, exitFail, "", "2 pass, 1 FAIL, 1 NOT RUN"},
		{nil, exitPass, exitNotRun, "", "0 pass, 0 FAIL, 4 NOT RUN"},
	} {
		r := small(t, c.verdicts...)
		require.Equal(t, c.code, r.exitCode(false), "%v", c.verdicts)
		require.Equal(t, c.strict, r.exitCode(true), "%v", c.verdicts)
		var b bytes.Buffer
		r.print(&b)
		require.Contains(t, b.String(), c.summary)
	}
}

func TestTable(t *testing.T) {
	r := small(t, pass, notRun, fail, pass)
	r.Cells[0].Skipped = []string{"TestIPv6"}
	var b bytes.Buffer
	r.print(&b)
	require.Equal(t, `       plain    buffers-small
p/one  pass     NOT RUN      
p/two  FAIL     pass         

FAIL p/two, plain: 1 tests failed: TestB/c
     out/conditions/x.txt

NOT RUN p/one, buffers-small: no namespaces

SKIPPED p/one, plain: TestIPv6

2 pass, 1 FAIL, 1 NOT RUN
`, b.String())
}

// TestSchema pins the names that readers of conditions.json rely on.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conditions.json")
	require.NoError(t, small(t, pass, notRun, fail, pass).write(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var top map[string]any
	require.NoError(t, json.Unmarshal(data, &top))
	require.EqualValues(t, 1, top["schema"])
	for _, name := range []string{"commit", "go", "kernel", "cpus", "race", "short", "conditions", "binaries", "cells"} {
		require.Contains(t, top, name)
	}
	second := top["cells"].([]any)[1].(map[string]any)
	for name, want := range map[string]any{"package": "p/one", "condition": "buffers-small", "verdict": "not run", "reason": "no namespaces"} {
		require.Equal(t, want, second[name])
	}
}
