package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/interleave/build"
)

// build builds the lane, with an overlay if one is given.
func (v *verification) build(name, overlay string) (string, error) {
	return lane.Build(v.root, filepath.Join(v.out, "bin"), name, overlay)
}

// runLanes runs all properties for the whole budget: in virtual time; beside it, as it
// mostly waits, in real time; and for half of it under schedules that are chosen, and on core/tcp,
// core/blocking and core/process over models. The budget begins
// when there is something to run: how long the compiler takes on a new machine is no
// reason to look less.
func (v *verification) runLanes() error {
	bin, err := v.build("props", "")
	if err != nil {
		return err
	}
	realBin, err := v.buildReal()
	if err != nil {
		return err
	}
	v.clock.lanesBegin(time.Now())
	var virtualErr, realErr, interleaveErr, shadowsErr error
	var all sync.WaitGroup
	all.Go(func() {
		v.lane, virtualErr = v.complete("", lane.Run{Bin: bin, Budget: v.budget, Hear: v.live.lane})
	})
	all.Go(func() {
		v.real, realErr = v.complete("in real time: ", lane.Run{Bin: realBin, Lane: "TestRealLane", Budget: v.budget, Hear: func(r lane.Result) {
			v.live.set(func(l *live) { l.real = r.Runs })
		}})
	})
	all.Go(func() { interleaveErr = v.runInterleave() })
	all.Go(func() { shadowsErr = v.runShadows() })
	all.Wait()
	v.clock.lanesEnd()
	return errors.Join(virtualErr, realErr, interleaveErr, shadowsErr)
}

// complete runs a lane, with the seed of the run, to its end. An error begins with what.
func (v *verification) complete(what string, run lane.Run) (lane.Result, error) {
	run.Seed = v.seed
	r, err := run.Do(v.root)
	if err == nil {
		err = cameToItsEnd(r)
	}
	if err != nil {
		err = fmt.Errorf("%s%w", what, err)
	}
	return r, err
}

// cameToItsEnd is an error for a lane that hung or crashed: that it found nothing
// until then is no pass.
func cameToItsEnd(r lane.Result) error {
	switch {
	case len(r.Failed) > 0: // the verdict says it better
	case r.Ending == lane.Hung:
		return fmt.Errorf("the lane hung after %d runs and had to be killed", r.Runs)
	case r.Ending == lane.Crashed:
		return fmt.Errorf("the lane crashed after %d runs:\n%s", r.Runs, r.Output)
	}
	return nil
}

// buildInterleave builds the lane of chosen schedules, which is a program of its own, and
// the same programs without control.
func (v *verification) buildInterleave() (bin, free string, err error) {
	the := build.Lane{Root: v.root, Dir: filepath.Join(v.out, "interleave")}
	if bin, err = the.Build(); err != nil {
		return "", "", err
	}
	free, err = the.BuildFree()
	return bin, free, err
}

// runInterleave builds the lane of chosen schedules and runs it.
func (v *verification) runInterleave() error {
	bin, free, err := v.buildInterleave()
	if err != nil {
		return err
	}
	out, err := filepath.Abs(v.out)
	if err != nil {
		return err
	}
	v.interleave, err = v.complete("with schedules: ", lane.Run{Bin: bin, Budget: v.budget / 2, Cases: filepath.Join(out, "cases"), Args: []string{"-free", free}, Hear: func(r lane.Result) {
		v.live.set(func(l *live) { l.schedules, l.classes, l.coverage = r.Runs, r.Classes, r.Coverage })
	}})
	return err
}
