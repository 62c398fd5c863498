package tcp

import (
	"eventide/core"
)

// Write appends a copy of p to the outbound buffer. It does not send: Flush
// does. The caller may reuse p at once. Bytes are sent in the order of the calls of Write,
// which may come from several goroutines.
//
// If the write is refused, its future has already failed, with ErrChannelClosing,
// ErrOutputShutdown or a *ClosedError, and no byte of p was accepted.
func (c *Channel) Write(p []byte) WriteFuture { return c.write(p, false) }

// WriteAndFlush is Write followed by Flush. On the loop, with an empty buffer, it offers p
// to the kernel directly, and copies only the bytes that the kernel does not take.
func (c *Channel) WriteAndFlush(p []byte) WriteFuture { return c.write(p, true) }

// Flush sends the bytes of earlier writes. On the loop it sends at once, as far as the
// kernel has room and the write spin allows; the rest follows when the kernel has room.
// From another goroutine the flush is posted to the loop. Its future completes, with 0
// bytes, together with the last of these writes.
func (c *Channel) Flush() WriteFuture {
	inLoop := c.loop.InEventLoop()
	c.mu.Lock()
	if err := c.refusal(inLoop); err != nil {
		c.mu.Unlock()
		return WriteFuture{ch: c, err: err}
	}
	end := c.written
	c.startFlush(inLoop)
	return WriteFuture{ch: c, end: end}
}

func (c *Channel) write(p []byte, flush bool) WriteFuture {
	inLoop := c.loop.InEventLoop()
	c.mu.Lock()
	if err := c.refusal(inLoop); err != nil {
		byShutdown := c.countRefused(err)
		c.mu.Unlock()
		if byShutdown {
			c.logRefused()
		}
		return WriteFuture{ch: c, n: len(p), err: err}
	}
	direct := 0
	if flush && inLoop && c.pending() == 0 && len(p) > 0 { // blocked is false then: only pending bytes are blocked
		if direct = c.sendDirect(p); direct == len(p) {
			f := WriteFuture{ch: c, end: c.written, n: len(p)}
			c.mu.Unlock()
			return f
		}
	}
	c.out.append(&c.shared.pool, p[direct:])
	c.written += int64(len(p) - direct)
	f := WriteFuture{ch: c, end: c.written, n: len(p)}
	crossed := c.pending() > int64(c.cfg.high) && c.writable.Load()
	if crossed {
		c.writable.Store(false)
		c.crossed = true
	}
	if flush {
		c.startFlush(inLoop)
	} else {
		c.mu.Unlock()
	}
	switch {
	case !crossed:
	case inLoop:
		c.notifyWritability()
	default:
		c.reg.Post(c.notifyWritability)
	}
	return f
}

// refusal returns the error of a write, or nil if the write is accepted. A held channel
// accepts writes after its close has begun. Requires mu.
func (c *Channel) refusal(inLoop bool) error {
	err := c.closeRefusal(inLoop)
	if err == ErrChannelClosing && c.held() && !(inLoop && c.broken != nil) {
		return nil
	}
	return err
}

// countRefused counts a write that was refused with err because of a shutdown of the loop, and
// not because of an earlier end of the channel. It reports whether the write was counted.
// Requires mu.
func (c *Channel) countRefused(err error) bool {
	if !c.loopEnds() {
		return false
	}
	if err == ErrChannelClosing {
		if o := c.observers; o != nil && (o.graceful != nil || o.close != nil || o.output != nil) {
			return false // the user has closed the channel or its output
		}
	} else if c.failure != core.ErrShutdown && c.failure != core.ErrShutdownTimeout {
		return false
	}
	c.observe().refused++
	return true
}

// closeRefusal returns the error of a new write or hold, or nil. For a write or hold on
// the loop, a graceful close begins when the loop begins it; for others, when it is
// requested. So a handler can answer the input that it was given. Requires mu.
func (c *Channel) closeRefusal(inLoop bool) error {
	gone := c.loopEnds()
	switch {
	case c.state >= stateLingering:
		return closedError(c.failure, c.closing || gone)
	case c.state == stateDraining:
		return ErrChannelClosing
	case inLoop && c.broken != nil: // only the loop knows
		return closedError(c.broken, c.closing || gone)
	case c.noOutput:
		return ErrOutputShutdown
	case !inLoop && (c.closing || gone):
		return ErrChannelClosing
	}
	return nil
}

// sendDirect offers p to the kernel without copying it, and returns how many bytes the
// kernel took. It drops an error: the flush that follows gets it again. mu is held during
// the call, so that no other write gets between the sent part of p and the rest. Requires
// mu; loop only.
func (c *Channel) sendDirect(p []byte) int {
	n, errno := c.sysSend(p)
	if errno != 0 {
		return 0
	}
	c.written += int64(n)
	c.sent += int64(n)
	c.flushMark = c.written
	c.hasWritten()
	return n
}

// startFlush marks all written bytes for sending, and flushes or posts a flush.
// Requires mu, and releases it.
func (c *Channel) startFlush(inLoop bool) {
	c.flushMark = c.written
	idle := c.flushMark == c.sent || c.blocked || !inLoop && c.flushPosted
	if !idle && !inLoop {
		c.flushPosted = true
	}
	c.mu.Unlock()
	switch {
	case idle: // nothing to send, or a flush is already due
	case inLoop:
		c.flush()
	default:
		c.reg.Post(c.flushFromOutside)
	}
}

func (c *Channel) flushFromOutside() {
	c.mu.Lock()
	c.flushPosted = false
	c.mu.Unlock()
	c.flush()
}
