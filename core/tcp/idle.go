package tcp

import (
	"errors"
	"fmt"
	"time"

	"eventide/core"
)

// IdleKind is a kind of inactivity.
type IdleKind uint8

const (
	// ReadIdle: nothing was read.
	ReadIdle IdleKind = iota
	// WriteIdle: the kernel took no bytes. Either nothing was written, or the peer does
	// not read; in the second case Channel.PendingBytes is not 0.
	WriteIdle
	// AllIdle: nothing was read, and the kernel took no bytes.
	AllIdle
)

func (k IdleKind) String() string {
	switch k {
	case ReadIdle:
		return "nothing was read"
	case WriteIdle:
		return "nothing was sent"
	case AllIdle:
		return "nothing was read or sent"
	}
	return fmt.Sprintf("IdleKind(%d)", uint8(k))
}

// IdleHandler is a Handler that is called when its channel is idle: to send a
// heartbeat, or to close the channel in its own way. A channel whose handler is not an
// IdleHandler is closed with an *IdleError.
type IdleHandler interface {
	Handler

	// Idle is called when the timeout of kind has passed without activity, and again after
	// each further timeout without activity.
	Idle(ch *Channel, kind IdleKind)
}

// ErrIdle matches the *IdleError of a channel that an idle timeout has closed.
var ErrIdle = errors.New("tcp: channel is idle")

// IdleError is the error of a channel that an idle timeout has closed.
type IdleError struct {
	Kind  IdleKind
	After time.Duration // the timeout
}

func (e *IdleError) Error() string { return fmt.Sprintf("%v: %v for %v", ErrIdle, e.Kind, e.After) }

// Unwrap returns ErrIdle.
func (e *IdleError) Unwrap() error { return ErrIdle }

// Timeout returns true, as that of a net.Error.
func (e *IdleError) Timeout() bool { return true }

// WithIdleTimeouts sets how long a channel may be without activity of each IdleKind, by the
// clock of its loop. 0, the default, means no timeout. When a timeout has passed, the
// channel calls IdleHandler.Idle if its handler has that method; otherwise it calls
// Handler.Error with an *IdleError and closes.
//
// The timeouts read and all bound the wait for the peer's next request. So their time restarts
// at the last release (Channel.Hold), and when paused input resumes. No idle
// timeout passes after a graceful close has begun; that close has a deadline of its own.
func WithIdleTimeouts(read, write, all time.Duration) Option {
	return func(c *config) error {
		if read < 0 || write < 0 || all < 0 {
			return argumentError("WithIdleTimeouts", "read is %v, write is %v and all is %v, want 0 or more", read, write, all)
		}
		c.idle = [3]time.Duration{ReadIdle: read, WriteIdle: write, AllIdle: all}
		return nil
	}
}

func (c *config) hasIdleTimeouts() bool { return c.idle != [3]time.Duration{} }

// idleWatch records the activity of a channel with idle timeouts. Loop only.
type idleWatch struct {
	read, written time.Time      // of the last read, and of the last bytes that the kernel took
	began         [3]time.Time   // by kind: the idle time does not begin earlier
	timers        [3]*core.Timer // nil: the kind has no timeout
}

// idleWatch returns the watch, or nil if the channel has no idle timeouts or is not active.
// Loop only.
func (c *Channel) idleWatch() *idleWatch {
	if c.rare == nil {
		return nil
	}
	return c.rare.idle
}

// watchIdle sets the idle timers of an active channel, if it has timeouts. Loop only.
func (c *Channel) watchIdle() {
	if !c.cfg.hasIdleTimeouts() {
		return
	}
	now := c.loop.Now()
	w := &idleWatch{read: now, written: now}
	c.rareState().idle = w
	for kind, timeout := range c.cfg.idle {
		if timeout > 0 {
			w.arm(c, IdleKind(kind), timeout)
		}
	}
}

// arm sets the timer of kind. If the loop refuses the timer, a shutdown is about to end the
// channel.
func (w *idleWatch) arm(c *Channel, kind IdleKind, d time.Duration) {
	w.timers[kind], _ = c.loop.Schedule(d, func() { c.idlePassed(kind) })
}

// stop cancels the timers. A timer that is left would delay a shutdown that runs timers, and
// keep the channel in memory.
func (w *idleWatch) stop() {
	for _, t := range w.timers {
		if t != nil {
			t.Cancel()
		}
	}
}

// idlePassed runs when a timer fires. Activity does not move timers: if there was some, the
// timer is set for the remaining time. Loop only.
func (c *Channel) idlePassed(kind IdleKind) {
	w := c.idleWatch()
	if c.state != stateOpen || c.broken != nil {
		return
	}
	now, timeout := c.loop.Now(), c.cfg.idle[kind]
	if kind != WriteIdle {
		w.expectInput(c, kind, now)
	}
	if left := timeout - now.Sub(w.last(kind)); left > 0 {
		w.arm(c, kind, left)
		return
	}
	w.began[kind] = now
	w.arm(c, kind, timeout)
	if h, ok := c.handler.(IdleHandler); ok {
		c.call(func() { h.Idle(c, kind) })
		return
	}
	c.fail(&IdleError{kind, timeout})
}

// last returns when the current time without activity began.
func (w *idleWatch) last(kind IdleKind) time.Time {
	last := w.began[kind]
	if kind != WriteIdle && w.read.After(last) {
		last = w.read
	}
	if kind != ReadIdle && w.written.After(last) {
		last = w.written
	}
	return last
}

// expectInput moves the begin of the idle time to the last release; or to now while the
// channel is held or its input is paused, because then the peer owes no input.
func (w *idleWatch) expectInput(c *Channel, kind IdleKind, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.wantsInput() || c.held() {
		w.began[kind] = now
		return
	}
	if o := c.observers; o != nil && o.holds.ended.After(w.began[kind]) {
		w.began[kind] = o.holds.ended
	}
}

// inputWaits restarts the idle times of input. Loop only.
func (c *Channel) inputWaits() {
	if w := c.idleWatch(); w != nil {
		w.began[ReadIdle] = c.loop.Now()
		w.began[AllIdle] = w.began[ReadIdle]
	}
}

// hasRead records a read. Loop only.
func (c *Channel) hasRead() {
	if w := c.idleWatch(); w != nil {
		w.read = c.loop.Now()
	}
}

// hasWritten records that the kernel has taken bytes. Loop only.
func (c *Channel) hasWritten() {
	if w := c.idleWatch(); w != nil {
		w.written = c.loop.Now()
	}
}
