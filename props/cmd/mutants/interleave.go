package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/interleave/build"
	"eventide/props/mutant"
	"eventide/props/mutant/chosen"
)

// interleaver lets the interleave lane look for mutants.
type interleaver struct {
	settings
	build func(dir string, changed map[string]string, race bool) (bin string, err error)
	look  func(bin, cases, lean string, race bool, budget time.Duration) (lane.Result, error)

	clean map[bool]func() error // by race: that the lane finds nothing without a mutant
}

func newInterleaver(s settings) *interleaver {
	i := &interleaver{settings: s, look: s.lookForSchedule}
	i.build = func(dir string, changed map[string]string, race bool) (string, error) {
		return build.Lane{Root: s.root, Dir: dir, Changed: changed, Race: race}.Build()
	}
	i.clean = map[bool]func() error{
		false: sync.OnceValue(func() error { return i.control(false) }),
		true:  sync.OnceValue(func() error { return i.control(true) }),
	}
	return i
}

// control runs the lane on core as it is, once.
func (i *interleaver) control(race bool) error {
	dir, err := filepath.Abs(filepath.Join(i.out, "bin", fmt.Sprintf("interleave-control-%v", race)))
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := i.build(dir, nil, race)
	if err != nil {
		return err
	}
	r, err := i.look(bin, filepath.Join(dir, "cases"), "", race, i.forControl(i.interleave))
	if err != nil {
		return fmt.Errorf("the interleave lane without a mutant: %w", err)
	}
	if k, found := killOf(r, ""); found {
		return fmt.Errorf("the interleave lane finds something without a mutant, so what it finds with one means nothing: %s", k.what)
	}
	return nil
}

// try adds to e what the lane saw of the mutant, and reports whether it killed it.
func (i *interleaver) try(m mutant.Mutant, e *entry, dir string, race bool) (bool, error) {
	if err := i.clean[race](); err != nil {
		return false, err
	}
	changed, err := m.Apply(i.root)
	if err != nil {
		return false, err
	}
	place := filepath.Join(dir, laneInterleave)
	bin, err := i.build(place, changed, race)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(place)
	defer e.clock()()
	r, err := i.look(bin, dir, m.Guarantee, race, i.interleave)
	if err != nil {
		return false, err
	}
	e.Schedules += r.Runs
	k, found := killOf(r, m.Guarantee)
	if found {
		e.killed(k)
	}
	return found, nil
}

// lookForSchedule runs the lane until it has found something or the budget is spent.
func (s settings) lookForSchedule(bin, cases, lean string, race bool, budget time.Duration) (lane.Result, error) {
	return s.lookForSchedules(0, bin, cases, lean, race, budget, math.MaxInt)
}

// lookForSchedules is lookForSchedule with a limit of the schedules, and with the number of the
// mutant that runs, of those in the program.
func (s settings) lookForSchedules(number int, bin, cases, lean string, race bool, budget time.Duration, most int) (lane.Result, error) {
	r := lane.Run{
		Bin: bin, Budget: budget, Seed: s.seed, Cases: cases, MaxMemory: maxMemory, Args: []string{"-quick", "-first", "-1"},
		Until: func(r lane.Result) bool { return len(r.Failed) > 0 || r.Runs >= most },
		Env:   []string{"GORACE=exitcode=0", chosen.Environment(number)}, // one race is planted, to see that the detector works
	}
	if lean != "" {
		r.Args = append(r.Args, "-lean", lean)
	}
	if race {
		r.Budget *= 2
	}
	return twiceIfHung(r.Budget, func() (lane.Result, error) { return r.Do(s.root) })
}
