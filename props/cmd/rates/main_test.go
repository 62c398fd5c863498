package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
	"eventide/props/internal/runner"
)

// root is the root of the repository from here.
const root = "../../.."

// TestPageShowsTheKeptFile wants the tables of the page to be those of the kept file, and
// the file to have every mistake and every correct executor there is.
func TestPageShowsTheKeptFile(t *testing.T) {
	k, err := runner.ReadJSON[kept](filepath.Join(root, keptFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), k.tables()) {
		t.Errorf("%s does not show %s: run go run ./props/cmd/rates -render", page, keptFile)
	}
	mistakes, rights := subjects.Mistakes(), allRight()
	if len(k.Caught) != len(mistakes) || len(k.Right) != len(rights) {
		t.Fatalf("%s has %d mistakes and %d correct executors, and there are %d and %d: run go run ./props/cmd/rates", keptFile, len(k.Caught), len(k.Right), len(mistakes), len(rights))
	}
	for i, m := range mistakes {
		if c := k.Caught[i]; c.Name != m.Name || c.Guarantee != m.Guarantee {
			t.Errorf("row %d is %s %q, want %s %q", i, c.Guarantee, c.Name, m.Guarantee, m.Name)
		}
	}
	if code := k.code(); code != 0 {
		t.Errorf("the kept file has a mistake that was never caught or broke another guarantee, or a correct executor that failed")
	}
}

// TestCodeSeesFailures wants exit code 1 for each kind of bad result.
func TestCodeSeesFailures(t *testing.T) {
	for name, k := range map[string]kept{
		"a correct executor fails": {Right: []right{{Failed: []string{"G3"}}}},
		"a mistake is not caught":  {Caught: []caught{{Runs: 3}}},
		"another guarantee fails":  {Caught: []caught{{Runs: 3, Caught: 3, Others: []string{"G4"}}}},
	} {
		if k.code() != 1 {
			t.Errorf("%s: code %d, want 1", name, k.code())
		}
	}
}

// TestMeasurements runs the kit on one mistake and one executor that is not correct.
func TestMeasurements(t *testing.T) {
	wrong := subjects.Mistake{New: subjects.Bare(subjects.Reorders), Guarantee: "G4"}
	if !catches(wrong, 1) {
		t.Error("a reordering executor is not caught")
	}
	only := []exectest.Option{exectest.Only("G4"), exectest.Rounds(1)}
	r := checkRight(subjects.Subject{Name: "reorders", New: wrong.New, Options: only}, 3)
	if r.Runs < 3 || len(r.Failed) == 0 {
		t.Errorf("got %+v, want at least 3 runs and a failure", r)
	}
}
