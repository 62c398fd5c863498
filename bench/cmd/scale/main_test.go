package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventide/bench/scale"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"scale: -rounds is 9, want at least 10":     {"-rounds", "9"},
		"scale: -tasks is 10, want at least 1000":   {"-tasks", "10"},
		"scale: -slice is 0s, want more than 0":     {"-slice", "0s"},
		`"0" is not a number of 1 or more`:          {"-connections", "0,5"},
		`"5,1" is not ascending`:                    {"-connections", "5,1"},
		`"5,5" is not ascending`:                    {"-connections", "5,5"},
		`"x" is not a number of 1 or more`:          {"-connections", "1,x"},
		`got arguments ["more"], want none`:         {"more"},
		`invalid value "(" for flag -run`:           {"-run", "("},
		"flag provided but not defined: -processor": {"-processor", "3"},
	} {
		var said bytes.Buffer
		if code := run(args, &said, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
}

// TestReport: the file has what was printed.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	var out, progress bytes.Buffer
	args := []string{"-rounds", "10", "-tasks", "1000", "-run", "tasks/impl=channel/loops=1$", "-out", dir}
	if code := run(args, &out, &progress); code != 0 {
		t.Fatalf("got %d and %q, want 0", code, progress.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "scale.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r scale.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != scale.Schema || len(r.Curves) != 1 || len(r.Curves[0].Points) < 3 || len(r.Simulated) != len(scale.Intakes) {
		t.Errorf("got schema %d, curves %v, %d simulated; want one curve and %d", r.Schema, r.Curves, len(r.Simulated), len(scale.Intakes))
	}
	for _, want := range []string{"tasks/impl=channel/loops=1: ", "one lock: ", "64  processors"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed %q, want %q in it", out.String(), want)
		}
	}
	if !strings.Contains(progress.String(), "round 10 of 10") {
		t.Errorf("progress is %q, want ten rounds", progress.String())
	}
}
