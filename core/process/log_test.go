package process

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
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

// A handler that takes its goroutine with it hears of the rest all the same.
func TestLoggerThatDoesNotReturnHearsEveryLine(t *testing.T) {
	tests := []struct {
		name   string
		leaves func(line int) // line counts from 1
	}{
		{"returns", func(int) {}},
		{"exits at the first line", func(line int) { exitIf(line == 1) }},
		{"exits at the last line", func(line int) { exitIf(line == 4) }},
		{"exits at every line", func(int) { runtime.Goexit() }},
		{"panics at every line", func(int) { panic("no log") }},
		{"panics as it exits", func(int) { defer panic("no log"); runtime.Goexit() }},
		{"panics and exits in turn", func(line int) { exitIf(line%2 == 0); panic("no log") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := 0
				logger := slog.New(handlerFunc{slog.NewTextHandler(os.Stderr, nil), func() { lines++; tt.leaves(lines) }})
				slow := Step{Name: "slow", Run: func(context.Context) error { time.Sleep(time.Second); return nil }}
				tr := launch(t, t.Context(), Plan{Logger: logger, Steps: []Step{slow}})
				tr.signals <- os.Interrupt
				tr.wantCode(CodeClean)
				synctest.Wait()
				// The exit's begin, the step's begin and end, and the exit.
				coretest.Want(t, "lines that the handler got", lines, 4)
				tr.wantTook(time.Second)
			})
		})
	}
}

// The context of each line has the values of the context of Run, and does not end with that context.
func TestLoggerGetsTheValuesOfTheContext(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var got []any
		logger := slog.New(valueHandler{slog.DiscardHandler, func(ctx context.Context) {
			if ctx.Err() == nil {
				got = append(got, ctx.Value(key{}))
			}
		}})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, 7))
		step := Step{Name: "step", Run: func(context.Context) error { return nil }}
		tr := launch(t, ctx, Plan{Logger: logger, Steps: []Step{step}})
		cancel()
		tr.wantCode(CodeClean)
		synctest.Wait()
		coretest.Want(t, "values that the handler got", fmt.Sprint(got), "[7 7 7 7]")
	})
}

// A valueHandler passes the context of each line to handled.
type valueHandler struct {
	slog.Handler
	handled func(context.Context)
}

func (h valueHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h valueHandler) Handle(ctx context.Context, _ slog.Record) error {
	h.handled(ctx)
	return nil
}

func exitIf(now bool) {
	if now {
		runtime.Goexit()
	}
}
