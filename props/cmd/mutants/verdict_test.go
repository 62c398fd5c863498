package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"eventide/props/lane"

	"github.com/stretchr/testify/require"
)

func TestKillOf(t *testing.T) {
	for name, c := range map[string]struct {
		result lane.Result
		want   kill
		found  bool
	}{
		"nothing":                  {lane.Result{Runs: 9}, kill{}, false},
		"its own":                  {failed("G3", "a", "G12", "b"), kill{by: "G12", what: "b"}, true},
		"the first of others":      {failed("G10", "a", "G5", "b"), kill{by: "G5", what: "b"}, true},
		"a number and no number":   {failed("", "a", "G5", "b"), kill{by: "G5", what: "b"}, true},
		"the harness":              {failed("", "a"), kill{by: byCheck, what: "a"}, true},
		"a hang":                   {lane.Result{Ending: lane.Hung}, kill{by: byHang, what: "the lane said nothing more after it had begun runs"}, true},
		"a crash":                  {lane.Result{Ending: lane.Crashed, Output: "x\npanic: y\nz\n"}, kill{by: byCrash, what: "panic: y"}, true},
		"a fatal error":            {lane.Result{Ending: lane.Crashed, Output: "fatal error: y\n"}, kill{by: byCrash, what: "fatal error: y"}, true},
		"a crash without a word":   {lane.Result{Ending: lane.Crashed}, kill{by: byCrash, what: "no word of why"}, true},
		"a violation, then a hang": {lane.Result{Failed: map[string]string{"G5": "b"}, Ending: lane.Hung}, kill{by: "G5", what: "b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := killOf(c.result, "G12")
			require.Equal(t, c.found, found)
			require.Equal(t, c.want, got)
		})
	}
}

// failed returns a result with the given violations: guarantee, text, ....
func failed(pairs ...string) lane.Result {
	r := lane.Result{Runs: 9, Failed: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		r.Failed[pairs[i]] = pairs[i+1]
	}
	return r
}

func TestPredicateOf(t *testing.T) {
	for text, want := range map[string]string{
		"G12 the loop never sleeps on work: asleep at #5":                    "V1",
		"G5 each call takes effect at one moment: no order explains it":      "REF3",
		"G9 every future ends: the future of task 3 was never completed":     "S2",
		"G9 a listener is called once: listener 1 of task 3 was called":      "S1",
		"G6 hooks run in the order added: #12: Begin(hook 3) is not allowed": "REF1",
		"REF1 : #12: the model is lost":                                      "REF1",
		"G21 a group ends as one: done, and the state is Shutdown":           "",
	} {
		require.Equal(t, want, predicateOf(text), text)
	}
}

func example() report {
	return newReport([]entry{
		{Name: "g3-no-final-drain", Guarantee: "G3", Target: "loop", Verdict: killed, By: "G3", Predicate: "S2", Lane: "virtual", Schedules: 209, Seconds: 0.2, Stress: killed, Killers: []string{"G3"}, Unique: true},
		{Name: "g12-short", Guarantee: "G12", Target: "loop", Verdict: killed, By: byHang, Lane: "virtual", Schedules: 12, Seconds: 12.34, Stress: survived, Killers: []string{"G12", "G15"}},
		{Name: "g6-a-name-that-is-rather-long", Guarantee: "G6", Target: "hooks", Verdict: survived, Lane: "virtual", Schedules: 123456, Seconds: 100, Stress: notRun},
		{Name: "g1-same", Guarantee: "G1", Target: "groups", Verdict: equivalent, Lane: "virtual", Schedules: 7, Seconds: 1, Reason: "it is dead code"},
	})
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	example().table(&b)
	want, err := os.ReadFile(filepath.Join("testdata", "table.txt"))
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	b.Reset()
	report{}.table(&b)
	require.Empty(t, b.String())
}

func TestScoreAndExitCode(t *testing.T) {
	require.InDelta(t, 2.0/3, example().Score, 1e-9)
	require.Equal(t, 1, example().exitCode())
	good := newReport(example().Mutants[:2])
	require.InDelta(t, 1, good.Score, 0)
	require.Zero(t, good.exitCode())
	require.Zero(t, newReport(nil).Score, "nothing run is no success")
	same := entry{Verdict: equivalent}
	for n, want := range map[int]int{5: 0, 6: 1} { // of 100 and more
		many := newReport(append(slices.Repeat(good.Mutants, 50), slices.Repeat([]entry{same}, n)...))
		require.InDelta(t, 1, many.Score, 0)
		require.Equal(t, want, many.exitCode(), "%d equivalent", n)
	}
}

// TestSchema pins the names that readers of mutants.json rely on.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "mutants.json")
	require.NoError(t, example().write(path))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var top map[string]any
	require.NoError(t, json.Unmarshal(data, &top))
	require.EqualValues(t, 1, top["schema"])
	require.Contains(t, top, "score")
	first := top["mutants"].([]any)[0].(map[string]any)
	for _, name := range []string{"name", "target", "stands_for", "verdict", "by", "lane", "schedules", "seconds", "reason", "stress", "killers", "unique"} {
		require.Contains(t, first, name)
	}
	back, err := readReport(path)
	require.NoError(t, err)
	require.Equal(t, example(), back)
}

// TestResultHasNoStack: a kept result names no file of the machine that made it.
func TestResultHasNoStack(t *testing.T) {
	var e entry
	e.killed(kill{by: "G14", what: "G14: a panic left a goroutine: boom\ngoroutine 46 [running]:\nmain.f()\n\t/somewhere/f.go:1 +0x1"})
	require.Equal(t, "G14: a panic left a goroutine: boom", e.Reason)
}
