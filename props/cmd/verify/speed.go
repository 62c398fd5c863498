package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"eventide/internal/machine"
	"eventide/props/internal/runner"
	"eventide/props/lane"
)

// speedFile is what measureSpeed writes.
const speedFile = "lanes.json"

// oneProcessor makes a lane use one processor, also for the collection of garbage.
var oneProcessor = []string{"GOMAXPROCS=1"}

// measureSpeed runs the lane in virtual time and the lane of chosen schedules by turns, each
// alone on one processor. Other load on the machine still counts: it takes the caches and,
// of a processor with two threads, half of its units.
func (v *verification) measureSpeed(stdout io.Writer) error {
	virtual, err := v.build("props", "")
	if err != nil {
		return err
	}
	chosen, free, err := v.buildInterleave()
	if err != nil {
		return err
	}
	a, err := v.runAlone([]aloneLane{{"virtual", lane.Run{Bin: virtual}}, {"interleave", lane.Run{Bin: chosen, Args: []string{"-free", free}}}})
	if err != nil {
		return err
	}
	a.Print(stdout)
	return runner.WriteJSON(filepath.Join(v.out, speedFile), a)
}

// aloneLane is a lane and how it runs, without its budget and seed.
type aloneLane struct {
	name string
	run  lane.Run
}

// runAlone runs each lane once in each round. A lane that ends before its time, or finds a
// violation, is an error: its speed is not that of a lane that finds nothing.
func (v *verification) runAlone(lanes []aloneLane) (lane.Alone, error) {
	a := lane.Alone{
		Schema: schema, Commit: runner.Commit(v.root), Go: runtime.Version(), CPU: machine.CPU(), Seconds: v.budget.Seconds(),
		Lanes: make([]lane.AloneLane, len(lanes)),
	}
	for round := range v.speed {
		for i, l := range lanes {
			run := l.run
			run.Budget, run.Env, run.Seed, run.Cases = v.budget, oneProcessor, v.seed+uint64(round), filepath.Join(v.out, "cases")
			r, err := run.Do(v.root)
			switch {
			case err != nil:
			case len(r.Failed) > 0:
				err = fmt.Errorf("it found a violation: %v", r.Failed)
			default:
				err = cameToItsEnd(r)
			}
			if err != nil {
				return a, fmt.Errorf("lane %s, seed %d: %w", l.name, run.Seed, err)
			}
			a.Lanes[i].Lane = l.name
			a.Lanes[i].Add(r)
		}
	}
	return a, nil
}

// speedBudget is the time of a lane in a round, if -budget is not given.
const speedBudget = 20 * time.Second
