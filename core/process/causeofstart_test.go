package process

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

// A Start that returns the cause of its context has not failed, also if that cause wraps another
// error, as a *PartError does.
func TestStartThatReturnsACauseThatWraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := fmt.Errorf("inner")
		returnsCause := func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("ended: %w", context.Cause(ctx))
		}
		tr := launch(t, t.Context(), Plan{Starts: []Part{
			{Name: "fails", Start: func(context.Context) error { return inner }}, {Name: "other", Start: returnsCause},
		}})
		if r := tr.wait(); r.Starts[1].Outcome != Done {
			t.Errorf("a part returned the cause of its context: %v, %v, want done", r.Starts[1].Outcome, r.Starts[1].Err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := launch(t, ctx, Plan{Start: returnsCause})
		cancel(fmt.Errorf("outer: %w", inner))
		cancelled.wantCode(CodeClean)
	})
}

// The exit has begun for the failure of one part when the last part ends: the cause is that failure, and not that of all parts.
func TestCauseOfTheFirstPartThatFails(t *testing.T) {
	over := make(chan struct{})
	close(over)
	for range 100 { // of two channels that are ready, select takes any
		first := &PartError{Part: "first", Err: fmt.Errorf("failed")}
		x := &exit{start: &attempt{over: over, err: errors.Join(first, fmt.Errorf("second"))}}
		x.begun, x.begin = context.WithCancelCause(t.Context())
		x.begin(first)
		if got := x.awaitCause(); got != first {
			t.Fatalf("the cause is %v, want %v", got, first)
		}
	}
}
