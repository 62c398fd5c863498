package tcp

import (
	"time"

	"eventide/core"
)

// observers are the promises and waiters for the end of a channel. They are allocated for
// the first caller that needs one. Guarded by Channel.mu; the loop completes them without mu.
type observers struct {
	closePromises
	closeErr    error   // of close(2); final once closed
	waiters     waiters // for pending writes
	holds       holds   // answers in flight
	closedFirst bool    // Close was called before a shutdown of the loop
	refused     int64   // writes that countRefused has counted
}

// closePromises are the promises of the futures that complete at the close; nil until somebody calls
// the method.
type closePromises struct {
	closed   *core.Promise[struct{}] // CloseFuture
	close    *core.Promise[struct{}] // Close
	graceful *core.Promise[struct{}] // CloseGracefully
	output   *core.Promise[struct{}] // CloseOutput
}

// observe returns c.observers, and makes them if they are nil. Requires mu.
func (c *Channel) observe() *observers {
	if c.observers == nil {
		c.observers = new(observers)
	}
	return c.observers
}

// promise returns *p, and makes it if it is nil. Requires mu.
func (c *Channel) promise(p **core.Promise[struct{}]) *core.Promise[struct{}] {
	if *p == nil {
		*p = core.NewPromise[struct{}](c.loop)
		(*p).SetUncancellable()
	}
	return *p
}

// completePromise completes p; p may be nil.
func completePromise(p *core.Promise[struct{}], err error) {
	switch {
	case p == nil:
	case err == nil:
		p.TrySuccess(struct{}{})
	default:
		p.TryFailure(err)
	}
}

// announceClose completes the futures of the close, CloseFuture first, and those of calls that come
// meanwhile. Later calls complete their own. The tempting wrong version lets a call that comes
// meanwhile complete its own future too: its listeners are then posted, and the loop, which goes on,
// calls listeners of the other futures, or Inactive, before them (G22). Loop only.
func (c *Channel) announceClose() {
	var done closePromises
	for {
		c.mu.Lock()
		if c.observers == nil || c.observers.closePromises == done {
			c.state = stateAnnounced
			c.mu.Unlock()
			return
		}
		done = c.observers.closePromises
		closeErr, graceErr, outputErr := c.observers.closeErr, c.graceError(), c.outputError()
		c.mu.Unlock()
		completePromise(done.closed, nil)
		completePromise(done.close, closeErr)
		completePromise(done.graceful, graceErr)
		completePromise(done.output, outputErr)
	}
}

// CloseFuture returns the future that completes, always with nil, when the socket is
// closed, whatever the cause. It cannot be cancelled.
func (c *Channel) CloseFuture() *core.Future[struct{}] {
	c.mu.Lock()
	p, announced := c.promise(&c.observe().closed), c.state == stateAnnounced
	c.mu.Unlock()
	if announced {
		completePromise(p, nil)
	}
	return p.Future()
}

// Close closes the channel without flushing it: writes with bytes that the kernel has not
// taken fail with a *ClosedError (R215). The package comment lists the steps that follow.
// With WithLinger the socket is closed later. Close also ends a graceful close that is
// under way.
//
// The future completes when the socket is closed; its error is that of close(2). A
// second call returns the same future. From another goroutine the close is posted, behind
// the flushes that the goroutine has requested before.
func (c *Channel) Close() *core.Future[struct{}] {
	c.mu.Lock()
	p, state, err := c.promise(&c.observe().close), c.state, c.observers.closeErr
	c.writable.Store(false)
	c.observers.closedFirst = c.observers.closedFirst || !c.loopEnds()
	c.mu.Unlock()
	switch {
	case state == stateAnnounced:
		completePromise(p, err)
	case state == stateClosed: // announceClose will complete p
	case c.loop.InEventLoop():
		c.closeOrLinger()
	default:
		c.reg.Post(c.closeFromOutside)
	}
	return p.Future()
}

// closeFromOutside is Close of another goroutine. A flush that this goroutine has requested before may
// have been left to a third one, which has not posted it yet: then it runs here. Loop only.
func (c *Channel) closeFromOutside() {
	c.mu.Lock()
	due := c.flushPosted
	c.mu.Unlock()
	if due {
		c.flush()
	}
	c.closeOrLinger()
}

// fail closes the channel for an error of the connection. Loop only.
func (c *Channel) fail(err error) {
	if c.state != stateOpen && c.state != stateDraining {
		return
	}
	c.broken = err               // makes a Close inside Error a no-op
	defer c.closeNow(err, false) // also if Error panics
	if err != ErrHandlerFailed {
		c.call(func() { c.handler.Error(c, err) })
	}
}

// failSoon posts fail: the current body, which may be a method of the handler, returns
// first. From now on nothing is sent or delivered, and writes on the loop are refused.
// Writes of other goroutines are accepted until fail runs, and fail with the channel.
// Until fail runs, only a shutdown may close the channel; otherwise Handler.Error would
// never be called. If the channel is closed for users already, broken has no effect, and fail does
// nothing. Loop only.
func (c *Channel) failSoon(err error) {
	if c.broken != nil {
		return
	}
	c.broken = err
	c.reg.Post(func() { c.fail(err) })
}

// closeOrLinger is Close on the loop. It leaves a broken channel to fail, which is posted
// or on the stack. Writes are accepted until closeNow or startLinger: without linger, a
// write refused earlier would complete ahead of pending ones (G22). Loop only.
func (c *Channel) closeOrLinger() {
	switch {
	case c.state >= stateLingering || c.broken != nil:
	case c.cfg.linger > 0:
		c.mu.Lock()
		c.markClosed(nil, false)
		c.mu.Unlock()
		c.startLinger()
	default:
		c.closeNow(nil, false)
	}
}

// markClosed closes the channel for users: from here on writes are refused. startLinger
// or closeNow must follow. Requires mu; loop only.
func (c *Channel) markClosed(cause error, clean bool) {
	c.state, c.failure, c.clean = stateLingering, cause, clean
	c.writable.Store(false)
}

// closeNow ends a channel. Every end passes here, and the order of its steps is that of G22
// (R212). clean requests that the end counts as drained; if accepted bytes are discarded, it
// never does (G23). Loop only.
func (c *Channel) closeNow(cause error, clean bool) {
	if c.state >= stateClosed {
		return
	}
	c.rare.stopTimers()
	defer c.closeSocket(cause, clean) // also if Modify panics: it is the code of a poller
	// The poller must forget the descriptor before the kernel can reuse its number.
	_ = c.reg.Modify(0)
}

// closeSocket is the part of closeNow that follows Modify.
func (c *Channel) closeSocket(cause error, clean bool) {
	closeErr := c.sysClose()

	c.mu.Lock()
	// Decide here whether a shutdown has ended this channel. A shutdown that begins after
	// this line has not ended it, and neither has one that began after a call of Close;
	// but a shutdown that cuts a linger short has ended it, with a cause of its own. The tempting wrong version
	// lets core decide at reg.End, and counts a shutdown that begins during the last
	// calls of the handler.
	closeFirst := c.observers != nil && c.observers.closedFirst
	counts := c.loopEnds() && (!closeFirst || c.state == stateLingering && cause != c.failure)
	if c.state < stateLingering {
		c.failure = cause
	}
	discarded := c.pending()
	clean = clean && discarded == 0
	var refused int64
	if c.observers != nil {
		refused = c.observers.refused
	}
	var held string // set only if this side ends the connection
	var heldSince time.Time
	if cause != nil && c.broken == nil {
		held, heldSince = c.describeHold()
	}
	c.state, c.clean = stateClosed, clean
	c.closing = c.closing || c.loopEnds() // for the errors of pending writes, also if the shutdown aborts
	c.writable.Store(false)
	if closeErr != nil {
		c.observe().closeErr = closeErr // for later calls of Close
	}
	c.out.release(&c.shared.pool)
	c.mu.Unlock()

	c.announceClose()
	if c.rare != nil && c.rare.connect != nil {
		c.rare.connect.fails(cause)
	}
	c.completeWrites()

	end := core.ChannelEnd{Kind: core.EndAborted, Discarded: discarded, Refused: refused}
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

// notifyEnd posts the last two calls of the handler, and then ends the registration. Each
// call is a body of its own: the listeners of the futures completed before run first, and
// a panic of one call does not prevent the other. The loop does not terminate before End,
// so both are called.
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

// Abort implements core.Channel: it closes the socket at once. The kernel still sends the
// bytes it has, unless there is unread input.
func (s *loopSide) Abort(cause error) { (*Channel)(s).closeNow(cause, false) }

// startLinger keeps the socket of a channel that is closed for users until the peer has
// acknowledged all bytes. No thread blocks: a timer checks every few milliseconds (netty
// closes on another thread, because close(2) blocks there; and deregisters first, #4449).
// Loop only.
func (c *Channel) startLinger() {
	c.rareState().stop = time.Now().Add(c.cfg.linger)
	c.rare.stopIdle()
	defer c.endOutputAndLinger() // also if Modify panics
	_ = c.reg.Modify(0)
}

// endOutputAndLinger is the part of startLinger that follows Modify.
func (c *Channel) endOutputAndLinger() {
	if !c.outputShut && c.sysShutdownWrite() != nil {
		c.closeNow(c.failure, c.clean)
		return
	}
	c.awaitAcks()
}

// The delay between two calls of awaitAcks doubles, within these bounds.
const (
	firstAckDelay = time.Millisecond
	mostAckDelay  = 16 * time.Millisecond
)

// awaitAcks closes the channel when the peer's kernel has acknowledged all bytes and our
// FIN, or no longer can. Otherwise it sets a timer that calls it again. Loop only.
func (c *Channel) awaitAcks() {
	lingering := c.state == stateLingering
	if !lingering && c.state != stateDraining {
		return
	}
	e := c.rareState()
	if e.acks != nil {
		e.acks.Stop() // a drain may have set it before Close was called: one chain of timers is enough
	}
	left, err := c.sysUnacknowledged() // after an error left is 0
	switch {
	case left == 0 || lingering && c.lingerEnded():
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

// lingerEnded reports whether WithLinger's time has passed or the connection has ended.
// After a reset nothing will be acknowledged, but the kernel still counts the bytes. A
// draining channel gets the reset from its poller; a lingering one is not watched.
func (c *Channel) lingerEnded() bool {
	return !time.Now().Before(c.rare.stop) || c.sysConnectionIsOver()
}
