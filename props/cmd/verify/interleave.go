package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"eventide/props"
	"eventide/props/lane"
)

// scheduleReport is what the interleave lane did.
type scheduleReport struct {
	Schedules   int            `json:"schedules"`
	Classes     int            `json:"classes"`                        // that differ in what happens before what
	StepsPerSec float64        `json:"steps_per_second"`               // that passed
	StepRate    float64        `json:"steps_per_processor_second"`     // with the judge, like Rate
	Rate        float64        `json:"schedules_per_processor_second"` // with the judge; Speed has the scheduler alone
	Exhausted   lane.Exhausted `json:"exhausted"`
	Speed       []lane.Speed   `json:"speed"`
	Fairness    map[string]int `json:"needs_fairness"`
	lane.Coverage
}

func schedulesOf(r lane.Result) scheduleReport {
	s := scheduleReport{Schedules: r.Runs, Classes: r.Classes, StepsPerSec: r.StepsPerSec, StepRate: r.StepRate, Rate: r.Rate(), Speed: r.Speed, Fairness: r.Fairness, Coverage: r.Coverage}
	if r.Exhausted != nil {
		s.Exhausted = *r.Exhausted
	}
	return s
}

// interleaveMinimum is how many schedules must have exercised a guarantee.
const interleaveMinimum = 100

// interleaveLane is what the interleave lane says of a guarantee.
func (v *verification) interleaveLane(g props.Guarantee) laneReport {
	l := laneOf("interleave", v.interleave, g, interleaveMinimum)
	if x := v.interleave.Exhausted; x != nil {
		l.Exhausted = x.Exercised[g.ID]
	}
	return l
}

// print says how much of the schedules was seen.
func (s scheduleReport) print(w io.Writer) {
	fmt.Fprintf(w, "schedules %d of %d classes; of %d small scenarios every schedule was seen:", s.Schedules, s.Classes, s.Exhausted.Scenarios)
	for _, bound := range slices.Sorted(maps.Keys(s.Exhausted.To)) {
		fmt.Fprintf(w, " to %d preemptions of %d;", bound, s.Exhausted.To[bound])
	}
	fmt.Fprintf(w, " without a bound of %d; %d schedules for that\n", s.Exhausted.All, s.Exhausted.Schedules)
	fmt.Fprintf(w, "         %.0f %% of the last schedules were of a new class, %.0f %% are unseen; %d of %d actions in a state; %d of %d conflicting pairs of places",
		100*s.NewClassRate, 100*s.Unseen, s.Actions.Hit, s.Actions.Of, s.Conflicts.Hit, s.Conflicts.Of)
	for _, c := range s.PCT {
		fmt.Fprintf(w, "; pct%d %.2g", c.Depth, c.Median)
	}
	fmt.Fprintf(w, "; %d places needed fairness\n", len(s.Fairness))
	if s.Rate > 0 {
		fmt.Fprintf(w, "         judged,          %21.2f million steps/s, %6.0f runs/s of processor time\n", s.StepRate/1e6, s.Rate)
	}
	for _, speed := range s.Speed {
		fmt.Fprintf(w, "         scheduler alone, %v\n", speed)
	}
}
