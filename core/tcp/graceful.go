package tcp

import (
	"io"
	"time"

	"eventide/core"
)

// CloseGracefully ends the channel without losing what was written: it refuses
// writes with ErrChannelClosing, hears no more input, sends what is in the buffer,
// whether flushed or not, shuts down the output, reads and discards until the peer
// has ended its side, waits until the peer's kernel has acknowledged everything,
// and closes. A peer that does not end its side, or does not read, holds it up: if
// deadline passes before, the channel is closed with ErrCloseDeadline. The zero
// deadline is none. A shutdown of the loop has a deadline too; the earlier one counts.
//
// The future completes when the socket is closed: with nil if all of this has
// happened, else with the reason. A second call returns the same future; it may
// bring the deadline forward, and never back. Close ends it at once.
//
// From another goroutine writes of others are refused from the return of the call
// on, those of the loop itself from when the loop begins the close: what it has been
// given to read by then it can still answer.
func (c *Channel) CloseGracefully(deadline time.Time) *core.Future[struct{}] {
	c.mu.Lock()
	p, closed := c.promise(&c.observe().graceful), c.state == stateClosed
	var err error
	if closed {
		err = c.graceError()
	} else {
		c.closing = true
		if !c.held() {
			c.writable.Store(false)
		}
	}
	c.mu.Unlock()
	if closed {
		settle(p, err)
	} else {
		c.onLoop(func() { c.closeGracefully(deadline) })
	}
	return p.Future()
}

// graceError is how a graceful close ended. Requires mu, and a closed channel.
func (c *Channel) graceError() error {
	switch {
	case c.clean:
		return nil
	case c.failure != nil:
		return c.failure
	}
	return ErrChannelClosed
}

func (c *Channel) closeGracefully(deadline time.Time) {
	c.drain(nil)
	if c.state != stateDraining || deadline.IsZero() {
		return
	}
	if t := c.atEdge(); t.grace == nil || deadline.Before(t.until) {
		t.until = deadline
		c.setGrace()
	}
}

// setGrace sets the timer of the graceful close, anew if there is one. Loop only.
func (c *Channel) setGrace() {
	t := c.atEdge()
	if t.grace != nil {
		t.grace.Stop()
	}
	t.grace = time.AfterFunc(time.Until(t.until), func() { c.reg.Post(c.graceIsOver) })
}

// graceIsOver may come early: from a timer that was superseded, or if the clock was set
// back and the deadline has no monotonic reading. Loop only.
func (c *Channel) graceIsOver() {
	switch {
	case c.state != stateDraining || c.broken != nil: // closed, or about to be, by fail
	case time.Now().Before(c.atEdge().until):
		c.setGrace()
	default:
		c.closeNow(ErrCloseDeadline, false)
	}
}

// Drain is core.Channel's. The deadline is core's to keep: it calls Abort.
func (s *loopSide) Drain(core.Deadline) { (*Channel)(s).drain(core.ErrShutdown) }

// drain begins the graceful end; cause is what to name when it has succeeded. Loop
// only.
func (c *Channel) drain(cause error) {
	switch c.state {
	case stateConnecting:
		c.closeNow(cause, false)
		return
	case stateOpen:
	default:
		return
	}
	c.mu.Lock()
	c.state, c.closing, c.flushMark = stateDraining, true, c.written
	held := c.waitForRelease()
	if !held {
		c.writable.Store(false)
	}
	c.mu.Unlock()
	if w := c.idleWatch(); w != nil {
		w.stop()
	}
	c.finishing, c.atEdge().drainedFor = !held, cause
	// A peer that only writes must be read from now, or it never comes to read.
	c.inputReady = true
	c.flush()
	// Not c.read(): the caller may be the Read of another channel of this loop, whose
	// input is in the buffer that all of them share.
	c.reg.Post(c.read)
}

// endOutput shuts down the output once everything that was written is sent. Nothing more
// is accepted. Loop only.
func (c *Channel) endOutput() {
	c.mu.Lock()
	c.flushMark = c.written
	c.mu.Unlock()
	c.finishing = true
	c.flush()
}

// CloseOutput ends our side of the stream: writes are refused from now on with
// ErrOutputShutdown; what was written before is flushed, and then the output is
// shut down. (Netty's shutdownOutput drops it, R219.) Input goes on: with
// WithHalfClosure until the peer ends its side, which closes the channel.
//
// The future completes when the output is shut down, or with a *ClosedError. A
// second call returns the same future.
func (c *Channel) CloseOutput() *core.Future[struct{}] {
	c.mu.Lock()
	p, closed := c.promise(&c.observe().output), c.state == stateClosed
	var err error
	if closed {
		err = c.outputError()
	} else if c.state == stateOpen || c.held() {
		c.noOutput, c.flushMark = true, c.written
	}
	c.mu.Unlock()
	if closed {
		settle(p, err)
	} else {
		c.onLoop(c.closeOutput)
	}
	return p.Future()
}

func (c *Channel) closeOutput() {
	c.finishing = true
	c.flush()
	if c.outputShut { // by a graceful close, before anybody asked for this future
		c.settleOutput()
	}
}

// settleOutput completes the future of CloseOutput, if somebody has asked for it.
func (c *Channel) settleOutput() {
	c.mu.Lock()
	var p *core.Promise[struct{}]
	if c.observers != nil {
		p = c.observers.output
	}
	c.mu.Unlock()
	settle(p, nil)
}

// outputError is how CloseOutput ended. Requires mu, and a closed channel.
func (c *Channel) outputError() error {
	if c.clean || c.outputShut {
		return nil
	}
	return closedError(c.failure, c.closing)
}

// finishOutput does what is due when everything is flushed: it shuts down the
// output, if that is wanted, and closes the channel when both sides have ended.
// Loop only.
func (c *Channel) finishOutput() {
	if !c.finishing || c.broken != nil || c.state != stateOpen && c.state != stateDraining {
		return
	}
	c.mu.Lock()
	flushed := c.pending() == 0
	c.mu.Unlock()
	if flushed && !c.outputShut {
		if err := c.sysShutdownWrite(); err != nil {
			c.failSoon(err)
			return
		}
		c.outputShut = true
		c.settleOutput()
	}
	if !c.outputShut || !c.inputEnded {
		return
	}
	if c.state == stateOpen {
		c.drain(io.EOF) // both sides have ended: nobody can do anything with it
		return
	}
	if c.atEdge().acks == nil {
		c.awaitAcks()
	}
}
