package process

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// captureDefault has slog.Default write warnings and errors to the coretest.Log.
func captureDefault(t *testing.T) *coretest.Log {
	t.Helper()
	old, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(old)
		log.SetOutput(writer) // SetDefault has redirected package log
		log.SetFlags(flags)
	})
	lines := &coretest.Log{}
	slog.SetDefault(slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return lines
}

// runToEnd is a Run whose exit begins at once.
func runToEnd(t *testing.T, plan Plan) Report {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return runWith(ctx, plan, noSignals)
}

func noSignals([]os.Signal) (<-chan os.Signal, func()) { return nil, func() {} }

// A Plan without a Logger is not a silent one: a failure is a warning or an error of
// slog.Default.
func TestFailuresAreLoggedWithoutALogger(t *testing.T) {
	failure := errors.New("disk is full")
	lost := newLossy()
	tests := []struct {
		name string
		plan func(gate chan struct{}) Plan
		code int
		line []string
	}{
		{"a negative Deadline", func(chan struct{}) Plan { return Plan{Deadline: -1} }, CodeBadPlan, []string{"level=ERROR", "not started", "Deadline is -1ns, want 0 or more", "code=2"}},
		{"a step without a name", func(gate chan struct{}) Plan { return Plan{Steps: []Step{{Run: until(gate)}}} }, CodeBadPlan, []string{"level=ERROR", "Steps[0].Name is empty, want a name"}},
		{"a step fails", func(chan struct{}) Plan {
			return Plan{Steps: []Step{{Name: "it", Run: func(context.Context) error { return failure }}}}
		}, CodeFailed, []string{"level=ERROR", "step failed", "step=it", "disk is full"}},
		{"a step's deadline passes", func(gate chan struct{}) Plan { return Plan{Steps: []Step{{Name: "it", Run: until(gate)}}} }, CodeFailed, []string{"level=ERROR", "deadline passed", "step=it"}},
		{"the deadline of the exit passes", func(gate chan struct{}) Plan {
			return Plan{Deadline: time.Second, Steps: []Step{{Name: "it", Run: until(gate)}}}
		}, CodeFailed, []string{"level=ERROR", "msg=exit", "still_running=[it]", "deadline of the exit passed"}},
		{"tasks are lost", func(chan struct{}) Plan { return Plan{Steps: []Step{{Name: "it", Executor: lost}}} }, CodeFailed, []string{"level=ERROR", "step=it", "lost=3"}},
		{"channels are aborted", func(chan struct{}) Plan {
			return Plan{Steps: []Step{{Name: "it", Executor: newEnded(core.Report{ChannelsAborted: 2})}}}
		}, CodeClean, []string{"level=WARN", "step=it", "channels_aborted=2"}},
		{"channels are aborted with an answer in flight", func(chan struct{}) Plan {
			return Plan{Steps: []Step{{Name: "it", Executor: newEnded(core.Report{ChannelsAborted: 2, ChannelsHeld: 1, Held: "channel 7, held since"})}}}
		}, CodeFailed, []string{"level=ERROR", "answers in flight", "step=it", "channels_held=1", "channel 7, held since"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := captureDefault(t)
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				if r := runToEnd(t, tt.plan(gate)); r.Code != tt.code {
					t.Errorf("exit code %d, want %d; report %+v", r.Code, tt.code, r)
				}
				close(gate)
			})
			wantLine(t, lines.String(), tt.line...)
		})
	}
}

// Silence is asked for.
func TestDiscardHandlerIsSilent(t *testing.T) {
	lines := captureDefault(t)
	if r := runToEnd(t, Plan{Deadline: -1, Logger: slog.New(slog.DiscardHandler)}); r.Code != CodeBadPlan {
		t.Errorf("exit code %d, want %d", r.Code, CodeBadPlan)
	}
	if got := lines.String(); got != "" {
		t.Errorf("slog.Default got %q, want nothing", got)
	}
}

// ended is an executor that ends as it is told to shut down.
type ended struct {
	term *core.Termination
	end  func(core.Report, error) bool
	work core.Report
}

func newEnded(work core.Report) ended {
	e := ended{work: work}
	var err error
	if e.term, e.end, err = core.NewTermination(func() error { return nil }, func() core.Report { return core.Report{} }); err != nil {
		panic(err)
	}
	return e
}

// newLossy ends without having run what it accepted.
func newLossy() ended { return newEnded(core.Report{Accepted: 5, Ran: 2}) }

func (e ended) ShutdownGracefully(time.Duration, time.Duration) (*core.Termination, error) {
	return e.Shutdown(), nil
}
func (e ended) Shutdown() *core.Termination    { e.end(e.work, nil); return e.term }
func (e ended) Termination() *core.Termination { return e.term }
