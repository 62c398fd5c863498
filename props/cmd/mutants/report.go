package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventide/props/mutant"
)

const schema = 1

// report is mutants.json. Its schema is versioned; fields are added, not changed.
type report struct {
	Schema  int     `json:"schema"`
	Score   float64 `json:"score"` // share of the mutants that was killed
	Mutants []entry `json:"mutants"`
}

// entry is what became of one mutant.
type entry struct {
	Name      string  `json:"name"`
	Guarantee string  `json:"guarantee"` // what it breaks
	Target    string  `json:"target"`    // the files that it changes
	StandsFor string  `json:"stands_for"`
	Verdict   string  `json:"verdict"`
	By        string  `json:"by,omitempty"`
	Predicate string  `json:"predicate,omitempty"`
	Lane      string  `json:"lane"`
	Schedules int     `json:"schedules"` // runs until the verdict
	Seconds   float64 `json:"seconds"`
	Reason    string  `json:"reason"` // what was seen, or how long nothing was
	Hashes    hashes  `json:"hashes"`
}

func newEntry(m mutant.Mutant) entry {
	var files []string
	for _, e := range m.Edits {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	return entry{
		Name: m.Name, Guarantee: m.Guarantee, StandsFor: m.StandsFor, Lane: laneVirtual,
		Target: strings.Join(files, ", "),
	}
}

func (e *entry) killed(k kill) {
	e.Verdict, e.By, e.Predicate, e.Reason = killed, k.by, k.predicate, k.what
}

func (e *entry) survived() {
	e.Verdict, e.Reason = survived, fmt.Sprintf("not seen in %d runs", e.Schedules)
}

// clock adds what passes until the returned function is called to the seconds.
func (e *entry) clock() (stop func()) {
	began := time.Now()
	return func() { e.Seconds += time.Since(began).Seconds() }
}

// by names the guarantee and the predicate.
func (e entry) by() string { return strings.TrimSpace(e.By + " " + e.Predicate) }

func newReport(entries []entry) report {
	r := report{Schema: schema, Mutants: entries}
	if len(entries) > 0 {
		r.Score = float64(r.count(killed)) / float64(len(entries))
	}
	return r
}

func (r report) count(verdict string) int {
	n := 0
	for _, e := range r.Mutants {
		if e.Verdict == verdict {
			n++
		}
	}
	return n
}

func (r report) exitCode() int {
	if r.count(survived) > 0 {
		return 1
	}
	return 0
}

// table prints the verdicts for a person.
func (r report) table(w io.Writer) {
	if len(r.Mutants) == 0 {
		return
	}
	wide := len("mutant")
	for _, e := range r.Mutants {
		wide = max(wide, len(e.Name))
	}
	fmt.Fprintf(w, "%-*s %-9s %-8s %-18s %-17s %7s %8s\n", wide, "mutant", "guarantee", "verdict", "lane", "by", "runs", "seconds")
	for _, e := range r.Mutants {
		verdict := e.Verdict
		if verdict == survived {
			verdict = "SURVIVED"
		}
		fmt.Fprintf(w, "%-*s %-9s %-8s %-18s %-17s %7d %8.1f\n", wide, e.Name, e.Guarantee, verdict, e.Lane, e.by(), e.Schedules, e.Seconds)
	}
	fmt.Fprintf(w, "\nscore %.3f: %d of %d killed\n", r.Score, r.count(killed), len(r.Mutants))
}

// readReport returns an empty report if there is none, or one of another schema.
func readReport(path string) (report, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return report{}, nil
	}
	if err != nil {
		return report{}, err
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return report{}, fmt.Errorf("%s: %w (remove it to begin anew)", path, err)
	}
	if r.Schema != schema {
		return report{}, nil
	}
	return r, nil
}

// write replaces the file in one step: who is interrupted keeps the one before.
func (r report) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
