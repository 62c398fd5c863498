package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUsage: what no run can mean is refused before anything is built.
func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-seeds is 0, want at least 1":                       {"-mutants", "x", "-seeds", "0"},
		"-parallel is -1, want at least 1":                   {"-mutants", "x", "-parallel", "-1"},
		"-budget is -8s, want more than 0":                   {"-mutants", "x", "-budget", "-8s"},
		"-limit is 0, want at least 1":                       {"-mutants", "x", "-table", "y", "-limit", "0"},
		"-budget has a meaning only with -mutants":           {"-budget", "30s"},
		"-table has a meaning only with -mutants":            {"-table", "y"},
		"-only has a meaning only with -mutants":             {"-only", "y"},
		`-only is "("`:                                       {"-mutants", "x", "-only", "("},
		`there is no "none"`:                                 {"-mutants", "x", "-table", "y", "-strategies", "none"},
		"got -mutants and -speed, want one of them":          {"-mutants", "x", "-speed"},
		`got arguments ["more"], want none with`:             {"-speed", "more"},
		"flag provided but not defined: -nonsense":           {"-nonsense"},
		"flag needs an argument: -root":                      {"-root"},
		`the lane: got arguments ["more"], want none`:        {"more"},
		"the lane: -budget is -1s, want more than 0":         {"--", "-budget", "-1s"},
		"the lane: -budget is 0s, want more than 0":          {"--", "-budget", "0"},
		"the lane: -n is -1, want at least 0":                {"--", "-n", "-1"},
		"the lane: -rounds is -1, want at least 0":           {"--", "-rounds", "-1"},
		"the lane: -exhaust is -2, want at least -1":         {"--", "-exhaust", "-2"},
		"the lane: -exhaust-shutdown is -2, want at":         {"--", "-exhaust", "1", "-exhaust-shutdown", "-2"},
		"-exhaust-shutdown want -exhaust with them":          {"--", "-exhaust-shutdown", "2"},
		"the lane: -first is -2, want at least -1":           {"--", "-first", "-2"},
		`invalid value "-1" for flag -seed`:                  {"--", "-seed", "-1"},
		`the lane: -lean is "G99", want a guarantee`:         {"--", "-lean", "G99"},
		`EVENTIDE_LANE_ONLY is "nothing", want a guarantee`:  {"--", "-only", "nothing"},
		`the lane: -strategy is "luck", want exhaustive or`:  {"--", "-strategy", "luck"},
		`the lane: -scenario: there is no scenario "nobody"`: {"--", "-scenario", "nobody"},
		"merge: want the files of the shards":                {"merge"},
		"merge: flag provided but not defined: -x":           {"merge", "-x"},
		"record: -bound is -1, want at least 0":              {"record", "-o", "x", "-bound", "-1", "y"},
		"record: -shutdown is -2, want at least 0":           {"record", "-shutdown", "-2", "y"},
		"record: want the records of the shards":             {"record", "-o", "x"},
	} {
		refused(t, args, want)
	}
	for _, args := range [][]string{{"-h"}, {"merge", "-h"}, {"record", "-h"}, {"--", "-h"}} {
		var stdout, help bytes.Buffer
		if code := run(args, &stdout, &help); code != 0 || !strings.Contains(help.String(), "file for") {
			t.Errorf("%v: got %d and %q, want 0 and the flags", args, code, help.String())
		}
	}
}

func refused(t *testing.T, args []string, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
		t.Errorf("%v: got %d, %q and %q; want 2 and %q", args, code, stdout.String(), stderr.String(), want)
	}
}

func TestBadEnvironment(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"EVENTIDE_LANE_BUDGET", "-1s", "EVENTIDE_LANE_BUDGET is -1s, want more than 0"},
		{"EVENTIDE_LANE_BUDGET", "soon", `EVENTIDE_LANE_BUDGET: time: invalid duration "soon"`},
		{"EVENTIDE_LANE_SEED", "-1", `EVENTIDE_LANE_SEED: strconv.ParseUint: parsing "-1"`},
		{"EVENTIDE_LANE_ONLY", "G0", `EVENTIDE_LANE_ONLY is "G0", want a guarantee`},
		{"SHARD", "-1/8", `SHARD is "-1" of "8", want a number from 1`},
		{"SHARD", "1/-8", `SHARD is "1" of "-8"`},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			refused(t, nil, c.want)
		})
	}
}

// followed runs a script in the place of the lane.
func followed(t *testing.T, script string, asJSON bool) (stdout, stderr string, code int) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "lane")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code, err := settings{json: asJSON}.follow(bin, nil, &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

const (
	clean = `printf '\n@@{"runs":40,"scenarios":3}\n\n@@{"runs":90,"scenarios":7,"exhausted":{"schedules":10,"scenarios":9}}\n'` + "\n"
	bad   = `printf '\nthe trace\n\nof it\n\n@@{"runs":90,"scenarios":7,"failed":{"G3":"G3 task 2 never ran"}}\n'; exit 1` + "\n"
)

// TestSummary: what a person reads is short and ends with the verdict; -json is what the
// lane printed.
func TestSummary(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		code         int
	}{
		"clean":       {clean, "no violation in 100 schedules, 9 scenarios\n", 0},
		"a violation": {bad, "\nthe trace\n\nof it\nviolation in 90 schedules, 7 scenarios: G3 task 2 never ran\n", 1},
		"not run":     {clean + "exit 3", "no verdict: the lane ended with exit code 3\n", 3},
		"a replay":    {"echo reproduced: x", "reproduced: x\n", 0},
		"no newline":  {"printf half", "half\n", 0},
		"interrupted": {clean + "kill -INT $PPID; exec sleep 10", "interrupted: no violation in 100 schedules, 9 scenarios until then\n", 130},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, code := followed(t, c.script, false)
			if out != c.want || code != c.code {
				t.Errorf("got %q and %d, want %q and %d", out, code, c.want, c.code)
			}
		})
	}
	out, _, _ := followed(t, clean, true)
	if want := "\n@@{\"runs\":40,\"scenarios\":3}\n"; !strings.HasPrefix(out, want) || strings.Contains(out, "violation") {
		t.Errorf("-json: got %q, want what the lane printed", out)
	}
}

// TestProgress: a line every few seconds says how far a run is.
func TestProgress(t *testing.T) {
	var out, progress bytes.Buffer
	d := newDigest(&out, &progress)
	now := d.said
	d.now = func() time.Time { return now }
	for i := range 12 {
		now = now.Add(saysEach / 4)
		if _, err := d.Write([]byte("\n@@{\"runs\":" + strings.Repeat("1", i+1) + ",\"scenarios\":2,\"seconds\":3.2}\n")); err != nil {
			t.Fatal(err)
		}
	}
	want := "3 s: no violation in 1111 schedules, 2 scenarios so far\n"
	if got := strings.Count(progress.String(), "\n"); got != 3 || !strings.HasPrefix(progress.String(), want) || out.Len() > 0 {
		t.Errorf("got %d lines, %q and %q, want 3, the first %q", got, progress.String(), out.String(), want)
	}
	if _, err := d.Write([]byte("@@{nonsense\n")); err != nil {
		t.Fatal(err)
	}
	if err := d.end(0); err == nil || !strings.Contains(err.Error(), "a line of the lane") {
		t.Errorf("got %v, want an error about the line", err)
	}
}
