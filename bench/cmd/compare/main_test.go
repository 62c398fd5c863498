package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/bench"
	"eventide/bench/compare"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"compare: -rounds is 9, want at least 10":  {"-rounds", "9"},
		"compare: -rounds is -4, want at least 10": {"-rounds", "-4"},
		"compare: -slice is 0s, want more than 0":  {"-slice", "0s"},
		"compare: -slice is -1s, want more than 0": {"-slice", "-1s"},
		`invalid value "(" for flag -run`:          {"-run", "("},
		`got arguments ["more"], want none`:        {"more"},
		"flag provided but not defined: -nonsense": {"-nonsense"},
		"flag needs an argument: -out":             {"-out"},
	} {
		var said bytes.Buffer
		if code := run(args, &said); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%v: got %d and %q, want 2 and %q", args, code, said.String(), want)
		}
	}
	var help bytes.Buffer
	if code := run([]string{"-h"}, &help); code != 0 || !strings.Contains(help.String(), "-slice duration") {
		t.Errorf("-h: got %d and %q, want 0 and the flags", code, help.String())
	}
}

// TestDocumentedCommands: what the documentation says can be typed, and selects
// something.
func TestDocumentedCommands(t *testing.T) {
	command := regexp.MustCompile(`go run \./bench/cmd/compare(.*)`)
	found := 0
	for _, file := range []string{"main.go", "../../doc.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			found++
			f, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")), io.Discard)
			if err != nil {
				t.Errorf("%s: %q: %v", file, m[0], err)
				continue
			}
			selected := 0
			for _, g := range bench.Groups(bench.TimerCounts) {
				for _, c := range g {
					if f.run.MatchString(c.Name()) {
						selected++
					}
				}
			}
			if selected == 0 {
				t.Errorf("%s: %q selects nothing", file, m[0])
			}
		}
	}
	if found < 3 {
		t.Errorf("found %d commands, want all 3", found)
	}
}

func TestWritesBothFiles(t *testing.T) {
	dir := t.TempDir()
	f, err := parse([]string{"-run", "Stats|ExecuteInLoop/impl=core$", "-slice", "10us", "-out", dir}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure(f); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report compare.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if got, want := len(report.Rows), 3; got != want || report.Schema != 1 {
		t.Errorf("got %d rows of schema %d, want %d of 1:\n%s", got, report.Schema, want, text)
	}
	if lines, err := os.ReadFile(filepath.Join(dir, "bench.txt")); err != nil || len(lines) == 0 {
		t.Errorf("bench.txt: got %d bytes, %v", len(lines), err)
	}
}

func TestNothingToMeasureIsAnError(t *testing.T) {
	f, err := parse([]string{"-run", "no such case", "-out", t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure(f); err == nil {
		t.Error("got no error")
	}
}
