package process

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// slowToName is an executor that takes a minute to say what it runs.
type slowToName struct{ *tracked.Group }

func (s slowToName) Running() string {
	time.Sleep(time.Minute)
	return "a job"
}

// TestG11ADeadlineBetweenTwoSteps: the deadline has cut the exit short also if it passes between two
// steps, of which the first was left behind in time.
func TestG11ADeadlineBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, gate := tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler))), make(chan struct{})
		coretest.Must(t, jobs.Go("job", func(context.Context) error { <-gate; return nil }))
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Deadline: 10 * time.Second, Steps: []Step{
			{Name: "jobs", Executor: slowToName{jobs}, Timeout: time.Second, Deadline: time.Second}, c.step("next"),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		first, next := tr.report.Steps[0], tr.report.Steps[1]
		if !first.DeadlinePassed || next.Outcome != NotBegun || tr.report.Ended != ErrDeadline {
			t.Errorf("G11: ended by %v after %+v and %+v, want by ErrDeadline after a step that was late and one that was not begun", tr.report.Ended, first, next)
		}
		c.want(t)
		close(gate)
		<-jobs.Termination().Done()
	})
}
