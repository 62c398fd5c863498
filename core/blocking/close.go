package blocking

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"eventide/core"
)

// Close closes the channel and returns the future of that, the same for every call;
// it fails with the connection's error if that could not be closed properly. What
// was flushed before is sent first, in order; what was only written fails, as in
// Netty (R215).
//
// On the channel's executor the connection is closed when Close returns, or, if its
// handshake is still to come, after that. From elsewhere the executor does it when it
// has ended what it is at. Neither waits longer than WithCloseTimeout for a peer that
// does not read: then the connection is cut, and what it has not taken fails.
func (ch *Channel) Close() *core.Future[struct{}] {
	now := ch.loop.InEventLoop() && ch.started
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

// closeNow sends what is marked first: a flush from elsewhere may have returned, and
// still be on its way to the loop. Loop only.
func (ch *Channel) closeNow() {
	ch.flush()
	ch.finish(nil)
}

// CloseGracefully drains the channel as a shutdown does (G23): the handler hears no
// more input, what was written is sent, the connection is half-closed, input is
// discarded until the peer's end, and the connection is closed when the peer has
// received everything, where that can be known (see the package comment). Whatever is
// not done by deadline is given up; the zero deadline is never. Writes fail with
// ErrChannelClosing from now on; on the channel's executor from the moment at which
// it begins, which is after the running body, or when the peer's end is read in it.
//
// The future completes when the connection is closed: with nil if all of this has
// happened, as far as the connection can half-close and be asked; else with the
// reason, such as ErrCloseDeadline. A second call returns the same future. The
// earliest deadline counts, of all calls and of a shutdown. Close ends it: at once, or,
// where the executor is blocked in a write or in the handshake, after WithCloseTimeout
// at the latest.
func (ch *Channel) CloseGracefully(deadline core.Deadline) *core.Future[struct{}] {
	ch.mu.Lock()
	if ch.refusal == nil {
		ch.refusal = ErrChannelClosing
	}
	ch.closing = true
	ch.cutAt(deadline)
	ch.mu.Unlock()
	ch.post(ch.drain)
	return ch.onGrace.Future()
}

// cutAt makes sure that the connection is closed at the given moment, or before,
// under whatever is blocked in it. Requires mu.
func (ch *Channel) cutAt(at time.Time) {
	if ch.closed == nil && ch.deadline.earlier(at) {
		ch.deadline.alarms = append(ch.deadline.alarms, whenPassed(time.Until(at), func() { ch.cut(ErrCloseDeadline) }))
	}
}

// cut closes the connection under whatever is blocked in it; the loop finds out and
// ends the channel for the reason why. Any goroutine may call it.
func (ch *Channel) cut(why error) {
	ch.mu.Lock()
	if ch.cutBy == nil {
		ch.cutBy = why
	}
	ch.mu.Unlock()
	ch.conn.cut()
}

// fail ends the channel after an error of the connection, whose reason may be that
// it was cut. Loop only.
func (ch *Channel) fail(err error) {
	ch.mu.Lock()
	cutBy := ch.cutBy
	ch.mu.Unlock()
	if cutBy == nil {
		cutBy = context.Cause(ch.loop.Context()) // the one who cuts may be slower
	}
	if cutBy != nil {
		ch.finish(cutBy)
		return
	}
	ch.finish(&connError{err})
}

// connError marks a cause of which Handler.Error hears.
type connError struct{ error }

// finish ends the channel, in the order of G22. Each step that is somebody's code is
// a body of its own, so that whatever one does the others follow. Only the first
// call has an effect. Loop only; never inside a flush.
func (ch *Channel) finish(cause error) {
	if ch.finished {
		return
	}
	ch.finished = true
	var failure *connError
	if errors.As(cause, &failure) {
		cause = failure.error
	}
	if ch.eof && (cause == nil || cause == io.EOF) {
		_, _ = ch.checkReceipt() // while it can be asked; for other reasons it may be cut already
	}
	closeErr := ch.shut(cause)
	end := ch.settle(cause)
	ch.group.release()
	ch.whenCut.TrySuccess(struct{}{})
	if closeErr != nil {
		ch.onClose.TryFailure(closeErr) // the channel is closed all the same (R213)
	} else {
		ch.onClose.TrySuccess(struct{}{})
	}
	if why := graceError(ch.clean, cause); why != nil {
		ch.onGrace.TryFailure(why)
	} else {
		ch.onGrace.TrySuccess(struct{}{})
	}
	ch.failWrites()
	if failure != nil {
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

// graceError is how a graceful close ended.
func graceError(clean bool, cause error) error {
	if clean || cause != nil {
		return cause
	}
	return ErrChannelClosed
}

// shut closes the connection. Who ends a channel for a reason, other than its own
// end, has no time for farewells.
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
	ch.receipt.look.end()
	ch.mu.Lock()
	ch.leave()
	alarms, cutBy := append(ch.deadline.alarms, ch.closeLimit.rung...), ch.cutBy
	ch.deadline.alarms, ch.closeLimit.rung = nil, nil
	ch.deadline.at = longPast // no more of them
	ch.mu.Unlock()
	for _, a := range alarms {
		a.end()
	}
	if cause != nil || cutBy != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil // it is closed, and CloseCause says why
	}
	return err
}

// settle makes the end known to Write and to those who ask, and says what to report.
func (ch *Channel) settle(cause error) core.ChannelEnd {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	// The loop may not have been told of a shutdown yet: one that was blocked in the
	// connection finds it cut first.
	loopEnds := ch.loop.State() >= core.StateShuttingDown
	closing := ch.closing || loopEnds
	ch.closed = closedError(cause, closing)
	end := core.ChannelEnd{Kind: core.EndAborted, Discarded: ch.out.pending()}
	// A shutdown that comes from here on has not ended the channel, nor one that found it
	// about to close; one that cut the flush before the close has.
	counts := loopEnds && (!ch.closeFirst || cause != nil && end.Discarded > 0)
	if ch.eof && end.Discarded == 0 {
		end.Kind = ch.endKind()
	}
	ch.out.queue, ch.out.head = nil, 0
	if !counts {
		return core.ChannelEnd{Kind: core.EndUncounted}
	}
	return end
}

// failWrites completes the write futures that are pending. Those who ask from now on
// see the outcome without waiting.
func (ch *Channel) failWrites() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.writesFailed = true
	settleAll(ch.out.waiters)
	ch.out.waiters = nil
}
