package interleave

import (
	"encoding/json"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
)

// times makes each time of the best as small as possible: zero, a millisecond, half of
// it, or equal to another time. Before that it tries a clock that moves only when no
// goroutine can run.
func (m *minimiser) times() {
	breaks := func(sc Scenario) bool { return m.breaks(sc, searchPerTime) }
	if sc := m.best.Scenario; sc.Time != inprocess.Idle {
		sc.Time = inprocess.Idle
		breaks(sc)
	}
	for again := true; again; {
		again = false
		for i := range durations(new(m.best.Scenario)) {
			again = slices.ContainsFunc(smallerTimes(m.best.Scenario, i), breaks) || again
		}
	}
}

// smallerTimes returns the scenario with its i-th time made smaller, the smallest first.
func smallerTimes(sc Scenario, i int) (list []Scenario) {
	all := durations(&sc)
	if i >= len(all) {
		return nil
	}
	now := *all[i]
	smaller := []time.Duration{0, time.Millisecond, now / 2}
	for _, d := range all {
		smaller = append(smaller, *d)
	}
	slices.Sort(smaller)
	for _, d := range slices.Compact(smaller) {
		if d < 0 || d >= now {
			continue
		}
		less := clone(sc)
		*durations(&less)[i] = d
		if valid(less) {
			list = append(list, less)
		}
	}
	return list
}

// clone copies all of a scenario, the steps of bodies included.
func clone(sc Scenario) (c Scenario) {
	data, err := json.Marshal(sc)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		panic(err) // a scenario is data, which case files keep as JSON
	}
	return c
}

// durations returns pointers to the times of a scenario, in an order that does not
// depend on their values.
func durations(sc *Scenario) (all []*time.Duration) {
	if g := sc.Group; g != nil {
		return []*time.Duration{&g.Body, &g.ShutdownAt, &g.Quiet, &g.Timeout}
	}
	var in func([]props.Step)
	script := func(b *props.Script) {
		if b != nil {
			all = append(all, &b.Sleep)
			in(b.Steps)
		}
	}
	in = func(steps []props.Step) {
		for i := range steps {
			s := &steps[i]
			all = append(all, &s.Wait, &s.Delay, &s.Period, &s.Quiet, &s.Timeout, &s.Drain, &s.Linger)
			script(s.Body)
			script(s.Asked)
			if s.Body != nil {
				script(s.Body.Listener)
			}
		}
	}
	for i := range sc.Program.Actors {
		in(sc.Program.Actors[i].Steps)
	}
	return all
}

// valid reports whether every call has valid arguments: a call with others is refused
// and does nothing.
func valid(sc Scenario) bool {
	if g := sc.Group; g != nil && g.Timeout < g.Quiet {
		return false
	}
	return !sc.Program.AnyStep(func(s *props.Step) bool {
		return s.Timeout < s.Quiet || s.Op.Timers() && s.Period == 0 && s.Op != history.OpSchedule
	})
}
