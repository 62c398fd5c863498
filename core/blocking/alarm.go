package blocking

import (
	"context"
	"time"
)

// alarm is a pending call on another goroutine. It can be stopped, or waited for, so that no
// goroutine is left after the executor's end (G24).
type alarm struct {
	stop func() bool
	over chan struct{}
}

// whenEnded calls f when ctx has ended.
func whenEnded(ctx context.Context, f func()) alarm {
	over := make(chan struct{})
	return alarm{over: over, stop: context.AfterFunc(ctx, func() {
		defer close(over)
		f()
	})}
}

// whenPassed calls f after d.
func whenPassed(d time.Duration, f func()) alarm {
	over := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(over)
		f()
	})
	return alarm{over: over, stop: timer.Stop}
}

// end returns when f has run or will not run. It may be called once.
func (a alarm) end() {
	if a.stop != nil && !a.stop() {
		<-a.over
	}
}

// closeDeadline is the earliest deadline of the calls of CloseGracefully. Guarded by
// Channel.mu.
type closeDeadline struct {
	at     time.Time // zero: none
	alarms []alarm   // one for each time that at became earlier
}

// earlier reports whether at shortens the deadline, and makes it the deadline.
func (d *closeDeadline) earlier(at time.Time) bool {
	if at.IsZero() || !d.at.IsZero() && !at.Before(d.at) {
		return false
	}
	d.at = at
	return true
}
