package score

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"eventide/props/internal/runner"
)

// Kept is what is kept of the runs on all states of the sources, from the oldest to the
// newest. A run says nothing of later sources, so each is a sample of its own.
type Kept struct {
	Schema int     `json:"schema"`
	Runs   []*File `json:"runs"`
}

// ReadKept reads a file of Kept. Without one nothing is kept yet.
func ReadKept(path string) (*Kept, error) {
	k, err := runner.ReadJSON[Kept](path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Kept{Schema: schema}, nil
	}
	if err != nil {
		return nil, err
	}
	if k.Schema != schema {
		return nil, fmt.Errorf("%s: its schema is %d, want %d", path, k.Schema, schema)
	}
	return &k, nil
}

// Continue gives a file without picks what was kept of the same sources and checks, so that a run
// goes on from there on any machine.
func (k *Kept) Continue(f *File) {
	at := slices.IndexFunc(k.Runs, func(r *File) bool { return r.Sources == f.Sources && r.Checks == f.Checks })
	if len(f.Picks) == 0 && at >= 0 {
		f.Picks, f.Draws = slices.Clone(k.Runs[at].Picks), slices.Clone(k.Runs[at].Draws)
	}
}

// Keep adds a run, in place of what was kept of the same sources and checks. Of each seed it
// takes the picks up to the first that is not judged: an interrupted run has judged the easy
// picks first only if it took them out of the order in which they were drawn.
func (k *Kept) Keep(f *File) {
	own := *f
	own.Picks, own.Draws = nil, nil
	for _, d := range f.Draws {
		judged := f.beginning(d)
		d.Picks = len(judged)
		if d.Picks > 0 {
			own.Draws, own.Picks = append(own.Draws, d), append(own.Picks, judged...)
		}
	}
	k.Runs = slices.DeleteFunc(k.Runs, func(r *File) bool { return r.Sources == f.Sources && r.Checks == f.Checks })
	if len(own.Picks) > 0 {
		k.Runs = append(k.Runs, &own)
	}
}

// beginning is the picks of a draw up to the first that is not judged.
func (f *File) beginning(d Draw) (judged []Pick) {
	for n := range d.Picks {
		at := slices.IndexFunc(f.Picks, func(p Pick) bool { return p.Seed == d.Seed && p.Nth == n })
		if at < 0 {
			break
		}
		judged = append(judged, f.Picks[at])
	}
	return judged
}

// Write replaces the file in one step.
func (k *Kept) Write(path string) error { return runner.WriteJSON(path, k) }

// Picks are those of all runs.
func (k *Kept) Picks() (all []Pick) {
	for _, r := range k.Runs {
		all = append(all, r.Picks...)
	}
	return all
}
