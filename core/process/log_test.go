package process

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A step that the second signal left running, and that ended between the two looks, had
// no line in the log: neither that it is done nor that it is still running.
func TestAStepThatEndsBetweenTheLooksHasALine(t *testing.T) {
	ended := &attempt{over: make(chan struct{})}
	close(ended.over)
	failed := &attempt{over: ended.over, err: context.Canceled}
	running := &attempt{over: make(chan struct{})}
	tests := []struct {
		name  string
		first StepReport // as of the first look
		then  *attempt   // as of the second
		want  string
	}{
		{"done since", StepReport{Name: "one", Outcome: StillRunning}, ended, `"step done" step=one`},
		{"failed since", StepReport{Name: "one", Outcome: StillRunning}, failed, `"step failed" step=one`},
		{"done before", StepReport{Name: "one", Outcome: Done}, ended, `"step done" step=one`},
		{"late, and done since", StepReport{Name: "one", Outcome: StillRunning, DeadlinePassed: true}, ended, `deadline passed" step=one`},
		{"running", StepReport{Name: "one", Outcome: StillRunning}, running, `"still running" step=one`},
		{"not begun", StepReport{Name: "one"}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			x := &exit{
				plan: &Plan{Steps: []Step{{Name: "one"}}}, steps: []*attempt{tt.then},
				log: &scribe{ctx: t.Context(), logger: slog.New(slog.NewTextHandler(&out, nil))},
			}
			if tt.then != nil {
				tt.then.logged = false
			}
			x.logStep(tt.then, tt.first)
			x.logExit(Report{Steps: []StepReport{tt.then.report("one", time.Now())}})
			x.log.flush(time.Minute)
			lines := strings.Count(out.String(), "step=one")
			if tt.want == "" && lines == 0 {
				return
			}
			if lines != 1 || !strings.Contains(out.String(), tt.want) {
				t.Errorf("the log has %d lines of the step, want one with %q:\n%s", lines, tt.want, out.String())
			}
		})
	}
}
