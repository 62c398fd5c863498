package blocking

import (
	"context"
	"io"

	"eventide/core"
)

// lifecycle is what the loop calls: core.Channel, kept apart from the methods of
// Channel that users see.
type lifecycle struct{ ch *Channel }

// Ready is core.Channel's: something was read.
func (l lifecycle) Ready(core.Readiness) {
	<-l.ch.published
	l.ch.guarded(l.ch.input)
}

// Drain is core.Channel's. Its deadline is that of the close, at which the channel
// is cut.
func (l lifecycle) Drain(core.Deadline) {
	<-l.ch.published
	l.ch.guarded(l.ch.drain)
}

// Abort is core.Channel's.
func (l lifecycle) Abort(cause error) {
	<-l.ch.published
	l.ch.noteClosing()
	l.ch.finish(cause)
}

func (ch *Channel) noteClosing() {
	ch.mu.Lock()
	ch.closing, ch.drained = true, true
	ch.mu.Unlock()
}

// start begins the channel's life on its loop. A drain may have been told before:
// then what was written is sent, and the handler hears nothing but an Error of that.
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
	if err := ch.reg.Modify(core.Readable); err != nil {
		ch.fail(err)
		return
	}
	if ch.draining {
		ch.drainNow()
		return
	}
	ch.active = true
	ch.handler.Active(ch)
	ch.flush() // what others have flushed during the handshake
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
	if err := ch.enter(); err != nil {
		return err
	}
	defer ch.leave()
	ch.mu.Unlock()
	defer ch.mu.Lock()
	return f()
}

// input hands over what was read.
func (ch *Channel) input() {
	if ch.finished {
		return
	}
	p, err := ch.poller.take()
	if len(p) > 0 && !ch.draining {
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

// inputEnded is the peer's end of the stream (R220). It may come before the drain
// that was asked for meanwhile, in the same Read as the last input even: that drain
// begins now, since nothing else is left to be heard. Many connections that are not of
// package net end their Read like that when they are closed here: once ours is cut, the
// end is nobody else's, and says nothing about the peer.
func (ch *Channel) inputEnded() {
	if ch.isCut() {
		ch.fail(io.EOF)
		return
	}
	ch.eof = true
	if ch.draining {
		ch.receipt.answered = true
		ch.bothEnded()
		return
	}
	if ch.isClosing() {
		ch.drain()
		return
	}
	if !ch.cfg.halfClosure {
		ch.flushAll() // the peer may wait for the rest of its answer
		ch.finish(io.EOF)
		return
	}
	_ = ch.reg.Modify(0) // no more reads: the end would be read for ever
	ch.handler.InputShutdown(ch)
	if !ch.finished {
		ch.handler.ReadComplete(ch)
	}
}

// isCut reports whether the connection is closed under whoever uses it, or about to be.
func (ch *Channel) isCut() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.cutBy != nil
}

// isClosing reports whether a drain is on its way to the loop.
func (ch *Channel) isClosing() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.closing || ch.loop.State() == core.StateShuttingDown
}

// drain begins to end the channel in good order (G23). From here on the loop's own
// writes are refused too.
func (ch *Channel) drain() {
	if ch.finished || ch.draining {
		return
	}
	ch.draining = true
	ch.noteClosing()
	if ch.started {
		ch.drainNow()
	}
}

// drainNow sends what was accepted, and says that there is no more. Then input goes
// on being read, and discarded, until the peer's end: to close with unread input
// resets the connection, and the peer loses what is in flight.
func (ch *Channel) drainNow() {
	ch.flushAll()
	if ch.finished {
		return
	}
	// Before the goodbye: TLS peers that close at the same time answer that with a
	// reset, though they have received everything else.
	if _, err := ch.checkReceipt(); err != nil {
		ch.fail(err)
		return
	}
	can := false
	err := ch.blocked(func() (err error) {
		can, err = ch.conn.halfClose()
		return err
	})
	switch {
	case err != nil:
		ch.fail(err)
	case ch.eof:
		ch.bothEnded()
	case !can:
		ch.finishClean()
	}
}

// flushAll sends what was written, flushed or not.
func (ch *Channel) flushAll() {
	ch.mu.Lock()
	ch.out.marked = ch.out.accepted
	ch.mu.Unlock()
	ch.flush()
}

// finishClean is the proper end of a drain.
func (ch *Channel) finishClean() {
	ch.clean = true
	ch.finish(nil)
}
