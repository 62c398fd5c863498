package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventide/bench/peers"
)

func TestBadUsage(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-warm", "-1s"}, {"-run", "("}, {"more"}, {"-nonsense"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v: got no error", args)
		}
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
		f, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")))
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
	f, err := parse([]string{"-from", raw, "-out", dir})
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
