package process

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"eventide/core"
)

// attempt is one call of the user's code: NotReady, Start, or a step. It has a
// goroutine of its own, so that one that never returns keeps nobody else from
// going on. Such a goroutine is left behind: the process is about to end.
type attempt struct {
	// Set once.
	began time.Time
	over  chan struct{}

	// Final once over is closed.
	err   error
	ended time.Time

	// The goroutine of Run only.
	late   bool // it had not ended at its own deadline
	logged bool // how it went
}

// begin counts the time of the attempt from began on, as who sets its deadline does.
func begin(ctx context.Context, began time.Time, run func(context.Context) error) *attempt {
	a := &attempt{began: began, over: make(chan struct{})}
	go a.run(ctx, run)
	return a
}

// run contains panics and runtime.Goexit, which is what it is if run neither
// returns nor panics.
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

// wait returns when the attempt is over, or when ctx has ended: a little later
// if only ctx has, and not whole, as the code needs a moment to heed it.
func (a *attempt) wait(ctx, whole context.Context) {
	select {
	case <-a.over:
	case <-ctx.Done():
		heed := time.NewTimer(heedTimeWithin(whole))
		defer heed.Stop()
		select {
		case <-a.over:
		case <-whole.Done():
		case <-heed.C:
		}
	}
	a.late = context.Cause(ctx) == ErrStepDeadline && !a.endedBefore(ctx)
}

// heedTimeWithin is heedTime, but of little time no more than half: the next step has
// its turn.
func heedTimeWithin(whole context.Context) time.Duration {
	if deadline, ok := whole.Deadline(); ok {
		return min(heedTime, time.Until(deadline)/2)
	}
	return heedTime
}

// endedBefore reports whether the attempt had ended before ctx was to. Both may be
// there to be seen at once: that ctx has ended by now says nothing about that.
func (a *attempt) endedBefore(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && a.isOver() && a.ended.Before(deadline)
}

// inTime reports whether the attempt did not wait for the deadline of whole: it had
// ended before, or was left behind before. Nor did one that was not made.
func (a *attempt) inTime(whole context.Context) bool {
	return a == nil || a.late || a.endedBefore(whole)
}

// report is what is known of the attempt at now. A nil one was not begun.
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

// unlessAsked is start, but to return why ctx has ended is no failure.
func unlessAsked(start func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := start(ctx)
		if ctx.Err() != nil && isOnly(err, ctx.Err(), context.Cause(ctx)) {
			return nil
		}
		return err
	}
}

// isOnly reports whether err is one of reasons, and nothing beside. errors.Is does not tell:
// it finds a reason that is joined with a failure.
func isOnly(err error, reasons ...error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
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
