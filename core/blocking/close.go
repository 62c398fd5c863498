package blocking

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"eventide/core"
)

// Close closes the channel and returns a future, the same one for every call. The future
// fails with the connection's error if the connection could not be closed properly. Bytes
// flushed before Close are sent first, in order; writes that were not flushed fail, as in
// Netty (R215).
//
// On the channel's executor Close returns when the connection is closed; before the handshake, and
// inside a Write of the connection, it returns at once, and the connection is closed later. On
// another goroutine Close returns at once, and the executor closes the connection after its current
// body, or after its look for input, which takes a millisecond at most. In each case a peer that does
// not read delays the close by WithCloseTimeout at most: then the connection is cut, and the futures
// of unsent writes fail.
func (ch *Channel) Close() *core.Future[struct{}] {
	now := ch.loop.InEventLoop() && ch.started && !ch.inFlush
	ch.mu.Lock()
	if ch.refusal == nil || ch.refusal == ErrChannelClosing {
		ch.refusal = ErrChannelClosed
	}
	ch.limit()
	ch.closeFirst = ch.closeFirst || ch.loop.State() < core.StateShuttingDown
	ch.mu.Unlock()
	if now {
		ch.closeNow()
	} else {
		ch.post(ch.closeNow)
	}
	return ch.onClose.Future()
}

// closeNow sends the marked bytes first: a Flush on another goroutine may have returned
// while its flush has not reached the loop. Loop only.
func (ch *Channel) closeNow() {
	ch.flush()
	ch.finish(nil)
}

// CloseGracefully drains the channel as a shutdown does (G23). The handler gets no more
// input, the written bytes are sent, the connection is half-closed, and input is
// discarded until the peer's end. The connection is closed when the peer has received
// everything, where that can be known (see the package comment), or at deadline, whatever is
// still missing. The zero deadline means none. Writes fail with ErrChannelClosing
// from now on. On the channel's executor they fail once the drain has begun: after the
// running body, or when that body reads the peer's end.
//
// The future completes when the connection is closed: with nil if every step succeeded that
// the connection supports; otherwise with the cause, such as ErrCloseDeadline. A second call
// returns the same future. Of the deadlines of all calls and of a shutdown, the earliest
// applies. Close ends the drain: at once, or, while the executor is blocked in a write or in the
// handshake, after WithCloseTimeout at the latest.
func (ch *Channel) CloseGracefully(deadline core.Deadline) *core.Future[struct{}] {
	ch.mu.Lock()
	if ch.refusal == nil {
		ch.refusal = ErrChannelClosing
	}
	ch.closing.Store(true)
	ch.cutAt(deadline)
	ch.mu.Unlock()
	ch.post(ch.drain)
	return ch.onGrace.Future()
}

// cutAt makes sure that the connection is closed at the given time or before, even while
// a call is blocked in it. Requires mu.
func (ch *Channel) cutAt(at time.Time) {
	if ch.closed == nil && ch.deadline.earlier(at) {
		ch.deadline.alarms = append(ch.deadline.alarms, whenPassed(time.Until(at), func() {
			ch.cut(ErrCloseDeadline)
			ch.post(ch.wasCut)
		}))
	}
}

// wasCut ends the channel after cut, in case the loop is not inside the connection: then no call
// returns an error. For example, the loop may wait for the peer's receipt. Loop only.
func (ch *Channel) wasCut() { ch.fail(ErrCloseDeadline) }

// cut closes the connection even while a call is blocked in it. The call returns an
// error, and the loop ends the channel with the cause why. Any goroutine may call it.
func (ch *Channel) cut(why error) {
	ch.mu.Lock()
	if ch.cutBy == nil {
		ch.cutBy = why
	}
	ch.mu.Unlock()
	ch.conn.cut()
}

// fail ends the channel after an error of the connection, which cut may have caused. Loop
// only.
func (ch *Channel) fail(err error) {
	cutBy := ch.cutCause()
	if cutBy == nil {
		cutBy = context.Cause(ch.loop.Context()) // the goroutine that calls cut may be slower
	}
	if cutBy != nil {
		ch.finish(cutBy)
		return
	}
	ch.finish(&connError{err})
}

// connError marks a cause that is passed to Handler.Error.
type connError struct{ error }

// ofConnection returns the error in a connError, and whether the cause is one.
func ofConnection(because error) (cause error, failed bool) {
	if c, ok := because.(*connError); ok {
		return c.error, true
	}
	return because, false
}

// finish ends the channel, in the order of G22. Each step that calls user code is a body
// of its own, so that the other steps follow even if it panics. Only the first call has
// an effect. Loop only; never inside a flush.
func (ch *Channel) finish(because error) {
	if ch.finished {
		return
	}
	ch.finished = true
	cause, failed := ofConnection(because)
	if ch.eof && (cause == nil || cause == io.EOF) {
		_, _ = ch.checkReceipt() // before the connection is closed; with another cause it may be cut already
	}
	closeErr := ch.shut(cause)
	end := ch.markClosed(cause)
	ch.group.release()
	ch.whenCut.TrySuccess(struct{}{})
	if closeErr != nil {
		ch.onClose.TryFailure(closeErr) // the channel is closed nevertheless (R213)
	} else {
		ch.onClose.TrySuccess(struct{}{})
	}
	if why := graceError(ch.clean, cause); why != nil {
		ch.onGrace.TryFailure(why)
	} else {
		ch.onGrace.TrySuccess(struct{}{})
	}
	ch.failWrites()
	if failed {
		ch.reg.Post(func() { ch.handler.Error(ch, cause) })
	}
	ch.logFailure(cause, end)
	if ch.active {
		ch.reg.Post(func() { ch.handler.Inactive(ch) })
		ch.reg.Post(func() { ch.handler.Unregistered(ch) })
	}
	ch.reg.Post(func() {
		ch.reg.End(end)
		ch.group.retire(ch.child)
	})
}

// graceError returns the error of a graceful close, or nil.
func graceError(clean bool, cause error) error {
	if clean || cause != nil {
		return cause
	}
	return ErrChannelClosed
}

// shut closes the connection. With a cause other than the peer's end it is cut first:
// there is no time for the close alert of TLS.
func (ch *Channel) shut(cause error) error {
	_ = ch.reg.Modify(0)
	ch.poller.detach()
	ch.mu.Lock()
	late := ch.enter()
	ch.mu.Unlock()
	if late != nil || cause != nil && cause != io.EOF {
		ch.conn.cut()
	}
	err := ch.conn.shut()
	ch.byLoop.end()
	ch.receipt.next.end()
	ch.mu.Lock()
	ch.leave()
	alarms, cutBy := append(ch.deadline.alarms, ch.closeLimit.fired...), ch.cutBy
	ch.deadline.at = longPast // after this no further alarm is set
	ch.mu.Unlock()
	for _, a := range alarms {
		a.end()
	}
	if cause != nil || cutBy != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil // the connection is closed, and CloseCause gives the reason
	}
	return err
}

// markClosed makes the end visible to Write and to the methods of Channel, and returns it for
// the core.Report.
func (ch *Channel) markClosed(cause error) core.ChannelEnd {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	// The loop may not have seen a shutdown yet: if it was blocked in the connection, it
	// finds the connection cut first.
	loopEnds := ch.loop.State() >= core.StateShuttingDown
	closing := ch.closing.Load() || loopEnds
	ch.closed = closedError(cause, closing)
	end := core.ChannelEnd{Kind: core.EndAborted, Discarded: ch.out.pending(), Refused: ch.refused}
	// A shutdown does not count the channel if it comes from here on, or if Close was called
	// before it. It does count a channel of such a Close if an error, such as the cut of the
	// shutdown, ends the channel first and written bytes are lost.
	counts := loopEnds && (!ch.closeFirst || cause != nil && end.Discarded > 0)
	if ch.eof && end.Discarded == 0 {
		end.Kind = ch.endKind()
	}
	ch.out.queue = nil
	if !counts {
		return core.ChannelEnd{Kind: core.EndUncounted}
	}
	return end
}

// failWrites completes the write futures that are pending. Later calls see the outcome
// without waiting.
func (ch *Channel) failWrites() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.writesFailed = true
	completeWrites(ch.out.waiters)
	ch.out.waiters = nil
}
