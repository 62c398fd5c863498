package main

import (
	"fmt"
	"path/filepath"

	"eventide/props/lane"
)

// build builds the lane, with an overlay if one is given.
func (v *verification) build(name, overlay string) (string, error) {
	return lane.Build(v.root, filepath.Join(v.out, "bin"), name, overlay)
}

// runLane runs all properties for the whole budget.
func (v *verification) runLane() error {
	bin, err := v.build("props", "")
	if err != nil {
		return err
	}
	v.lane, err = lane.Run{Bin: bin, Budget: v.left(), Seed: v.seed, Hear: func(r lane.Result) {
		v.live.lane(r, v.left())
	}}.Do(v.root)
	if err != nil {
		return err
	}
	return cameToItsEnd(v.lane)
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
