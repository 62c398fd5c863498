package tcp

import (
	"time"

	"eventide/core"
)

// observers are the promises and waiters for the end of a channel. They are made for the
// first caller that wants one. Guarded by Channel.mu; the loop completes them without mu.
type observers struct {
	closed   *core.Promise[struct{}] // CloseFuture
	close    *core.Promise[struct{}] // Close
	graceful *core.Promise[struct{}] // CloseGracefully
	output   *core.Promise[struct{}] // CloseOutput
	closeErr error                   // of close(2); final once closed
	waiters  waiters                 // of write futures
	holds    holds                   // answers in flight
	first    bool                    // Close was called before a shutdown of the loop
}

// observe returns the observers, and makes them if there are none. Requires mu.
func (c *Channel) observe() *observers {
	if c.observers == nil {
		c.observers = new(observers)
	}
	return c.observers
}

// promise returns *p, made if it is not there. Requires mu.
func (c *Channel) promise(p **core.Promise[struct{}]) *core.Promise[struct{}] {
	if *p == nil {
		*p = core.NewPromise[struct{}](c.loop)
		(*p).SetUncancellable()
	}
	return *p
}

// settle completes p, if there is one.
func settle(p *core.Promise[struct{}], err error) {
	switch {
	case p == nil:
	case err == nil:
		p.TrySuccess(struct{}{})
	default:
		p.TryFailure(err)
	}
}

// CloseFuture returns the future that completes when the socket is closed, for
// whatever reason, always with nil. It cannot be cancelled.
func (c *Channel) CloseFuture() *core.Future[struct{}] {
	c.mu.Lock()
	p, closed := c.promise(&c.observe().closed), c.state == stateClosed
	c.mu.Unlock()
	if closed {
		settle(p, nil)
	}
	return p.Future()
}

// Close closes the channel without flushing it: what the kernel has not taken fails
// with a *ClosedError (R215). See the package comment for what follows in which
// order. With WithLinger the socket is closed later. It also ends a graceful close
// that is under way.
//
// The future completes when the socket is closed; its error is that of close(2). A
// second call returns the same future. From another goroutine the close comes after
// what that has flushed before.
func (c *Channel) Close() *core.Future[struct{}] {
	c.mu.Lock()
	p, closed, err := c.promise(&c.observe().close), c.state == stateClosed, c.observers.closeErr
	c.writable.Store(false)
	c.observers.first = c.observers.first || !c.loopEnds()
	c.mu.Unlock()
	if closed {
		settle(p, err)
	} else {
		c.onLoop(c.closeOrLinger)
	}
	return p.Future()
}

// fail closes the channel for an error of the connection. Loop only.
func (c *Channel) fail(err error) {
	if c.state != stateOpen && c.state != stateDraining {
		return
	}
	c.broken = err               // a Close inside Error is not why the channel closes
	defer c.closeNow(err, false) // Error may panic
	if err != ErrHandlerFailed {
		c.call(func() { c.handler.Error(c, err) })
	}
}

// failSoon is fail after the body that found the error, which may be one of the
// handler's. Nothing is sent or delivered from now on, and writes of the loop are
// refused; those of others are accepted until fail, and fail with it. What else would
// close the channel in between leaves that to fail, or the handler would not hear of the
// error: only a shutdown does not. Loop only.
func (c *Channel) failSoon(err error) {
	if c.broken != nil || c.state >= stateLingering {
		return
	}
	c.broken = err
	c.reg.Post(func() { c.fail(err) })
}

// closeOrLinger is Close of a connection that works; fail closes one that does not: it
// is on its way, or below us on the stack. Writes are accepted until closeNow or
// startLinger: one that were refused before, by a close without linger, would complete
// ahead of those that are pending (G22). Loop only.
func (c *Channel) closeOrLinger() {
	switch {
	case c.state >= stateLingering || c.broken != nil:
	case c.cfg.linger > 0:
		c.mu.Lock()
		c.leave(nil, false)
		c.mu.Unlock()
		c.startLinger()
	default:
		c.closeNow(nil, false)
	}
}

// leave closes the channel for everybody: from here on writes are refused. startLinger
// or closeNow has to follow. Requires mu; loop only.
func (c *Channel) leave(cause error, clean bool) {
	c.state, c.failure, c.clean = stateLingering, cause, clean
	c.writable.Store(false)
}

// closeNow is the one way in which a channel ends; the order of what it does is
// G22's (R212). clean says that it counts as drained, unless accepted bytes are
// discarded: then it never does (G23). Loop only.
func (c *Channel) closeNow(cause error, clean bool) {
	if c.state == stateClosed {
		return
	}
	c.edge.stopAll()
	defer c.closeSocket(cause, clean) // a poller may panic: the channel ends all the same
	// The poller lets go of the descriptor before its number may be used again.
	_ = c.reg.Modify(0)
}

// closeSocket is closeNow once the poller has been asked to let go.
func (c *Channel) closeSocket(cause error, clean bool) {
	closeErr := c.sysClose()

	c.mu.Lock()
	// A shutdown that comes from here on has not ended the channel, nor one that found it
	// about to close; one that cuts a linger short has. The tempting wrong version lets core
	// decide by whether the shutdown had begun at reg.End: the last calls of the handler
	// come before that.
	closeFirst := c.observers != nil && c.observers.first
	counts := c.loopEnds() && (!closeFirst || c.state == stateLingering && cause != nil)
	if c.state < stateLingering {
		c.failure = cause
	}
	discarded := c.pending()
	clean = clean && discarded == 0
	var held string // only if it is our side that ends the connection
	var heldSince time.Time
	if cause != nil && c.broken == nil {
		held, heldSince = c.describeHold()
	}
	c.state, c.clean = stateClosed, clean
	c.closing = c.closing || c.loopEnds() // for what is pending: a shutdown that aborts drains nothing
	c.writable.Store(false)
	if closeErr != nil {
		c.observe().closeErr = closeErr // for who asks later
	}
	c.out.release(&c.shared.pool)
	var p observers
	if c.observers != nil {
		p = *c.observers
	}
	graceErr, outputErr := c.graceError(), c.outputError()
	c.mu.Unlock()

	settle(p.closed, nil)
	settle(p.close, closeErr)
	settle(p.graceful, graceErr)
	settle(p.output, outputErr)
	if c.edge != nil && c.edge.connect != nil {
		c.edge.connect.fails(cause)
	}
	c.completeWrites()

	end := core.ChannelEnd{Kind: core.EndAborted, Discarded: discarded}
	switch {
	case !counts:
		end = core.ChannelEnd{Kind: core.EndUncounted}
	case !c.active:
		end.Kind = core.EndUncounted
	case clean:
		end.Kind = core.EndDrained
	default:
		end.Held, end.HeldSince = held, heldSince
	}
	c.logFailure(cause, end)
	c.notifyEnd(end)
}

// notifyEnd has the last two calls of the handler made, and lets go of the loop.
// They are bodies of their own: the listeners of the futures that were completed
// before run before them, and a panic of one does not keep the other from being
// called. The loop ends after End only, so that somebody is there to call them.
func (c *Channel) notifyEnd(end core.ChannelEnd) {
	if !c.active {
		c.reg.End(end)
		return
	}
	c.reg.Post(func() { c.handler.Inactive(c) })
	c.reg.Post(func() {
		defer c.reg.End(end)
		c.handler.Unregistered(c)
	})
}

// Abort is core.Channel's: nothing more is tried. The socket is closed as always;
// the kernel still delivers what it has, unless there is unread input.
func (s *loopSide) Abort(cause error) { (*Channel)(s).closeNow(cause, false) }

// startLinger leaves the socket of a channel that was closed for everybody to the
// kernel, until the peer has acknowledged everything. Nothing blocks: the loop has a
// look at it every few milliseconds (netty closes on another thread, as close(2) waits
// there; and deregisters first, #4449). Loop only.
func (c *Channel) startLinger() {
	c.atEdge().stop = time.Now().Add(c.cfg.linger)
	defer c.endOutputAndLinger() // as in closeNow
	_ = c.reg.Modify(0)
}

// endOutputAndLinger is startLinger once the poller has been asked to let go.
func (c *Channel) endOutputAndLinger() {
	if c.sysShutdownWrite() != nil {
		c.closeNow(c.failure, c.clean)
		return
	}
	c.awaitAcks()
}

// Between two looks at what the peer has acknowledged.
const (
	firstAckDelay = time.Millisecond
	mostAckDelay  = 16 * time.Millisecond
)

// awaitAcks closes the channel when the peer's kernel has acknowledged everything,
// our FIN included, or cannot any more. Loop only.
func (c *Channel) awaitAcks() {
	lingering := c.state == stateLingering
	if !lingering && c.state != stateDraining {
		return
	}
	e := c.atEdge()
	if e.acks != nil {
		e.acks.Stop() // a drain had one under way when Close came: one chain of looks is enough
	}
	left, err := c.sysUnacknowledged()
	switch {
	case err != nil || left == 0 || lingering && c.lingeredEnough():
		if lingering {
			c.closeNow(c.failure, c.clean)
		} else {
			c.closeNow(e.drainedFor, err == nil)
		}
		return
	case e.delay == 0:
		e.delay = firstAckDelay
	default:
		e.delay = min(2*e.delay, mostAckDelay)
	}
	delay := e.delay
	if lingering {
		delay = min(delay, time.Until(e.stop))
	}
	e.acks = time.AfterFunc(delay, func() { c.reg.Post(c.awaitAcks) })
}

// lingeredEnough reports whether the time is over, or the connection is: after a reset
// nothing will be acknowledged, and the kernel goes on counting it. A channel that
// drains hears of that from its poller; one that lingers is not watched any more.
func (c *Channel) lingeredEnough() bool {
	return !time.Now().Before(c.edge.stop) || c.sysConnectionIsOver()
}
