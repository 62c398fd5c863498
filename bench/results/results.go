// Package results writes RESULTS.md from raw files that are kept in
// testdata/bench: what `make compare`, `make verify` and `make mutants` wrote.
// No number in it is typed by hand.
package results

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"

	"eventide/bench/compare"
)

// The raw files, in the order in which they are needed.
const (
	benchFile   = "bench.json"
	verifyFile  = "verify.json"
	mutantsFile = "mutants.json"
)

// verdicts is what RESULTS.md shows of verify.json.
type verdicts struct {
	Schema  int     `json:"schema"`
	Commit  string  `json:"commit"`
	Go      string  `json:"go"`
	Seconds float64 `json:"seconds"`
	Model   struct {
		States, Edges, Depth int
		Complete             bool
	} `json:"model"`
	Traces struct {
		Model, History int
		Wrong          []string
	} `json:"traces"`
	Guarantees []struct {
		ID        string `json:"id"`
		Sentence  string `json:"sentence"`
		Verdict   string `json:"verdict"`
		Exercised int    `json:"exercised"`
		Mutant    struct {
			Name   string `json:"name"`
			Killed bool   `json:"killed"`
		} `json:"mutant"`
		Lanes []struct {
			Lane    string `json:"lane"`
			Verdict string `json:"verdict"`
			Runs    int    `json:"runs"`
			Seed    uint64 `json:"seed"`
		} `json:"lanes"`
	} `json:"guarantees"`
}

// mutants is what it shows of mutants.json.
type mutants struct {
	Schema  int     `json:"schema"`
	Score   float64 `json:"score"`
	Mutants []struct {
		Verdict string `json:"verdict"`
	} `json:"mutants"`
}

// raw is everything that the page is made of.
type raw struct {
	Bench   compare.Report
	Verify  verdicts
	Mutants *mutants // nil: not kept

	// Survivors counts the planted bugs that the properties did not see, and that
	// are therefore no part of the score.
	Survivors int
}

//go:embed results.md.tmpl
var page string

// Generate returns RESULTS.md for the raw files in dir. bench.json and
// verify.json must be there; without mutants.json the page says that the score is
// not kept.
func Generate(dir string) ([]byte, error) {
	var r raw
	if err := read(dir, benchFile, &r.Bench, &r.Bench.Schema); err != nil {
		return nil, err
	}
	if err := read(dir, verifyFile, &r.Verify, &r.Verify.Schema); err != nil {
		return nil, err
	}
	var m mutants
	switch err := read(dir, mutantsFile, &m, &m.Schema); {
	case err == nil:
		r.Mutants = &m
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	survivors, err := filepath.Glob(filepath.Join(dir, "..", "mutants", "survivors", "*.mutant"))
	if err != nil {
		return nil, err
	}
	r.Survivors = len(survivors)
	t, err := template.New("RESULTS.md").Parse(page)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, r)
	return out.Bytes(), err
}

// schema is the version of all three files.
const schema = 1

func read(dir, name string, into any, version *int) error {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("results: %s: %w", path, err)
	}
	if *version != schema {
		return fmt.Errorf("results: %s: schema is %d, want %d", path, *version, schema)
	}
	return nil
}

// Check returns an error if the page at path is not what the raw files in dir
// give: a number was changed by hand, or the files were.
func Check(dir, path string) error {
	want, err := Generate(dir)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := line(gotLines, i), line(wantLines, i); g != w {
			return fmt.Errorf("results: %s, line %d: got %q, want %q; `make results` writes it anew", path, i+1, g, w)
		}
	}
	return nil
}

func line(lines [][]byte, i int) string {
	if i < len(lines) {
		return string(lines[i])
	}
	return "(nothing)"
}
