package process

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropReportsOfParts compares the reports of the parts of Plan.Starts with a specification. Each part has its own outcome,
// error and time. The deadline has passed for a part only if that part still runs and the deadline has passed for all of them.
func TestPropReportsOfParts(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		now := time.Now()
		whole := StepReport{DeadlinePassed: rapid.Bool().Draw(r, "the deadline has passed")}
		var s *starts
		var want []StepReport
		for i := range rapid.IntRange(0, 4).Draw(r, "parts") {
			if s == nil {
				s = &starts{}
			}
			runs, ran := time.Duration(rapid.IntRange(5, 9).Draw(r, "runs since"))*time.Second, time.Duration(rapid.IntRange(0, 4).Draw(r, "ran for"))*time.Second
			a := &attempt{began: now.Add(-runs), over: make(chan struct{})}
			w := StepReport{Name: fmt.Sprint("part ", i)}
			switch rapid.SampledFrom([]Outcome{Done, Failed, StillRunning}).Draw(r, "outcome") {
			case StillRunning:
				w.Outcome, w.Elapsed, w.DeadlinePassed = StillRunning, runs, whole.DeadlinePassed
			case Failed:
				a.err = errors.New("the error of a part")
				w.Outcome, w.Elapsed, w.Err = Failed, ran, a.err
			default:
				w.Outcome, w.Elapsed = Done, ran
			}
			if w.Outcome != StillRunning {
				a.ended = a.began.Add(ran)
				close(a.over)
			}
			s.parts, want = append(s.parts, &startedPart{name: w.Name, attempt: a}), append(want, w)
		}
		if got := s.reports(whole, now); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			r.Fatalf("the deadline has passed: %v: the reports of the parts are\n%+v, want\n%+v", whole.DeadlinePassed, got, want)
		}
	})
}
