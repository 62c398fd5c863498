package process

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"
	"time"

	"eventide/core"
)

// attempt is one call of the user's code: NotReady, Start, or a step. It runs on a
// goroutine of its own, so that a call that never returns does not block the exit. Its
// goroutine is then left behind, because the process is about to end.
type attempt struct {
	// Set once.
	began time.Time
	over  chan struct{}

	// Final once over is closed.
	err   error
	ended time.Time

	// The goroutine of Run only.
	late   bool // it had not ended at its own deadline
	logged bool // its result has been logged
}

// begin starts an attempt. Its time counts from began, the instant from which the caller
// computed its deadline.
func begin(ctx context.Context, began time.Time, run func(context.Context) error) *attempt {
	a := &attempt{began: began, over: make(chan struct{})}
	go a.run(ctx, run)
	return a
}

// run turns a panic into a *core.PanicError. If the call neither returns nor panics, it
// called runtime.Goexit, and the error is core.ErrGoexit.
func (a *attempt) run(ctx context.Context, run func(context.Context) error) {
	defer close(a.over)
	defer func() {
		a.ended = time.Now()
		if v := recover(); v != nil {
			a.err = &core.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	a.err = core.ErrGoexit
	a.err = run(ctx)
}

func (a *attempt) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// wait returns when the attempt is over or ctx has ended. If ctx has ended and whole has
// not, wait gives the user's code heedTime to return.
func (a *attempt) wait(ctx, whole context.Context) {
	select {
	case <-a.over:
	case <-ctx.Done():
		select {
		case <-a.over:
		case <-whole.Done():
		case <-time.After(heedTimeWithin(whole)):
		}
	}
	a.late = context.Cause(ctx) == ErrStepDeadline && !a.endedBefore(ctx)
}

// heedTimeWithin returns heedTime, but at most half of the time that remains: the other
// half is for the next step.
func heedTimeWithin(whole context.Context) time.Duration {
	if deadline, ok := whole.Deadline(); ok {
		return min(heedTime, time.Until(deadline)/2)
	}
	return heedTime
}

// endedBefore reports whether the attempt ended before the deadline of ctx. It compares the
// recorded times: when both have ended by now, ctx.Err says nothing about their order.
func (a *attempt) endedBefore(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && a.isOver() && a.ended.Before(deadline)
}

// inTime reports whether the exit stopped waiting for the attempt before the deadline of
// whole: because the attempt had ended, was left behind at its own deadline, or was never
// begun.
func (a *attempt) inTime(whole context.Context) bool {
	return a == nil || a.late || a.endedBefore(whole)
}

// report returns the state of the attempt at now. A nil attempt was not begun.
func (a *attempt) report(name string, now time.Time) StepReport {
	r := StepReport{Name: name}
	if a == nil {
		return r
	}
	r.DeadlinePassed = a.late
	switch {
	case !a.isOver():
		r.Outcome, r.Elapsed = StillRunning, now.Sub(a.began)
		return r
	case a.err != nil:
		r.Outcome, r.Err = Failed, a.err
	default:
		r.Outcome = Done
	}
	r.Elapsed = a.ended.Sub(a.began)
	return r
}

// withoutCause wraps start. The wrapper returns nil if ctx has ended and start returns
// ctx.Err or the cause of ctx, wrapped or not.
func withoutCause(start func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := start(ctx)
		if ctx.Err() != nil && isOnly(err, ctx.Err(), context.Cause(ctx)) {
			return nil
		}
		return err
	}
}

// isOnly reports whether every error that err wraps or joins is one of reasons. The
// tempting errors.Is is wrong: it is also true for a reason that is joined with a failure.
//
// A reason may wrap another error, so err is compared before it is unwrapped.
func isOnly(err error, reasons ...error) bool {
	for _, reason := range reasons {
		if t := reflect.TypeOf(reason); t != nil && t.Comparable() && err == reason {
			return true
		}
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
		for _, e := range joined.Unwrap() {
			if !isOnly(e, reasons...) {
				return false
			}
		}
		return true
	}
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return isOnly(wrapped, reasons...)
	}
	for _, reason := range reasons {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
