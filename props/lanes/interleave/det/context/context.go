// Package context is the look-alike of context. Contexts are the real ones; to end
// one, and to ask whether it has ended, is a scheduling point, and whoever waits
// for Done hears of it.
package context

import (
	real "context"
	"time"

	"eventide/props/lanes/interleave/det"
	dtime "eventide/props/lanes/interleave/det/time"
)

// What has nothing to do with scheduling is context's own.
type (
	Context         = real.Context
	CancelFunc      = real.CancelFunc
	CancelCauseFunc = real.CancelCauseFunc
)

// The errors of context.
var (
	Canceled         = real.Canceled
	DeadlineExceeded = real.DeadlineExceeded
)

// Background is context.Background.
func Background() Context { return real.Background() }

// TODO is context.TODO.
func TODO() Context { return real.TODO() }

// WithValue is context.WithValue.
func WithValue(parent Context, key, v any) Context { return real.WithValue(parent, key, v) }

// Cause is context.Cause.
func Cause(c Context) error {
	if x, ok := c.(*scheduled); ok {
		det.Enter(&x.o, det.OpLoad)
		det.Did(&x.o, det.OpLoad, false, 0)
	}
	return real.Cause(c)
}

// scheduled is a context that can end.
type scheduled struct {
	real.Context
	o        det.Obj
	cancel   real.CancelCauseFunc
	children []*scheduled
	ended    error // what Err says, if it is not Canceled
	deadline time.Time
}

// WithCancelCause is context.WithCancelCause.
func WithCancelCause(parent Context) (Context, CancelCauseFunc) {
	x := derive(parent)
	return x, x.end
}

// WithCancel is context.WithCancel.
func WithCancel(parent Context) (Context, CancelFunc) {
	x := derive(parent)
	return x, func() { x.end(nil) }
}

// WithTimeout is context.WithTimeout.
func WithTimeout(parent Context, d time.Duration) (Context, CancelFunc) {
	x := derive(parent)
	x.deadline = det.QuietNow().Add(d)
	if !det.Active() {
		panic("det: a context with a timeout outside of a run")
	}
	if d <= 0 {
		x.expire()
		return x, func() { x.end(nil) }
	}
	t := dtime.AfterFunc(d, x.expire)
	return x, func() {
		t.Stop()
		x.end(nil)
	}
}

// WithDeadline is context.WithDeadline.
func WithDeadline(parent Context, at time.Time) (Context, CancelFunc) {
	return WithTimeout(parent, at.Sub(det.QuietNow()))
}

func derive(parent Context) *scheduled {
	x := &scheduled{}
	x.Context, x.cancel = real.WithCancelCause(parent)
	if p, ok := parent.(*scheduled); ok {
		p.children = append(p.children, x)
	}
	return x
}

func (x *scheduled) expire() {
	if x.Context.Err() == nil {
		x.ended = DeadlineExceeded
	}
	x.end(DeadlineExceeded)
}

// end is the cancel function.
func (x *scheduled) end(cause error) {
	if !det.Active() {
		x.cancel(cause)
		return
	}
	det.Enter(&x.o, det.OpCancel)
	first := x.Context.Err() == nil
	x.cancel(cause)
	det.Did(&x.o, det.OpCancel, first, 0)
	if first {
		x.tell()
	}
}

func (x *scheduled) tell() {
	det.Closed(x.Context.Done())
	for _, child := range x.children {
		det.Did(&child.o, det.OpCancel, true, 0)
		child.tell()
	}
}

// Err implements Context.
func (x *scheduled) Err() error {
	det.Enter(&x.o, det.OpLoad)
	err := x.Context.Err()
	det.Did(&x.o, det.OpLoad, false, 0)
	if err != nil && x.ended != nil {
		return x.ended
	}
	return err
}

// Deadline implements Context.
func (x *scheduled) Deadline() (time.Time, bool) {
	if !x.deadline.IsZero() {
		return x.deadline, true
	}
	return x.Context.Deadline()
}
