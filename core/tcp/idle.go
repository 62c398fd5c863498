package tcp

import (
	"errors"
	"fmt"
	"time"

	"eventide/core"
)

// IdleKind says what has not happened for a while.
type IdleKind uint8

const (
	// ReadIdle: nothing was read.
	ReadIdle IdleKind = iota
	// WriteIdle: the kernel has taken no bytes. Either nothing was written, or the peer does
	// not read: Channel.PendingBytes tells which.
	WriteIdle
	// AllIdle: neither.
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

// IdleHandler is a Handler that wants to be called when its channel is idle: to send a
// heartbeat, or to close the channel in its own way. The channel of another handler is closed
// with an *IdleError.
type IdleHandler interface {
	Handler

	// Idle is called when the timeout of kind has passed, and again each time it passes
	// once more without activity.
	Idle(ch *Channel, kind IdleKind)
}

// ErrIdle is why a channel was closed whose handler is no IdleHandler. It is an *IdleError.
var ErrIdle = errors.New("tcp: channel is idle")

// IdleError is ErrIdle, and which timeout has passed.
type IdleError struct {
	Kind  IdleKind
	After time.Duration // the timeout
}

func (e *IdleError) Error() string { return fmt.Sprintf("%v: %v for %v", ErrIdle, e.Kind, e.After) }

// Unwrap returns ErrIdle.
func (e *IdleError) Unwrap() error { return ErrIdle }

// Timeout returns true, as of a net.Error.
func (e *IdleError) Timeout() bool { return true }

// WithIdleTimeouts sets how long a channel may be without activity of each IdleKind, on the
// clock of its loop; 0, the default, is for ever. When a timeout has passed the handler's
// Idle is called, if it is an IdleHandler; otherwise Handler.Error is called with an
// *IdleError and the channel is closed.
//
// The timeouts read and all pass only while a request is waited for: their time begins again
// when the last hold is released (Channel.Hold), and when paused input goes on. None passes
// after a close has begun, which has a deadline of its own.
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

// idleWatch is the activity of a channel with idle timeouts. Loop only.
type idleWatch struct {
	read, written time.Time      // the last time
	began         [3]time.Time   // the time of this kind begins here, if that is later
	timers        [3]*core.Timer // nil: the kind has no timeout
}

// idleWatch returns nil if the channel has no idle timeouts, or is at its end. Loop only.
func (c *Channel) idleWatch() *idleWatch {
	if c.edge == nil {
		return nil
	}
	return c.edge.idle
}

// watchIdle begins to watch an active channel, if the options say so. Loop only.
func (c *Channel) watchIdle() {
	if !c.cfg.hasIdleTimeouts() {
		return
	}
	now := c.loop.Now()
	w := &idleWatch{read: now, written: now}
	c.atEdge().idle = w
	for kind, timeout := range c.cfg.idle {
		if timeout > 0 {
			w.arm(c, IdleKind(kind), timeout)
		}
	}
}

// arm sets the timer of kind. A loop that refuses it is about to end the channel.
func (w *idleWatch) arm(c *Channel, kind IdleKind, d time.Duration) {
	w.timers[kind], _ = c.loop.Schedule(d, func() { c.idlePassed(kind) })
}

// stop cancels the timers: so that none keeps a shutdown that runs timers, or the channel in
// memory.
func (w *idleWatch) stop() {
	for _, t := range w.timers {
		if t != nil {
			t.Cancel()
		}
	}
}

// idlePassed is called when a timer has gone off. Activity does not move timers: most of
// them find some, and are set again for the rest of the time. Loop only.
func (c *Channel) idlePassed(kind IdleKind) {
	w := c.idleWatch()
	if w == nil || c.state != stateOpen || c.broken != nil {
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

// last returns the begin of the time without activity.
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

// expectInput restarts the time of kind at the moment it became the peer's turn: at the last
// release, or now if it is not the peer's turn.
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

// inputWaits restarts the times without input. Loop only.
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
