package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"eventide/props/lane"
)

// build builds the lane, with an overlay if one is given.
func (v *verification) build(name, overlay string) (string, error) {
	return lane.Build(v.root, filepath.Join(v.out, "bin"), name, overlay)
}

// runLanes runs all properties for the whole budget, in virtual time and beside it,
// as it mostly waits, in real time.
func (v *verification) runLanes() error {
	bin, err := v.build("props", "")
	if err != nil {
		return err
	}
	var virtualErr, realErr error
	var both sync.WaitGroup
	both.Go(func() {
		v.lane, virtualErr = lane.Run{Bin: bin, Budget: v.left(), Seed: v.seed, Hear: func(r lane.Result) {
			v.live.lane(r, v.left())
		}}.Do(v.root)
		if virtualErr == nil {
			virtualErr = cameToItsEnd(v.lane)
		}
	})
	both.Go(func() {
		v.real, realErr = lane.Run{Bin: bin, Lane: "TestRealLane", Budget: v.left(), Seed: v.seed, Hear: func(r lane.Result) {
			v.live.set(func(l *live) { l.real = r.Runs })
		}}.Do(v.root)
		if realErr == nil {
			realErr = cameToItsEnd(v.real)
		}
		if realErr != nil {
			realErr = fmt.Errorf("in real time: %w", realErr)
		}
	})
	both.Wait()
	return errors.Join(virtualErr, realErr)
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
