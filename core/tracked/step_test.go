package tracked_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"eventide/core/process"
	"eventide/core/tracked"
)

// TestGroupAsAStep: the step of a group waits for its functions and has the error of the group,
// so the exit code is 1; a function that does not end is named.
func TestGroupAsAStep(t *testing.T) {
	for name, c := range map[string]struct {
		result  error
		stuck   bool
		code    int
		outcome process.Outcome
		running string
	}{
		"in order": {nil, false, process.CodeClean, process.Done, ""},
		"fails":    {errors.New("no letter"), false, process.CodeFailed, process.Failed, ""},
		"is stuck": {nil, true, process.CodeFailed, process.StillRunning, "mailer runs since "},
	} {
		t.Run(name, func(t *testing.T) {
			logger, release := slog.New(slog.DiscardHandler), make(chan struct{})
			g := tracked.NewGroup(tracked.WithLogger(logger))
			err := g.Go("mailer", func(ctx context.Context) error {
				if c.stuck {
					<-release
				}
				<-g.ShutdownContext().Done()
				return c.result
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			end()
			step := process.Step{Name: "group", Executor: g}
			if c.stuck {
				step.Timeout, step.Deadline = time.Millisecond, 10*time.Millisecond
			}
			r := process.RunReport(ctx, process.Plan{Deadline: time.Minute, Signals: []os.Signal{}, Logger: logger, Steps: []process.Step{step}})
			if r.Code != c.code || r.Steps[0].Outcome != c.outcome || !strings.Contains(r.Steps[0].Running, c.running) {
				t.Errorf("code %d, step %+v, want code %d, %v and %q", r.Code, r.Steps[0], c.code, c.outcome, c.running)
			}
			close(release)
			<-g.Termination().Done()
		})
	}
}
