package main

import (
	"fmt"
	"path/filepath"
	"time"

	"eventide/props"
	"eventide/props/lane"
	"eventide/props/mutant"
)

// mutantResult is what became of one planted bug.
type mutantResult struct {
	Killed  bool
	By      string // the violation that was found
	Runs    int
	Seconds float64
}

// mutantBudget is how long the property of a guarantee may take to see its
// planted bug. Most are seen within a hundred programs, at once; on a machine that
// is busy a rare interleaving takes longer.
const mutantBudget = 20 * time.Second

// runMutants plants one bug for each guarantee that is checked, in the sources of
// this very build, and lets the guarantee's property look for it.
func (v *verification) runMutants(planted []mutant.Mutant) error {
	v.mutants = map[string]mutantResult{}
	byName := map[string]mutant.Mutant{}
	for _, m := range planted {
		byName[m.Name] = m
	}
	v.clock.mutantsBegin(time.Now())
	v.live.set(func(l *live) { l.planted = len(checked()) })
	for _, g := range checked() {
		m, ok := byName[g.Mutant]
		if !ok || m.Guarantee != g.ID {
			return fmt.Errorf("%s names the mutant %q: there is none in testdata/mutants that stands for it", g.ID, g.Mutant)
		}
		result, err := v.runMutant(m, g)
		if err != nil {
			return err
		}
		v.mutants[m.Name] = result
		v.clock.mutantDone()
		v.live.set(func(l *live) { l.mutants++ })
	}
	return nil
}

func (v *verification) runMutant(m mutant.Mutant, g props.Guarantee) (mutantResult, error) {
	dir, err := filepath.Abs(filepath.Join(v.out, "mutants", m.Name))
	if err != nil {
		return mutantResult{}, err
	}
	overlay, err := m.Overlay(v.root, dir)
	if err != nil {
		return mutantResult{}, err
	}
	bin, err := v.build(m.Name, overlay)
	if err != nil {
		return mutantResult{}, err
	}
	began := time.Now()
	r, err := lane.Run{Bin: bin, Only: g.ID, Budget: mutantBudget, Seed: v.seed, Cases: dir}.Do(v.root)
	if err != nil {
		return mutantResult{}, fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	return mutantResult{
		Killed: r.Failed[g.ID] != "", By: r.Failed[g.ID], Runs: r.Runs, Seconds: time.Since(began).Seconds(),
	}, nil
}
