package tcp

// Write appends a copy of p to what is to be sent, and does not send it: Flush
// does. The caller may reuse p at once. The order of writes is that of the calls,
// whichever goroutines made them.
//
// The future of a write that is not accepted has failed already, with
// ErrChannelClosing, ErrOutputShutdown or a *ClosedError; nothing of p was taken.
func (c *Channel) Write(p []byte) WriteFuture { return c.write(p, false) }

// WriteAndFlush is Write followed by Flush. On the loop, with nothing waiting, p
// goes to the kernel directly, and only what that does not take is copied.
func (c *Channel) WriteAndFlush(p []byte) WriteFuture { return c.write(p, true) }

// Flush sends what was written before: on the loop now, as far as the kernel takes
// it and the write spin allows, and the rest when the kernel has room. From another
// goroutine it goes to the loop first. Its future completes with 0 and the last of
// these writes.
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
		c.mu.Unlock()
		return WriteFuture{ch: c, n: len(p), err: err}
	}
	direct := 0
	if flush && inLoop && !c.blocked && c.pending() == 0 && len(p) > 0 {
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

// refusal returns why a write is not accepted, or nil. A channel that is held accepts
// writes after its close has begun. Requires mu.
func (c *Channel) refusal(inLoop bool) error {
	err := c.closeRefusal(inLoop)
	if err == ErrChannelClosing && c.held() && !(inLoop && c.broken != nil) {
		return nil
	}
	return err
}

// closeRefusal returns why nothing new may begin on the channel, or nil. On the loop a
// graceful close begins when the loop begins it, elsewhere with the call that asks for it:
// so a handler can answer what it was given. Requires mu.
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

// sendDirect offers p to the kernel, before it is copied, and returns how much was
// taken. An error is found again by the flush that follows. It keeps the lock during
// the call: nobody may get between the part that was sent and the rest. Requires mu;
// loop only.
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

// startFlush marks what is written as to be sent, and sends it or has it sent.
// Requires mu, and releases it.
func (c *Channel) startFlush(inLoop bool) {
	c.flushMark = c.written
	idle := c.flushMark == c.sent || c.blocked || !inLoop && c.flushNoted
	if !idle && !inLoop {
		c.flushNoted = true
	}
	c.mu.Unlock()
	switch {
	case idle: // nothing to do, or it is on its way
	case inLoop:
		c.flush()
	default:
		c.reg.Post(c.flushFromOutside)
	}
}

func (c *Channel) flushFromOutside() {
	c.mu.Lock()
	c.flushNoted = false
	c.mu.Unlock()
	c.flush()
}
