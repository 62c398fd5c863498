package process

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
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

// TestPropEndsOfParts compares what the parts of Plan.Starts do by Ready and by their ends with a specification, one after
// another. A failure is in the log before it begins the exit, and it begins the exit only while other parts run. The program
// is ready when each part has called Ready or has returned nil, but not if the last part returns just then.
func TestPropEndsOfParts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var got, want []string
		begun, begin := context.WithCancelCause(t.Context())
		defer begin(nil)
		x := &exit{plan: &Plan{Health: &Health{}}, begun: begun, log: &scribe{ctx: t.Context(), logger: slog.New(lineHandler{slog.DiscardHandler, &got})}}
		x.begin = func(cause error) {
			x.log.flush(time.Hour)
			if begun.Err() == nil {
				got = append(got, fmt.Sprintf("the exit begins: %v", cause))
			}
			begin(cause)
		}
		s := &starts{x: x}
		for i := range rapid.IntRange(1, 4).Draw(r, "parts") {
			s.parts = append(s.parts, &startedPart{name: fmt.Sprint("part", i)})
		}
		running, settled, exits, isReady := len(s.parts), map[*startedPart]bool{}, false, false
		s.unready.Store(int64(running))
		s.running.Store(int64(running))
		for _, p := range rapid.Permutation(s.parts).Draw(r, "order of the ends") {
			for range rapid.IntRange(0, 2).Draw(r, "calls of Ready before the end") {
				other := rapid.SampledFrom(s.parts).Draw(r, "a part that calls Ready")
				s.settle(other)
				settled[other] = true
				isReady = isReady || !exits && len(settled) == len(s.parts)
			}
			running--
			var err error
			if rapid.Bool().Draw(r, p.name+" fails") {
				err = errors.New("no luck")
				if want = append(want, "ERROR start failed start="+p.name+" error=no luck"); running > 0 && !exits {
					exits = true
					want = append(want, fmt.Sprintf("the exit begins: process: start %q: no luck", p.name))
				}
			} else if running > 0 {
				settled[p] = true
				isReady = isReady || !exits && len(settled) == len(s.parts)
			}
			s.end(p, err)
			x.log.flush(time.Hour)
			if !slices.Equal(got, want) {
				r.Fatalf("the lines and the begin of the exit are\n%q\nwant\n%q", got, want)
			}
			if state, _ := probe(x.plan.Health.Readiness()); (state == 200) != isReady {
				r.Fatalf("after the end of %s the readiness probe answers %d, want that the program is ready: %v", p.name, state, isReady)
			}
		}
	})
}
