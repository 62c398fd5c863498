package blocking

import (
	"context"
	"errors"
	"io"
	"syscall"

	"eventide/core"
)

// lifecycle implements core.Channel, apart from the exported methods of Channel.
type lifecycle struct{ ch *Channel }

// Ready implements core.Channel: the poller has input, or an error of the connection. The poller
// has neither before start, which register posts after it has closed published.
func (l lifecycle) Ready(core.Readiness) { l.ch.guarded(l.ch.input) }

// Drain implements core.Channel. It ignores the deadline, at which the close of the
// executor cuts the channel.
func (l lifecycle) Drain(core.Deadline) {
	<-l.ch.published
	l.ch.guarded(l.ch.drain)
}

// Abort implements core.Channel.
func (l lifecycle) Abort(cause error) {
	<-l.ch.published
	l.ch.markClosing()
	l.ch.finish(cause)
}

func (ch *Channel) markClosing() {
	ch.closing.Store(true)
	ch.refuseWrites()
}

// start starts the channel on its loop. If a drain was requested before, start sends the written
// bytes, and calls Handler.Error if that fails, and no other method.
func (ch *Channel) start() {
	if ch.finished {
		return
	}
	if err := ch.handshake(); err != nil {
		ch.fail(err)
		return
	}
	ch.started = true
	ch.poller.attach(ch.conn, ch.cfg.readBuffer)
	_ = ch.reg.Modify(core.Readable) // no error: the registration is open, and the poller has its connection
	if ch.draining {
		ch.drainNow()
		return
	}
	ch.active = true
	ch.handler.Active(ch)
}

func (ch *Channel) handshake() error {
	ctx, cancel := context.WithTimeout(ch.loop.Context(), ch.cfg.handshakeTimeout)
	defer cancel()
	return ch.blocked(func() error { return ch.conn.handshake(ctx) })
}

// blocked calls f, which may block in the connection for as long as Close allows.
func (ch *Channel) blocked(f func() error) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.inside(f)
}

// input passes the bytes that the poller has read to the handler. After finish the poller has none.
func (ch *Channel) input() {
	p, err := ch.poller.take()
	if len(p) > 0 && ch.wantsInput() {
		ch.handler.Read(ch, p)
		if !ch.finished {
			ch.handler.ReadComplete(ch)
		}
	}
	switch {
	case ch.finished || err == nil:
	case err == io.EOF:
		ch.inputEnded()
	default:
		ch.fail(err)
	}
}

// inputEnded handles the peer's end of the stream (R220). A drain may have been
// requested that has not begun on the loop, even if the end comes in the same Read as
// the last input. The drain then begins now, because no more input can come. Many
// connections outside package net return an end from Read when this side closes them:
// after a cut, an end says nothing about the peer.
func (ch *Channel) inputEnded() {
	if ch.cutCause() != nil {
		ch.fail(io.EOF)
		return
	}
	ch.eof = true
	_ = ch.reg.Modify(0) // no more reads: each would return the end again
	switch {
	case ch.draining:
		ch.receipt.answered = !ch.receipt.crossed
		ch.awaitReceipt()
	case ch.isClosing():
		ch.drain()
	case !ch.cfg.halfClosure:
		ch.refuseWrites() // the close follows, and would discard the bytes of a later write
		ch.flushAll()     // the peer may wait for the rest of its answer
		ch.finish(io.EOF)
	case ch.wantsInput(): // otherwise Close is posted
		ch.handler.InputShutdown(ch)
		if !ch.finished {
			ch.handler.ReadComplete(ch)
		}
	}
}

// wantsInput reports whether the handler gets input. After Close or CloseGracefully it gets none, even if what
// they post has yet to run: a look for input that ends meanwhile would be dispatched first.
func (ch *Channel) wantsInput() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return !ch.draining && ch.refusal == nil
}

// refuseWrites refuses all further writes.
func (ch *Channel) refuseWrites() {
	ch.mu.Lock()
	ch.drained = true
	ch.mu.Unlock()
}

// cutCause returns the cause of cut, or nil if it was not called.
func (ch *Channel) cutCause() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.cutBy
}

// isClosing reports whether a drain was requested.
func (ch *Channel) isClosing() bool {
	return ch.closing.Load() || ch.loop.State() == core.StateShuttingDown
}

// drain begins the orderly end of the channel (G23). From here on writes on the loop are
// refused, too.
func (ch *Channel) drain() {
	if ch.finished || ch.draining {
		return
	}
	ch.draining = true
	ch.markClosing()
	if ch.started {
		ch.drainNow()
	}
}

// drainNow sends the accepted bytes and half-closes. Input is still read, and discarded,
// until the peer's end: a close with unread input resets the connection, and the peer
// loses bytes in flight. A reset that the half-close meets changes nothing if the peer had ended its
// side and received everything before.
func (ch *Channel) drainNow() {
	ch.flushAll()
	if ch.finished {
		return
	}
	// This check comes before the close alert of TLS: a peer that closes at the same
	// time answers the alert with a reset, though it has received everything else.
	if _, err := ch.checkReceipt(); err != nil {
		ch.fail(err)
		return
	}
	ch.receipt.crossed = ch.poller.hasEnd()
	var can bool
	err := ch.blocked(func() (err error) {
		can, err = ch.conn.halfClose()
		return err
	})
	switch {
	case err != nil && !(ch.eof && ch.receipt.received && peerHasReset(err)):
		ch.fail(ch.reasonFor(err))
	case ch.eof:
		ch.awaitReceipt()
	case !can:
		ch.finishClean()
	}
}

// peerHasReset reports whether a half-close failed because the peer has reset the connection. shutdown(2)
// says ENOTCONN, the write of the close alert of TLS one of the others.
func peerHasReset(err error) bool {
	return errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// reasonFor returns why a half-close failed. After a reset the kernel refuses a half-close with
// ENOTCONN. The reset itself is what the last Read has returned, or what the socket has pending.
func (ch *Channel) reasonFor(err error) error {
	if reset := ch.poller.failure(); reset != nil {
		return reset
	}
	if _, reset := ch.checkReceipt(); reset != nil {
		return reset
	}
	return err
}

// flushAll sends all written bytes, flushed or not.
func (ch *Channel) flushAll() {
	ch.mu.Lock()
	ch.out.marked = ch.out.accepted
	ch.mu.Unlock()
	ch.flush()
}

// finishClean ends a complete drain.
func (ch *Channel) finishClean() {
	ch.clean = true
	ch.finish(nil)
}
