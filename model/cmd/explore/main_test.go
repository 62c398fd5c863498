package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"eventide/model"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small keeps the searches of these tests short.
var small = []string{"-producers=1", "-tasks=1", "-timers=0", "-hooks=1"}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"complete", nil, 0, `^given bounds: states=\d+ edges=\d+ depth=\d+ complete\n$`, ``},
		{"cut short", []string{"-max=10"}, 1, `^given bounds: states=\d+ edges=\d+ depth=\d+ incomplete\n$`, ``},
		{"negative", []string{"-tasks=-3"}, 2, `^$`, `^explore: -tasks is -3, want at least 0; -h lists the flags\n$`},
		{"too many", []string{"-hooks=5000"}, 2, `^$`, `-hooks is 5000, want at most 1000: a search with so many would not end`},
		{"negative limit", []string{"-limit=-1"}, 2, `^$`, `-limit is -1, want at least 0`},
		{"negative max", []string{"-max=-1"}, 2, `^$`, `-max is -1, want at least 0`},
		{"negative memory", []string{"-memory=-1"}, 2, `^$`, `-memory is -1, want at least 0`},
		{"no value", []string{"-timers"}, 2, `^$`, `flag needs an argument: -timers`},
		{"no number", []string{"-fds=few"}, 2, `^$`, `invalid value "few" for flag -fds`},
		{"help", []string{"-h"}, 0, `^$`, `-startfailures`},
		{"mermaid", []string{"-mermaid"}, 0, `^stateDiagram-v2\n`, `^$`},
		{"policy", []string{"-policy=RunDueTimers", "-timers=1"}, 0, ` complete\n$`, ``},
		{"wrong policy", []string{"-policy=Never"}, 2, `^$`, `expected one of CancelTimers\|RunDueTimers\|RunTimersUntilTimeout, got "Never"`},
		{"unknown flag", []string{"-nope"}, 2, `^$`, `flag provided but not defined: -nope`},
		{"argument", []string{"now"}, 2, `^$`, `explore: got arguments \["now"\], want none`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(append(small[:len(small):len(small)], tc.args...), &stdout, &stderr)
			if code != tc.code {
				t.Errorf("got exit code %d, want %d", code, tc.code)
			}
			match(t, "stdout", stdout.String(), tc.stdout)
			match(t, "stderr", stderr.String(), tc.stderr)
		})
	}
}

// Without bounds there are two searches, and either can fail.
func TestRunWithoutBounds(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"-max=10"}, &stdout, &stderr); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
	match(t, "stdout", stdout.String(), `^default bounds: states=\d+ edges=\d+ depth=\d+ incomplete\nchannel bounds: states=\d+ edges=\d+ depth=\d+ incomplete\n$`)
}

func match(t *testing.T, what, got, want string) {
	t.Helper()
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s: got %q, want a match of %q", what, got, want)
	}
}

func TestRunJSON(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run(append(small[:len(small):len(small)], "-json"), &stdout, &stderr); code != 0 {
		t.Fatalf("got exit code %d, want 0: %s", code, &stderr)
	}
	var got struct {
		Verdict string
		States  int
		Taken   map[string]int
		Bounds  model.Bounds
	}
	if err := json.Unmarshal([]byte(stdout.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "complete" || got.States == 0 || got.Taken["done"] == 0 || got.Bounds.Hooks != 1 {
		t.Errorf("got %+v, want a complete search with one hook", got)
	}
}

// A violation is printed with its path and exits with 1, in both forms.
func TestReportViolation(t *testing.T) {
	r := model.Result{States: 3, Edges: 2, Depth: 1, Violation: &model.Violation{
		Guarantee: "G3", Sentence: "no accepted body is lost", Detail: "task 1",
		Path: []model.Action{{Kind: model.StepStartOK}}, State: model.New(model.Config{}),
	}}
	var line strings.Builder
	if code := report(&line, search{name: "given bounds"}, r, time.Second, false); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
	want := "given bounds: states=3 edges=2 depth=1 violation\nG3 no accepted body is lost: task 1\n   1  startOK\n      {NotStarted, no loop}\n"
	if line.String() != want {
		t.Errorf("got %q, want %q", line.String(), want)
	}
	var asJSON strings.Builder
	if code := report(&asJSON, search{}, r, time.Second, true); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
	match(t, "JSON", asJSON.String(), `"violation": "G3 no accepted body is lost: task 1`)
}
