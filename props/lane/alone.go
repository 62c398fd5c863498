package lane

import (
	"fmt"
	"io"
	"slices"
)

// Alone is the speed of lanes that ran by themselves, one after the other, each on one
// processor.
type Alone struct {
	Schema  int         `json:"schema"`
	Commit  string      `json:"commit"`
	Go      string      `json:"go"`
	CPU     string      `json:"cpu"`
	Seconds float64     `json:"seconds"` // of each round
	Lanes   []AloneLane `json:"lanes"`
}

// AloneLane is the speed of one lane: a value for each round.
type AloneLane struct {
	Lane  string    `json:"lane"`
	Runs  []float64 `json:"runs_per_processor_second"`            // programs or schedules, generated, run and judged
	Steps []float64 `json:"steps_per_processor_second,omitempty"` // of the interleave lane
	Speed []Speed   `json:"speed,omitempty"`                      // of the scheduler alone, in the last round
}

// Add appends a round.
func (l *AloneLane) Add(r Result) {
	l.Runs = append(l.Runs, r.Rate())
	if r.StepRate > 0 {
		l.Steps = append(l.Steps, r.StepRate)
	}
	l.Speed = r.Speed
}

// Print writes a line for each lane.
func (a Alone) Print(w io.Writer) {
	for _, l := range a.Lanes {
		fmt.Fprintf(w, "%-10s  %s runs per second of processor time", l.Lane, spread(l.Runs, 1, 0))
		if len(l.Steps) > 0 {
			fmt.Fprintf(w, ", %s million steps", spread(l.Steps, 1e6, 2))
		}
		fmt.Fprintln(w)
	}
}

// RunsText returns the median of the rounds, with the least and the greatest.
func (l AloneLane) RunsText() string { return spread(l.Runs, 1, 0) }

// StepsText returns the same of the steps, in millions.
func (l AloneLane) StepsText() string { return spread(l.Steps, 1e6, 2) }

// spread returns the median of values and their range, in a unit. If their number is
// even, the median is the lower one of the two in the middle. Requires a value.
func spread(values []float64, unit float64, digits int) string {
	v := slices.Sorted(slices.Values(values))
	text := func(x float64) string { return fmt.Sprintf("%.*f", digits, x/unit) }
	return fmt.Sprintf("%s (%s to %s)", text(v[(len(v)-1)/2]), text(v[0]), text(v[len(v)-1]))
}
