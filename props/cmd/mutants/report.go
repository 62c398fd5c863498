package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"eventide/props/internal/runner"
	"eventide/props/mutant"
)

const schema = 1

// report is mutants.json. Its schema is versioned; fields are added, not changed.
type report struct {
	Schema  int     `json:"schema"`
	Score   float64 `json:"score"` // share that was killed of the mutants that are not equivalent
	Mutants []entry `json:"mutants"`
}

// entry is what became of one mutant.
type entry struct {
	Name      string  `json:"name"`
	Guarantee string  `json:"guarantee"` // what it breaks
	Target    string  `json:"target"`    // the part of the module that it is in, see targetOf
	Files     string  `json:"files"`     // that it changes
	StandsFor string  `json:"stands_for"`
	Verdict   string  `json:"verdict"`
	By        string  `json:"by,omitempty"`
	Predicate string  `json:"predicate,omitempty"`
	Lane      string  `json:"lane"`
	Schedules int     `json:"schedules"` // runs until the verdict
	Seconds   float64 `json:"seconds"`
	Reason    string  `json:"reason"` // what was seen, or how long nothing was
	Hashes    hashes  `json:"hashes"`

	// Of results that are kept, see kept.
	Stress  string   `json:"stress,omitempty"`  // killed, survived, or not run; "": the program does not run what it changes
	Killers []string `json:"killers,omitempty"` // the properties that see it
	Unique  bool     `json:"unique,omitempty"`  // there is one only
}

// notRun stands where a result is not kept, or stale.
const notRun = "not run"

func newEntry(m mutant.Mutant) entry {
	var files []string
	for _, e := range m.Edits {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	return entry{
		Name: m.Name, Guarantee: m.Guarantee, StandsFor: m.StandsFor, Lane: laneVirtual,
		Target: targetOf(files[0]), Files: strings.Join(files, ", "),
	}
}

func (e *entry) killed(k kill) {
	e.Verdict, e.By, e.Predicate, e.Reason = killed, k.by, k.predicate, withoutStack(k.what)
}

// withoutStack cuts the stack off a message: it names files of one machine, and the result
// is kept.
func withoutStack(what string) string {
	message, _, _ := strings.Cut(what, "\ngoroutine ")
	return message
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
	if n := len(entries) - r.count(equivalent); n > 0 {
		r.Score = float64(r.count(killed)) / float64(n)
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

// mostEquivalent is the share of the mutants that may be equivalent: of more, the choice
// of mutants is bad, or the proofs are too easy.
const mostEquivalent = 0.05

func (r report) exitCode() int {
	if r.count(survived) > 0 || len(r.Mutants) > shortCount && r.tooManyEquivalent() {
		return 1
	}
	return 0
}

func (r report) tooManyEquivalent() bool {
	return float64(r.count(equivalent)) > mostEquivalent*float64(len(r.Mutants))
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
	fmt.Fprintf(w, "%-*s %-9s %-11s %-10s %-18s %-17s %7s %8s %-9s %s\n", wide, "mutant", "guarantee", "target", "verdict", "lane", "by", "runs", "seconds", "stress", "properties")
	for _, e := range r.Mutants {
		verdict := e.Verdict
		if verdict == survived {
			verdict = "SURVIVED"
		}
		fmt.Fprintf(w, "%-*s %-9s %-11s %-10s %-18s %-17s %7d %8.1f %-9s %s\n", wide, e.Name, e.Guarantee, e.Target, verdict, e.Lane, e.by(), e.Schedules, e.Seconds, cmp.Or(e.Stress, "-"), e.seers())
	}
	fmt.Fprintf(w, "\nscore %.3f: %d killed of %d", r.Score, r.count(killed), len(r.Mutants))
	if n := r.count(equivalent); n > 0 {
		fmt.Fprintf(w, "; %d equivalent, want at most %d %%", n, int(100*mostEquivalent))
	}
	stress := map[string]int{}
	for _, e := range r.Mutants {
		stress[e.Stress]++
	}
	fmt.Fprintf(w, "\nplain stress: %d survived it, %d did not, %d not run\n", stress[survived], stress[killed], stress[notRun])
}

// seers names the properties that see the mutant, and marks one that is alone.
func (e entry) seers() string {
	switch {
	case e.Unique:
		return e.Killers[0] + "!"
	case len(e.Killers) == 0:
		return "-"
	}
	return strings.Join(e.Killers, ",")
}

// columns is what is known of mutants beside their verdicts.
type columns struct {
	stress *kept[stressed]
	alone  *kept[killers]
}

func readColumns(s settings) (c columns, err error) {
	if c.stress, err = readKept[stressed](s.stressFile()); err != nil {
		return c, err
	}
	c.alone, err = readKept[killers](s.aloneFile())
	return c, err
}

func (c columns) fill(e *entry, m mutant.Mutant) {
	e.Stress, e.Killers, e.Unique = "", nil, false
	if byStress[e.Target] && e.Verdict != equivalent {
		e.Stress = notRun
		if v, ok := c.stress.of(m); ok {
			e.Stress = v.Verdict
		}
	}
	if v, ok := c.alone.of(m); ok {
		e.Killers, e.Unique = v.All, v.unique() != ""
	}
}

// readReport returns an empty report if there is none, or one of another schema.
func readReport(path string) (report, error) {
	r, err := runner.ReadJSON[report](path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return report{}, nil
	case err != nil:
		return report{}, fmt.Errorf("%w (remove it to start over)", err)
	case r.Schema != schema:
		return report{}, nil
	}
	return r, nil
}

// write replaces the file in one step: if the command is interrupted, the one before stays.
func (r report) write(path string) error { return runner.WriteJSON(path, r) }
