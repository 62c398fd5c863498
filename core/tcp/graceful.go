package tcp

import (
	"io"
	"time"

	"eventide/core"
)

// CloseGracefully closes the channel without losing written bytes. It refuses
// further writes with ErrChannelClosing, delivers no more input, sends the buffer, flushed
// or not, and shuts down the output. Then it reads and discards until the peer
// has ended its side, waits until the peer's kernel has acknowledged all bytes,
// and closes. A peer that does not read, or does not end its side, delays the close:
// if deadline passes first, the channel is closed with ErrCloseDeadline. The zero
// deadline means none. A shutdown of the loop has a deadline too; the earlier one applies.
//
// The future completes when the socket is closed: with nil if all steps have succeeded,
// else with the cause. A second call returns the same future; it may make the deadline
// earlier, but not later. Close ends the graceful close at once. If the channel closes for
// another reason before the loop begins the graceful close, for example for the end of the
// peer's stream, nil says only that this end has lost no bytes.
//
// Once a call from another goroutine has returned, writes of other goroutines are refused.
// Writes on the loop are refused only when the loop begins the close, so a handler can
// still answer the input it gets before that.
func (c *Channel) CloseGracefully(deadline time.Time) *core.Future[struct{}] {
	c.mu.Lock()
	p, state := c.promise(&c.observe().graceful), c.state
	var err error
	if state >= stateClosed {
		err = c.graceError()
	} else {
		c.closing = true
		if !c.held() {
			c.writable.Store(false)
		}
	}
	c.mu.Unlock()
	switch state {
	case stateAnnounced:
		completePromise(p, err)
	case stateClosed: // announceClose will complete p
	default:
		c.onLoop(func() { c.closeGracefully(deadline) })
	}
	return p.Future()
}

// graceError returns the error of CloseGracefully's future. The channel is closed.
// Requires mu.
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
	if t := c.rareState(); t.grace == nil || deadline.Before(t.until) {
		t.until = deadline
		c.setGraceTimer()
	}
}

// setGraceTimer sets the timer of the graceful close, and stops an earlier one. Loop only.
func (c *Channel) setGraceTimer() {
	t := c.rareState()
	if t.grace != nil {
		t.grace.Stop()
	}
	t.grace = time.AfterFunc(time.Until(t.until), func() { c.reg.Post(c.graceTimerFired) })
}

// graceTimerFired closes the channel if its deadline has passed. The call may be early: the
// timer was superseded, or the clock was set back and the deadline has no monotonic
// reading. Loop only.
func (c *Channel) graceTimerFired() {
	switch {
	case c.state != stateDraining || c.broken != nil: // closed, or fail is about to close it
	case time.Now().Before(c.rareState().until):
		c.setGraceTimer()
	default:
		c.closeNow(ErrCloseDeadline, false)
	}
}

// Drain implements core.Channel. core keeps the deadline: it calls Abort when it passes.
func (s *loopSide) Drain(core.Deadline) { (*Channel)(s).drain(core.ErrShutdown) }

// drain begins the graceful close. cause becomes the cause of the close if it succeeds.
// Loop only.
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
	c.rare.stopIdle()
	c.finishing, c.rareState().drainedFor = !held, cause
	c.flush()
	// Discard input from now on, also that of a pause: a peer that writes before it reads would
	// block otherwise. Not c.read(): the Read of another channel of this loop may be on the stack,
	// and its input lies in the buffer that all channels of the loop share.
	c.reg.Post(c.read)
}

// endOutput shuts down the output once all written bytes are sent. The caller has made
// sure that no more writes are accepted. Loop only.
func (c *Channel) endOutput() {
	c.mu.Lock()
	c.flushMark = c.written
	c.mu.Unlock()
	c.finishing = true
	c.flush()
}

// CloseOutput ends the local side of the stream: further writes are refused with
// ErrOutputShutdown; earlier writes are flushed, and then the output is
// shut down. (Netty's shutdownOutput drops them, R219.) Input is still delivered. When the
// peer ends its side too, the channel closes.
//
// The future completes when the output is shut down, or with a *ClosedError if the channel
// closes first. A second call returns the same future.
func (c *Channel) CloseOutput() *core.Future[struct{}] {
	c.mu.Lock()
	p, state := c.promise(&c.observe().output), c.state
	var err error
	if state == stateAnnounced {
		err = c.outputError()
	} else if state == stateOpen || c.held() {
		c.noOutput, c.flushMark = true, c.written
	}
	c.mu.Unlock()
	switch state {
	case stateAnnounced:
		completePromise(p, err)
	case stateClosed: // announceClose will complete p
	default:
		c.onLoop(c.closeOutput)
	}
	return p.Future()
}

func (c *Channel) closeOutput() {
	if c.outputShut { // a graceful close has shut it down before this future existed
		c.completeOutput()
		return
	}
	c.finishing = true
	c.flush()
}

// completeOutput completes the future of CloseOutput, if there is one.
func (c *Channel) completeOutput() {
	c.mu.Lock()
	var p *core.Promise[struct{}]
	if c.observers != nil {
		p = c.observers.output
	}
	c.mu.Unlock()
	completePromise(p, nil)
}

// outputError returns the error of CloseOutput's future. The channel is closed.
// Requires mu.
func (c *Channel) outputError() error {
	if c.clean || c.outputShut {
		return nil
	}
	return closedError(c.failure, c.closing)
}

// finishOutput does nothing unless finishing is set. Once all bytes are sent it shuts down
// the output, and once the peer has ended its side too, it closes the channel. Loop only.
func (c *Channel) finishOutput() {
	if !c.finishing || c.broken != nil || c.state != stateOpen && c.state != stateDraining {
		return
	}
	c.mu.Lock()
	flushed := c.pending() == 0
	c.mu.Unlock()
	if flushed && !c.outputShut {
		if err := c.sysShutdownWrite(); err != nil {
			if errno := c.sysSocketError(opRead); errno != 0 {
				err = readError(errno) // after a reset, shutdown(2) fails with ENOTCONN
			}
			c.failSoon(err)
			return
		}
		c.outputShut = true
		c.completeOutput()
	}
	if !c.outputShut || !c.inputEnded {
		return
	}
	if c.state == stateOpen {
		c.drain(io.EOF) // both sides have ended: the channel is of no more use
		return
	}
	if c.rareState().acks == nil {
		c.awaitAcks()
	}
}
