package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A Start that fails ends a program that was never ready, or is no longer: the
// failure is an error in the log before anything else happens, and nobody waits for the load
// balancer.
func TestStartThatFailsSkipsPreDrain(t *testing.T) {
	taken := errors.New("port is taken")
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		tr := launch(t, t.Context(), Plan{
			Start:    func(context.Context) error { return taken },
			NotReady: func() { c.note("not ready") },
			PreDrain: 5 * time.Second,
			Steps:    []Step{c.step("one")},
		})
		tr.wantCode(CodeFailed)
		c.want(t, "not ready@0s", "one@0s")
		tr.wantLine("level=ERROR", "step failed", "step=Start", "port is taken")
		tr.wantLine("level=WARN", "PreDrain is skipped")
		log := tr.log.String()
		if strings.Contains(strings.SplitN(log, "\n", 2)[0], "level=INFO") {
			t.Errorf("the first line of a failed Start is no error:\n%s", log)
		}
		if n := strings.Count(log, "step=Start"); n != 1 {
			t.Errorf("%d lines are about Start, want 1:\n%s", n, log)
		}
		if tr.report.Cause != taken || tr.report.Start.Outcome != Failed {
			t.Errorf("the report is %+v, want Start failed, and its error as the cause", tr.report)
		}
	})
}

// A Start that fails while PreDrain passes is in the log at once, not after the steps.
func TestStartThatFailsInPreDrainIsLoggedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := make(chan struct{})
		tr := launch(t, t.Context(), Plan{
			Start:    func(context.Context) error { <-fail; return errors.New("accept: too many open files") },
			PreDrain: 5 * time.Second,
		})
		tr.signals <- os.Interrupt
		time.Sleep(time.Second)
		close(fail)
		synctest.Wait()
		wantLine(t, tr.log.String(), "level=ERROR", "step=Start", "too many open files")
		tr.wantCode(CodeFailed)
		tr.wantTook(5 * time.Second)
	})
}

// A Start that returns nil begins a clean exit: its work is done. The program may go on
// to serve, so PreDrain passes.
func TestStartThatReturnsNilIsACleanExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		tr := launch(t, t.Context(), Plan{
			Start:    func(context.Context) error { return nil },
			PreDrain: time.Second,
			Steps:    []Step{c.step("one")},
		})
		tr.wantCode(CodeClean)
		c.want(t, "one@1s")
		if tr.report.Cause != ErrStartReturned || tr.report.Ended != nil {
			t.Errorf("the report is %+v, want ErrStartReturned as the cause, and Ended nil", tr.report)
		}
	})
}

// A Start that returns the end of its context has not failed; one that joins a failure of
// its own to it has.
func TestStartThatReturnsTheEndOfItsContext(t *testing.T) {
	failure := errors.New("could not save")
	tests := []struct {
		name string
		err  func(ctx context.Context) error
		code int
	}{
		{"Err", func(ctx context.Context) error { return ctx.Err() }, CodeClean},
		{"the cause", context.Cause, CodeClean},
		{"wrapped", func(ctx context.Context) error { return fmt.Errorf("serve: %w", ctx.Err()) }, CodeClean},
		{"joined with the cause", func(ctx context.Context) error { return errors.Join(ctx.Err(), context.Cause(ctx)) }, CodeClean},
		{"joined with a failure", func(ctx context.Context) error { return errors.Join(ctx.Err(), failure) }, CodeFailed},
		{"a failure before it", func(ctx context.Context) error { return errors.Join(failure, ctx.Err()) }, CodeFailed},
		{"a failure joined, wrapped", func(ctx context.Context) error {
			return fmt.Errorf("serve: %w", errors.Join(ctx.Err(), failure))
		}, CodeFailed},
		{"a failure beside it", func(ctx context.Context) error { return fmt.Errorf("%w: %w", failure, ctx.Err()) }, CodeFailed},
		{"a failure", func(context.Context) error { return failure }, CodeFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := launch(t, t.Context(), Plan{Start: func(ctx context.Context) error { <-ctx.Done(); return tt.err(ctx) }})
				tr.signals <- os.Interrupt
				tr.wantCode(tt.code)
				if tt.code == CodeFailed {
					tr.wantLine("level=ERROR", "step failed", "step=Start", "could not save")
				}
			})
		})
	}
}

// hollow is an error that joins nothing but nil.
type hollow struct{}

func (hollow) Error() string   { return "hollow" }
func (hollow) Unwrap() []error { return []error{nil} }

// TestStartThatFailsWithAHollowError: while the context of Start has not ended, every error is a failure, also one that joins
// nothing but nil.
func TestStartThatFailsWithAHollowError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{Start: func(context.Context) error { return hollow{} }})
		tr.wantCode(CodeFailed)
		tr.wantLine("level=ERROR", "step failed", "step=Start", "hollow")
	})
}
