package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/bench/peers"
)

func TestBadUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-rounds is 0, want at least 1":            {"-rounds", "0"},
		"-rounds is -2, want at least 1":           {"-rounds", "-2"},
		"-warm is -1s, want at least 0s":           {"-warm", "-1s"},
		`invalid value "-1" for flag -seed`:        {"-seed", "-1"},
		`invalid value "(" for flag -run`:          {"-run", "("},
		`got arguments ["more"], want none`:        {"more"},
		"flag needs an argument: -rounds":          {"-rounds"},
		"flag provided but not defined: -nonsense": {"-nonsense"},
	} {
		if _, err := parse(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
	var help bytes.Buffer
	if _, err := parse([]string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-rounds int") {
		t.Errorf("-h: got %v and %q, want the flags", err, help.String())
	}
}

// TestDocumentedCommands: what the documentation says can be typed, and selects
// something.
func TestDocumentedCommands(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^//\tgo run \./cmd/peers(.*)$`).FindAllStringSubmatch(string(text), -1) {
		found++
		f, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")), io.Discard)
		if err != nil {
			t.Errorf("%q: %v", m[0], err)
			continue
		}
		selected := 0
		for _, w := range peers.Workloads() {
			if f.run.MatchString(w.Name) {
				selected++
			}
		}
		if selected == 0 {
			t.Errorf("%q selects nothing", m[0])
		}
	}
	if found != 3 {
		t.Errorf("found %d commands, want 3", found)
	}
}

func TestARawFileIsReportedOn(t *testing.T) {
	dir := t.TempDir()
	raw := filepath.Join(dir, "raw.jsonl")
	lines := `{"schema":1,"rounds":1,"versions":{"core":"x"}}
{"round":0,"workload":"execute/producers=1","impl":"core","ops":10,"elapsed_ns":100}
`
	if err := os.WriteFile(raw, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := parse([]string{"-from", raw, "-out", dir}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(f); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "peers.json")); err != nil {
		t.Error(err)
	}
	f.strict = true
	if err := run(f); err == nil {
		t.Error("-strict: got no error, though no target could be judged")
	}
}
