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
// then the handler hears nothing, and what was written is sent.
func (ch *Channel) start() {
	if ch.finished {
		return
	}
	ctx, cancel := context.WithTimeout(ch.loop.Context(), ch.cfg.handshakeTimeout)
	err := ch.conn.handshake(ctx)
	cancel()
	if err != nil {
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

// inputEnded is the peer's end of the stream (R220).
func (ch *Channel) inputEnded() {
	ch.eof = true
	if ch.draining {
		ch.finishClean()
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
	can, err := ch.conn.halfClose()
	switch {
	case err != nil:
		ch.fail(err)
	case ch.eof || !can:
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
