package main

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"eventide/model"
	"eventide/props"
	"eventide/props/lane"
	"eventide/props/mutant"
)

// verification is one run of the main job.
type verification struct {
	settings
	began time.Time
	live  *live
	clock *timetable

	model   model.Result // of everything but descriptors
	regs    model.Result // of registrations and channels
	traces  traceResult
	lane    lane.Result // the virtual one
	real    lane.Result
	mutants map[string]mutantResult // by name

	interleave lane.Result            // under schedules that are chosen
	shadows    map[string]lane.Result // of the lanes of package shadow, by name
}

// run does the parts side by side: the virtual lane of properties takes one
// processor for the whole budget; the model, the traces, the mutants and the other
// lanes share the other.
func (v *verification) run() error {
	if err := os.MkdirAll(filepath.Join(v.out, "bin"), 0o755); err != nil {
		return err
	}
	planted, err := mutant.Load(filepath.Join(v.root, "testdata", "mutants"))
	if err != nil {
		return err
	}
	var laneErr, restErr error
	var both sync.WaitGroup
	both.Go(func() { laneErr = v.runLanes() })
	both.Go(func() {
		v.exploreModel()
		if restErr = v.judgeTraces(); restErr == nil {
			restErr = v.runMutants(planted)
		}
	})
	both.Wait()
	v.live.end()
	return errors.Join(laneErr, restErr)
}

func (v *verification) exploreModel() {
	v.model = model.Explore(model.DefaultBounds(), model.Options{Progress: func(states, edges, depth int) {
		v.live.set(func(l *live) { l.states = states })
	}})
	v.regs = model.Explore(model.ChannelBounds(model.DrainChannels), model.Options{Progress: func(states, edges, depth int) {
		v.live.set(func(l *live) { l.states = v.model.States + states })
	}})
	v.live.set(func(l *live) { l.states = v.model.States + v.regs.States })
}

// checked are the guarantees that the virtual lane checks.
func checked() []props.Guarantee {
	var list []props.Guarantee
	for _, g := range props.Guarantees {
		if g.Checked() {
			list = append(list, g)
		}
	}
	return list
}
