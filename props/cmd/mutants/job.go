package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"eventide/props/mutant"
)

// job runs mutants side by side, keeps what is known of those that it need not
// run, and writes the results down after each: a job that is interrupted goes on
// where it was.
type job struct {
	settings
	try      func(mutant.Mutant) (entry, error)
	control  func() error // that the virtual lane finds nothing without a mutant
	marks    map[string]mark
	there    map[string]bool // every mutant that there is: others are forgotten; nil: none is
	columns  columns
	progress io.Writer

	mu    sync.Mutex
	known map[string]entry // by name
	done  int
}

// run returns the report on the given mutants, as far as it got.
func (j *job) run(planted []mutant.Mutant) (report, error) {
	path := filepath.Join(j.out, "mutants.json")
	before, err := readReport(path)
	if err != nil {
		return report{}, err
	}
	j.known = map[string]entry{}
	for _, e := range before.Mutants {
		if j.there == nil || j.there[e.Name] {
			j.known[e.Name] = e
		}
	}
	if j.columns, err = readColumns(j.settings); err != nil {
		return report{}, err
	}
	hashes, err := j.hashes(planted)
	if err != nil {
		return report{}, err
	}
	var todo []mutant.Mutant
	for _, m := range planted {
		if e, ok := j.known[m.Name]; ok {
			j.columns.fill(&e, m)
			j.known[m.Name] = e
		}
		if j.force || j.known[m.Name].Hashes != hashes[m.Name] {
			todo = append(todo, m)
			delete(j.known, m.Name)
		}
	}
	fmt.Fprintf(j.progress, "%d mutants, %d of them known from %s\n", len(planted), len(planted)-len(todo), path)
	if slices.ContainsFunc(todo, func(m mutant.Mutant) bool { return cmp.Or(j.marks[m.Name].lane, laneVirtual) == laneVirtual }) {
		if err := j.control(); err != nil {
			return j.report(planted), err
		}
	}
	err = j.room.each(todo, func(m mutant.Mutant) error { return j.runOne(m, hashes[m.Name], len(todo), path) })
	if err == nil && len(todo) == 0 { // the columns may have changed
		err = j.all().write(path)
	}
	return j.report(planted), err
}

func (j *job) runOne(m mutant.Mutant, h hashes, of int, path string) error {
	e, err := j.try(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	e.Hashes = h
	if e.Hashes.Lane, err = j.laneHash(m, e.Lane); err != nil {
		return err
	}
	j.columns.fill(&e, m)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done++
	j.known[m.Name] = e
	fmt.Fprintf(j.progress, "[%d/%d] %s: %s %s, %s, %d runs, %.1f s\n", j.done, of, e.Name, e.Verdict, e.by(), e.Lane, e.Schedules, e.Seconds)
	return j.all().write(path)
}

// report is about the given mutants, in their order.
func (j *job) report(planted []mutant.Mutant) report {
	var entries []entry
	for _, m := range planted {
		if e, ok := j.known[m.Name]; ok {
			entries = append(entries, e)
		}
	}
	return newReport(entries)
}

// all is about every mutant of which something is known. Requires mu.
func (j *job) all() report {
	var entries []entry
	for _, name := range sortedKeys(j.known) {
		entries = append(entries, j.known[name])
	}
	return newReport(entries)
}
