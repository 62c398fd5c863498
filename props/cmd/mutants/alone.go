package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/props"
	"eventide/props/lane"
	"eventide/props/mutant"
)

// killers is which properties see a mutant.
type killers struct {
	Own string   `json:"own,omitempty"` // that of its guarantee, if it does with all others switched off
	All []string `json:"all"`           // the guarantees that a run of all properties found broken, and Own
}

// unique is the property that alone sees the mutant, or "".
func (k killers) unique() string {
	if len(k.All) == 1 {
		return k.All[0]
	}
	return ""
}

// loner looks, of each mutant of the virtual lane, for the properties that see it.
type loner struct {
	settings
	build    func(name, overlay string) (bin string, err error)
	look     func(bin, only string, budget time.Duration, until bool) (lane.Result, error)
	marks    map[string]mark
	kept     *kept[killers]
	progress io.Writer
	mu       sync.Mutex // of kept and progress
}

func newLoner(s settings, marks map[string]mark, progress io.Writer) (*loner, error) {
	k, err := readKept[killers](s.aloneFile())
	l := &loner{settings: s, build: s.build, marks: marks, kept: k, progress: progress}
	l.look = func(bin, only string, budget time.Duration, until bool) (lane.Result, error) {
		run := lane.Run{Bin: bin, Only: only, Budget: budget, Seed: s.seed, Cases: filepath.Join(s.out, "alone-cases"), Stall: s.stall}
		if until {
			run.Until = func(r lane.Result) bool { return len(r.Failed) > 0 }
		}
		return twiceIfHung(budget, func() (lane.Result, error) { return run.Do(s.root) })
	}
	return l, err
}

func (s settings) aloneFile() string { return filepath.Join(s.dirs[0], "alone.json") }

// concerns reports whether the mutant is one of the virtual lane.
func (l *loner) concerns(m mutant.Mutant) bool { return l.marks[m.Name].lane == laneVirtual }

// all asks the properties about the mutants of which that is not known, and says which
// properties see none of theirs.
func (l *loner) all(planted []mutant.Mutant) error {
	var todo []mutant.Mutant
	for _, m := range planted {
		if _, known := l.kept.of(m); l.concerns(m) && (l.force || !known) {
			todo = append(todo, m)
		}
	}
	fmt.Fprintf(l.progress, "%d mutants to ask the properties about, the results go to %s\n", len(todo), l.kept.path)
	return newRoom(l.parallel).each(todo, l.one)
}

func (l *loner) one(m mutant.Mutant) error {
	v, err := l.ask(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.progress, "%s: %s alone %v, of all %v\n", m.Name, m.Guarantee, v.Own != "", v.All)
	return l.kept.put(m, v)
}

func (l *loner) ask(m mutant.Mutant) (v killers, err error) {
	dir, err := filepath.Abs(filepath.Join(l.out, "alone", m.Name))
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.Overlay(l.root, dir)
	if err != nil {
		return v, err
	}
	bin, err := l.build("alone-"+m.Name, overlay)
	if err != nil {
		return v, err
	}
	defer os.Remove(bin)
	if g, ok := props.Lookup(m.Guarantee); ok && g.Checked() {
		r, err := l.look(bin, m.Guarantee, l.own, true)
		if err != nil {
			return v, err
		}
		if k, found := killOf(r, m.Guarantee); found && (k.by == m.Guarantee || r.Ending != lane.Ended) {
			v.Own = m.Guarantee // a hang or a crash of its run is seen by it as well
		}
	}
	r, err := l.look(bin, "", l.cross, false)
	if err != nil {
		return v, err
	}
	for id := range r.Failed {
		if id != "" {
			v.All = append(v.All, id)
		}
	}
	if v.Own != "" {
		v.All = append(v.All, v.Own)
	}
	slices.Sort(v.All)
	v.All = slices.Compact(v.All)
	return v, nil
}

// table prints, of each property, how many mutants stand for its guarantee, how many
// of those it sees with all others switched off, and which nobody else sees. It returns
// the guarantees whose property sees none.
func (l *loner) table(w io.Writer, planted []mutant.Mutant) (blind []string) {
	fmt.Fprintf(w, "%-9s %7s %11s %6s\n", "property", "mutants", "seen alone", "unique")
	for _, g := range props.Guarantees {
		if !g.Checked() {
			continue
		}
		mutants, alone, unique := 0, 0, 0
		for _, m := range planted {
			v, known := l.kept.of(m)
			if !known || !l.concerns(m) {
				continue
			}
			if m.Guarantee == g.ID {
				mutants++
				alone += one(v.Own == g.ID)
			}
			unique += one(v.unique() == g.ID)
		}
		fmt.Fprintf(w, "%-9s %7d %11d %6d\n", g.ID, mutants, alone, unique)
		if alone == 0 {
			blind = append(blind, g.ID)
		}
	}
	return blind
}

func (s settings) runAloneMode(all, planted []mutant.Mutant, marks map[string]mark, stdout, stderr io.Writer) int {
	l, err := newLoner(s, marks, stderr)
	if err == nil {
		l.kept.prune(all)
		err = l.all(planted)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	if blind := l.table(stdout, all); len(blind) > 0 && len(planted) == len(all) {
		fmt.Fprintf(stderr, "mutants: with all others switched off these properties see no bug of their guarantee: %s\n", strings.Join(blind, ", "))
		return 1
	}
	return 0
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
