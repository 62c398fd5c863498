package process

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// fx #1035: a stuck hook must not starve the ones after it.
func TestStuckStepDoesNotStarveTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "stuck", Deadline: 3 * time.Second, Run: func(ctx context.Context) error {
				<-ctx.Done()
				c.note(context.Cause(ctx).Error())
				<-gate
				return nil
			}},
			c.step("next"),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		c.want(t, ErrStepDeadline.Error()+"@3s", "next@3.1s")
		tr.wantLine("level=ERROR", "step's deadline passed", "step=stuck", `outcome="still running"`)
		tr.wantLine("msg=exit", "still_running=[stuck]")
		if s := tr.report.Steps[0]; !s.DeadlinePassed || s.Outcome != StillRunning {
			t.Errorf("the stuck step: %+v, want its deadline passed, still running", s)
		}
		close(gate)
	})
}

// One that heeds its context is late, but not said to be running.
func TestLateStepThatHeedsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "late", Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			c.step("next"),
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		c.want(t, "next@5s")
		s := tr.report.Steps[0]
		if !s.DeadlinePassed || s.Outcome != Failed || !errors.Is(s.Err, context.DeadlineExceeded) || tr.report.StillRunning() != nil {
			t.Errorf("the late step: %+v, want its deadline passed, failed with DeadlineExceeded", s)
		}
	})
}

// A step that ends just before its deadline was in time, however late Run looks: the
// two can be there to be seen at once.
func TestStepThatEndsBeforeItsDeadlineIsNotLate(t *testing.T) {
	const deadline = 3 * time.Second
	for _, row := range []struct {
		ends time.Duration
		late bool
	}{{deadline - 1, false}, {deadline, true}, {deadline + 1, true}} {
		t.Run(row.ends.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, release := context.WithTimeoutCause(t.Context(), deadline, ErrStepDeadline)
				defer release()
				a := begin(ctx, time.Now(), func(context.Context) error { time.Sleep(row.ends); return nil })
				time.Sleep(deadline + time.Second)
				a.wait(ctx, t.Context())
				if r := a.report("it", time.Now()); r.DeadlinePassed != row.late || r.Outcome != Done {
					t.Errorf("a step that has ended after %v of %v: %+v, want done, its deadline passed: %v", r.Elapsed, deadline, r, row.late)
				}
			})
		})
	}
}

// lateTimer is a context whose deadline passes before it ends, as those of package
// context may when the processors are busy.
type lateTimer struct {
	context.Context
	at time.Time
}

func (l lateTimer) Deadline() (time.Time, bool) { return l.at, true }

// Without any time left nothing is begun: an executor would abort what it has, and the
// exit might be over before anybody hears of the deadline.
func TestG11NothingBeginsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, left := range []time.Duration{0, -time.Millisecond} {
			whole, end := context.WithTimeoutCause(t.Context(), time.Second, ErrDeadline)
			x := &exit{plan: &Plan{}, log: discard(t), whole: lateTimer{whole, time.Now().Add(left)}}
			a := x.perform("it", time.Minute, func(context.Context) error {
				t.Errorf("G11: a step began with %v left of the exit's Deadline", left)
				return nil
			})
			if a != nil || context.Cause(whole) != ErrDeadline {
				t.Errorf("G11: with %v left: an attempt was made: %v; the exit ended with %v, want ErrDeadline", left, a != nil, context.Cause(whole))
			}
			end()
		}
	})
}

// A step that is left behind may end while the others run.
func TestStepThatEndsAfterItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{Steps: []Step{
			{Name: "late", Deadline: time.Second, Run: func(context.Context) error { time.Sleep(3 * time.Second); return nil }},
			{Name: "next", Run: func(context.Context) error { time.Sleep(4 * time.Second); return nil }},
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		s := tr.report.Steps[0]
		if !s.DeadlinePassed || s.Outcome != Done || s.Elapsed != 3*time.Second {
			t.Errorf("the late step: %+v, want its deadline passed, done after 3 s", s)
		}
	})
}

func TestFailedStepsStopNobody(t *testing.T) {
	failure := errors.New("disk is full")
	tests := []struct {
		name string
		run  func(context.Context) error
		want error
		line []string
	}{
		{"an error", func(context.Context) error { return failure }, failure, []string{"step failed", "disk is full"}},
		{"a panic", func(context.Context) error { panic(failure) }, failure, []string{"step failed", "disk is full", "stack=", "step_test.go"}},
		{"Goexit", func(context.Context) error { runtime.Goexit(); return nil }, core.ErrGoexit, []string{"step failed", "Goexit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCalls()
				tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "bad", Run: tt.run}, c.step("next")}})
				tr.signals <- os.Interrupt
				tr.wantCode(1)
				c.want(t, "next@0s")
				tr.wantLine(append(tt.line, "level=ERROR", "step=bad")...)
				if s := tr.report.Steps[0]; s.Outcome != Failed || !errors.Is(s.Err, tt.want) {
					t.Errorf("the step: %+v, want failed with %v", s, tt.want)
				}
			})
		})
	}
}

func TestNotReadyThatFailsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		tr := launch(t, t.Context(), Plan{NotReady: func() { panic("no probe") }, Steps: []Step{c.step("next")}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		c.want(t, "next@0s")
		tr.wantLine("step failed", "step=NotReady", "no probe")
	})
}

type key struct{}

// A step works with the values of Run's context, which may have ended.
func TestStepContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		tr := launch(t, ctx, Plan{Steps: []Step{{Name: "one", Deadline: 3 * time.Second, Run: func(ctx context.Context) error {
			if got := ctx.Value(key{}); got != "value" {
				t.Errorf("ctx.Value is %v, want that of Run's context", got)
			}
			if err := ctx.Err(); err != nil {
				t.Errorf("ctx has ended with Run's: %v", err)
			}
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 3*time.Second {
				t.Errorf("ctx ends in %v, want 3 s", time.Until(deadline))
			}
			return nil
		}}}})
		cancel()
		tr.wantCode(0)
	})
}

// SIGPIPE is given back when the signals are: a last line that is written later
// could kill the process.
func TestLastLineIsWrittenBeforeTheSignalsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := 0
		slow := handlerFunc{slog.NewTextHandler(os.Stderr, nil), func() { time.Sleep(time.Millisecond); lines++ }}
		signals := make(chan os.Signal, 1)
		signals <- os.Interrupt
		runWith(t.Context(), Plan{Logger: slog.New(slow)}, func([]os.Signal) (<-chan os.Signal, func()) {
			return signals, func() {
				if lines != 2 {
					t.Errorf("%d lines are written when the signals are given back, want 2: exit begins, exit", lines)
				}
			}
		})
	})
}

// handlerFunc is a handler that does something else.
type handlerFunc struct {
	slog.Handler
	handle func()
}

func (h handlerFunc) Handle(context.Context, slog.Record) error { h.handle(); return nil }

func TestLoggerDoesNotHoldUpTheExit(t *testing.T) {
	tests := []struct {
		name string
		took time.Duration
		log  func(gate chan struct{})
	}{
		{"blocks", 100 * time.Millisecond, func(gate chan struct{}) { <-gate }},
		{"panics", 0, func(chan struct{}) { panic("no log") }},
		{"exits", 0, func(chan struct{}) { runtime.Goexit() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				c := newCalls()
				logger := slog.New(handlerFunc{slog.NewTextHandler(os.Stderr, nil), func() { tt.log(gate) }})
				tr := launch(t, t.Context(), Plan{Logger: logger, Steps: []Step{c.step("one"), c.step("two")}})
				tr.signals <- os.Interrupt
				tr.wantCode(0)
				tr.wantTook(tt.took)
				c.want(t, "one@0s", "two@0s")
				close(gate)
			})
		})
	}
}
