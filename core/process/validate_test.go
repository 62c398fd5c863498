package process

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

type noTermination struct{ Executor }

func (noTermination) Termination() *core.Termination { return nil }

// Nothing starts, and the error is logged.
func TestBadCallsStartNothing(t *testing.T) {
	forbidden := func(context.Context) error { t.Error("it was called"); return nil }
	ex := coretest.NewExecutor(t)
	tests := []struct {
		name string
		ctx  context.Context
		plan Plan
		want string
	}{
		{"bad plan", t.Context(), Plan{Start: forbidden, Deadline: -1}, "Deadline is -1ns"},
		{"nil ctx", nil, Plan{Start: forbidden}, "ctx is nil"},
		{"nothing can begin the exit", context.Background(), Plan{Signals: []os.Signal{}}, "Signals is empty"},
		{"no signal that can be caught", t.Context(), Plan{Start: forbidden, Signals: []os.Signal{syscall.Signal(0), syscall.Signal(200)}}, "Signals[1] is signal 200"},
		{"no termination", t.Context(), Plan{Start: forbidden, Steps: []Step{{Name: "a", Executor: noTermination{ex}}}}, "Termination() is nil"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := &coretest.Log{}
			tt.plan.Logger = slog.New(slog.NewTextHandler(log, nil))
			r := RunReport(tt.ctx, tt.plan)
			if r.Code != CodeBadPlan || r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) {
				t.Errorf("code %d, error %v; want %d, %q", r.Code, r.Err, CodeBadPlan, tt.want)
			}
			wantLine(t, log.String(), "level=ERROR", "not started", tt.want, "code=2")
		})
	}
	if ex.State() != core.StateNotStarted {
		t.Errorf("the executor is %v, want NotStarted", ex.State())
	}
}

func TestLongDurationsDoNotOverflow(t *testing.T) {
	const forever = time.Duration(1<<63 - 1)
	step := Step{Executor: coretest.NewExecutor(t), Timeout: forever, Drain: forever}
	p := Plan{Steps: []Step{step, step, step}}
	if got := step.declared(); got != forever {
		t.Errorf("the step's own time is %v, want %v", got, forever)
	}
	if got := p.budget(0, forever).limit; got != forever {
		t.Errorf("the limit is %v, want %v", got, forever)
	}
	if got := p.kept(0); got != forever {
		t.Errorf("kept for the steps is %v, want %v", got, forever)
	}
}

func TestDefaultSignalsIsTheCallersCopy(t *testing.T) {
	DefaultSignals()[0] = nil
	if got := DefaultSignals()[0]; got != os.Interrupt {
		t.Errorf("DefaultSignals()[0] is %v, want os.Interrupt", got)
	}
}

func TestOutcomeString(t *testing.T) {
	for o, want := range map[Outcome]string{NotBegun: "not begun", Done: "done", Failed: "failed", StillRunning: "still running", 9: "Outcome(9)"} {
		if got := o.String(); got != want {
			t.Errorf("Outcome(%d).String() is %q, want %q", uint8(o), got, want)
		}
	}
}
