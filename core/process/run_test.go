package process

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

func TestWhatBeginsTheExit(t *testing.T) {
	failure := errors.New("port is taken")
	served := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	tests := []struct {
		name  string
		start func(context.Context) error
		begin func(tr *trial, cancel context.CancelFunc)
		cause error // nil: a *SignalError
		code  int
		line  []string
	}{
		{"a signal", served, func(tr *trial, _ context.CancelFunc) { tr.signals <- os.Interrupt }, nil, 0, []string{"exit begins", "signal: interrupt"}},
		{"a signal, without Start", nil, func(tr *trial, _ context.CancelFunc) { tr.signals <- os.Interrupt }, nil, 0, []string{"level=INFO msg=exit code=0"}},
		{"the context", served, func(_ *trial, cancel context.CancelFunc) { cancel() }, context.Canceled, 0, []string{"exit begins", "context canceled"}},
		{"Start returns nil", func(context.Context) error { return nil }, nil, ErrStartReturned, 0, []string{"exit begins", "Start returned"}},
		{"Start fails", func(context.Context) error { return failure }, nil, failure, 1, []string{"level=ERROR", "step failed", "step=Start", "port is taken"}},
		{"Start panics", func(context.Context) error { panic(failure) }, nil, failure, 1, []string{"step=Start", "port is taken", "stack="}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := newCalls()
				tr := launch(t, ctx, Plan{Start: tt.start, Steps: []Step{c.step("one"), c.step("two")}})
				if tt.begin != nil {
					if tr.isEnded() {
						t.Fatalf("Run returned %+v, want it to wait", tr.report)
					}
					tt.begin(tr, cancel)
				}
				tr.wantCode(tt.code)
				c.want(t, "one@0s", "two@0s")
				tr.wantLine(tt.line...)
				var sig *SignalError
				if tt.cause == nil && (!errors.As(tr.report.Cause, &sig) || sig.Signal != os.Interrupt) {
					t.Errorf("Cause is %v, want a *SignalError", tr.report.Cause)
				}
				if tt.cause != nil && !errors.Is(tr.report.Cause, tt.cause) {
					t.Errorf("Cause is %v, want %v", tr.report.Cause, tt.cause)
				}
			})
		})
	}
}

func TestStartIsNotCalledWhenTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := newCalls()
		tr := launch(t, ctx, Plan{Start: func(context.Context) error { c.note("Start"); return nil }, Steps: []Step{c.step("one")}})
		tr.wantCode(0)
		c.want(t, "one@0s")
		if tr.report.Start.Outcome != NotBegun {
			t.Errorf("Start is %v, want not begun", tr.report.Start.Outcome)
		}
	})
}

// kubernetes #86280: the program goes on serving while the load balancer learns.
func TestPreDrainServesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		tr := launch(t, t.Context(), Plan{
			Start:    func(ctx context.Context) error { <-ctx.Done(); c.note("Start ends"); return ctx.Err() },
			NotReady: func() { c.note("not ready"); time.Sleep(time.Second) },
			PreDrain: 5 * time.Second,
			Steps: []Step{{Name: "one", Run: func(context.Context) error {
				synctest.Wait()
				c.note("one")
				return nil
			}}},
		})
		time.Sleep(time.Minute)
		tr.signals <- os.Interrupt
		tr.wantCode(0)
		c.want(t, "not ready@1m0s", "Start ends@1m6s", "one@1m6s")
		coretest.Want(t, "Elapsed, from the begin of the exit", tr.report.Elapsed, 6*time.Second)
	})
}

func TestHardDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := newCalls()
		tr := launch(t, t.Context(), Plan{
			Deadline: 10 * time.Second,
			PreDrain: time.Second,
			Steps: []Step{
				{Name: "stuck", Deadline: time.Hour, Run: func(ctx context.Context) error {
					<-ctx.Done()
					c.note(context.Cause(ctx).Error())
					<-gate
					return nil
				}},
				c.step("late"),
			},
		})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantTook(10 * time.Second)
		synctest.Wait() // Run does not wait for the step
		c.want(t, ErrDeadline.Error()+"@10s")
		tr.wantLine("level=ERROR", "still running", "step=stuck", "elapsed=9s")
		tr.wantLine("msg=exit", "code=1", "still_running=[stuck]", "not_begun=[late]", ErrDeadline.Error())
		if tr.report.Ended != ErrDeadline {
			t.Errorf("Ended is %v, want ErrDeadline", tr.report.Ended)
		}
		if s := tr.report.Steps[0]; s.DeadlinePassed {
			t.Errorf("the stuck step: %+v, want its own deadline not passed", s)
		}
		close(gate)
	})
}

func TestDefaultDeadlineIsUnderThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "stuck", Deadline: time.Hour, Run: until(gate)}}})
		tr.signals <- os.Interrupt
		tr.wantTook(25 * time.Second)
		close(gate)
	})
}

// oklog/run #19: the second signal must not be swallowed, whatever hangs.
func TestSecondSignalForces(t *testing.T) {
	gate := func(x chan struct{}) Step { return Step{Name: "stuck", Run: until(x)} }
	tests := []struct {
		name    string
		plan    func(x chan struct{}) Plan
		running string
	}{
		{"in NotReady", func(x chan struct{}) Plan { return Plan{NotReady: func() { <-x }} }, "NotReady"},
		{"in the pre-drain delay", func(chan struct{}) Plan { return Plan{PreDrain: 10 * time.Second} }, ""},
		{"in a step", func(x chan struct{}) Plan { return Plan{Steps: []Step{gate(x)}} }, "stuck"},
		{"while Start is waited for", func(x chan struct{}) Plan { return Plan{Start: until(x)} }, "Start"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stuck := make(chan struct{})
				c := newCalls()
				plan := tt.plan(stuck)
				plan.Steps = append(plan.Steps, c.step("last"))
				if tt.running == "Start" {
					plan.Steps = nil
				}
				tr := launch(t, t.Context(), plan)
				tr.signals <- os.Interrupt
				time.Sleep(2 * time.Second)
				tr.signals <- os.Kill // any signal with another number
				tr.wantCode(128 + signalNumber(os.Kill))
				tr.wantTook(2 * time.Second)
				c.want(t)
				var second *SignalError
				if !errors.As(tr.report.Ended, &second) || !second.Second || second.Signal != os.Kill {
					t.Errorf("Ended is %v, want the second signal", tr.report.Ended)
				}
				tr.wantLine("level=ERROR", "msg=exit", "second signal: killed")
				if tt.running != "" {
					tr.wantLine("still running", "step="+tt.running)
				}
				close(stuck)
			})
		})
	}
}

func TestFirstSignalAfterAnotherCauseDoesNotForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gate := make(chan struct{})
		tr := launch(t, ctx, Plan{Steps: []Step{{Name: "slow", Run: until(gate)}}})
		cancel()
		synctest.Wait()
		tr.signals <- os.Interrupt
		if tr.isEnded() {
			t.Fatalf("the first signal ended the exit: %+v", tr.report)
		}
		close(gate)
		tr.wantCode(0)
		tr.wantLine("signal during the exit; the next one forces it", "interrupt")
	})
}

// One comes in Start, one in NotReady.
func TestSignalsBeforeTheFirstStepAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		signals, gate := make(chan os.Signal, 2), make(chan struct{})
		tr := launchOn(t, signals, t.Context(), Plan{
			Start:    func(ctx context.Context) error { signals <- os.Interrupt; <-ctx.Done(); return ctx.Err() },
			NotReady: func() { signals <- os.Interrupt; <-gate },
			Steps:    []Step{c.step("one")},
		})
		tr.wantCode(128 + signalNumber(os.Interrupt))
		c.want(t)
		close(gate)
	})
}

func TestSignalBeforeStartIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		signals := make(chan os.Signal, 2)
		signals <- os.Interrupt
		tr := launchOn(t, signals, t.Context(), Plan{
			Start: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			Steps: []Step{c.step("one")},
		})
		tr.wantCode(0)
		c.want(t, "one@0s")
	})
}

func TestStartThatDoesNotEndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		tr := launch(t, t.Context(), Plan{Start: until(gate)})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantTook(DefaultStepDeadline + heedTime)
		tr.wantLine("msg=exit", "still_running=[Start]")
		close(gate)
	})
}

// Ended is nil only if the steps were gone through and Start has returned.
func TestEndedSaysWhatWasCutShort(t *testing.T) {
	heeds := func(late time.Duration) func(context.Context) error {
		return func(ctx context.Context) error { <-ctx.Done(); time.Sleep(late); return nil }
	}
	slow := []Step{{Name: "slow", Deadline: time.Minute, Run: func(context.Context) error { time.Sleep(24 * time.Second); return nil }}}
	hangs := func(gate chan struct{}) []Step { return []Step{{Name: "stuck", Run: until(gate)}} }
	tests := []struct {
		name  string
		plan  func(gate chan struct{}) Plan
		start Outcome
		want  error
		code  int
	}{
		{"nothing", func(chan struct{}) Plan { return Plan{Start: heeds(0)} }, Done, nil, CodeClean},
		{"nothing, without Start", func(chan struct{}) Plan { return Plan{} }, NotBegun, nil, CodeClean},
		{"Start is in time", func(chan struct{}) Plan { return Plan{Start: heeds(DefaultStepDeadline - 1)} }, Done, nil, CodeClean},
		{"Start is late, and returns", func(chan struct{}) Plan { return Plan{Start: heeds(DefaultStepDeadline + 1)} }, Done, nil, CodeFailed},
		{"Start does not return", func(gate chan struct{}) Plan { return Plan{Start: until(gate)} }, StillRunning, ErrStepDeadline, CodeFailed},
		{"a step does not return", func(gate chan struct{}) Plan { return Plan{Steps: hangs(gate)} }, NotBegun, nil, CodeFailed},
		{"neither does", func(gate chan struct{}) Plan { return Plan{Start: until(gate), Steps: hangs(gate)} }, StillRunning, ErrStepDeadline, CodeFailed},
		{"the deadline of the exit comes first", func(gate chan struct{}) Plan { return Plan{Start: until(gate), Steps: slow} }, StillRunning, ErrDeadline, CodeFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				defer close(gate)
				tr := launch(t, t.Context(), tt.plan(gate))
				tr.signals <- os.Interrupt
				r := tr.wait()
				coretest.Want(t, "outcome of the start", r.Start.Outcome, tt.start)
				coretest.Want(t, "cause of the exit", r.Ended, tt.want)
				coretest.Want(t, "exit code", r.Code, tt.code)
				if tt.want != nil {
					tr.wantLine("msg=exit", "still_running=", "Start", tt.want.Error())
				}
			})
		})
	}
}

func TestStartThatFailsDuringTheExitCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{Start: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("could not save")
		}})
		tr.signals <- os.Interrupt
		tr.wantCode(1)
		tr.wantLine("step failed", "step=Start", "could not save")
	})
}

// heldSignal is a signal whose String returns when gate is closed.
type heldSignal struct{ gate chan struct{} }

func (heldSignal) Signal()          {}
func (s heldSignal) String() string { <-s.gate; return "held" }

// TestSignalAtTheEndOfTheExitIsLogged: Run does not return before it has handled the signals that it has received.
func TestSignalAtTheEndOfTheExitIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gate := make(chan struct{})
		tr := launch(t, ctx, Plan{Steps: []Step{{Name: "slow", Run: until(gate)}}})
		cancel()
		sig := heldSignal{make(chan struct{})}
		tr.signals <- sig
		synctest.Wait()
		close(gate)
		coretest.Want(t, "Run has returned", tr.isEnded(), false)
		close(sig.gate)
		tr.wantCode(CodeClean)
		tr.wantLine("signal during the exit; the next one forces it", "signal=held")
	})
}
