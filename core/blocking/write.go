package blocking

import (
	"errors"

	"eventide/core"
)

// Write appends a copy of p to the bytes that wait for a Flush, and returns at once.
// Bytes leave in the order of the calls. The future fails if the write is refused: with
// ErrChannelClosing after CloseGracefully, after the shutdown call of the executor, and once
// the executor has read the peer's end, unless WithHalfClosure is set; with ErrChannelClosed
// after Close.
//
// There is no bound on the waiting bytes: a caller that writes faster than the peer reads
// should check PendingBytes, or wait for the future.
func (ch *Channel) Write(p []byte) WriteFuture {
	onLoop := ch.loop.InEventLoop()
	ch.mu.Lock()
	f := WriteFuture{ch: ch, size: len(p)}
	byShutdown := false
	if f.err = ch.refuses(onLoop); f.err == nil {
		ch.out.push(p)
	} else {
		byShutdown = ch.countRefused(f.err)
	}
	f.number, f.end = ch.out.writes, ch.out.accepted
	ch.mu.Unlock()
	if byShutdown {
		ch.logRefused()
	}
	return f
}

// countRefused counts a write that was refused with err because of a shutdown of the executor,
// and not because of an earlier end of the channel. It reports whether the write was counted.
// Requires mu.
func (ch *Channel) countRefused(err error) bool {
	if ch.refusal != nil || ch.loop.State() < core.StateShuttingDown {
		return false
	}
	if closed := (*ClosedError)(nil); errors.As(err, &closed) && (!closed.Closing ||
		closed.Cause != nil && !errors.Is(err, core.ErrShutdown) && !errors.Is(err, core.ErrShutdownTimeout)) {
		return false
	}
	ch.refused++
	return true
}

// refuses returns the reason why a write is not accepted, or nil. On the loop, writes are
// refused only from the beginning of the drain: so a handler can answer in Read all input
// that it gets. Other goroutines are refused from the return of the shutdown call on.
// Requires mu.
func (ch *Channel) refuses(onLoop bool) error {
	switch {
	case ch.closed != nil:
		return ch.closed
	case ch.drained:
		return ErrChannelClosing
	case onLoop:
		return nil
	case ch.refusal != nil:
		return ch.refusal
	case ch.loop.State() >= core.StateShuttingDown:
		return ErrChannelClosing
	}
	return nil
}

// Flush sends the bytes of earlier writes. On the channel's executor it returns when the
// connection has taken them, or the channel is closed; on another goroutine, and in a task of
// this executor before the handshake, it passes the flush to the executor and returns at once. Its
// future completes with 0 when the last of these writes completes, and fails like the future of a Write.
func (ch *Channel) Flush() WriteFuture {
	onLoop := ch.loop.InEventLoop()
	now := onLoop && ch.started
	ch.mu.Lock()
	f := WriteFuture{ch: ch, number: ch.out.writes, end: ch.out.accepted}
	if f.err = ch.refuses(onLoop); f.err != nil {
		ch.mu.Unlock()
		return f
	}
	// If bytes are marked, a flush that will see the mark is already posted.
	first := ch.out.marked < ch.out.accepted && !ch.flushing
	ch.out.marked = ch.out.accepted
	ch.flushing = ch.flushing || first && !now
	ch.mu.Unlock()
	switch {
	case now:
		ch.flush()
	case first:
		ch.post(ch.flushLater)
	}
	return f
}

// flushLater is the flush that Flush passes to the executor.
func (ch *Channel) flushLater() {
	ch.mu.Lock()
	ch.flushing = false
	ch.mu.Unlock()
	ch.flush()
}

// WriteAndFlush is Write and Flush.
func (ch *Channel) WriteAndFlush(p []byte) WriteFuture {
	f := ch.Write(p)
	ch.Flush()
	return f
}

// flush sends the bytes that are marked when it begins. Bytes marked meanwhile get their own
// flush, so that writers that never stop cannot keep the loop from reading. Loop only.
func (ch *Channel) flush() {
	if !ch.started || ch.finished || ch.inFlush {
		return
	}
	if err := ch.send(); err != nil {
		// After the flush has returned: finish must not run inside it.
		ch.fail(err)
	}
}

func (ch *Channel) send() error {
	ch.inFlush = true
	defer func() { ch.inFlush = false }()
	ch.mu.Lock()
	defer ch.mu.Unlock()
	upTo := ch.out.marked
	for ch.out.flushed < upTo {
		n, err := ch.sendNext(upTo)
		ch.out.sent(n)
		completeWrites(ch.out.completed())
		if err != nil {
			return err
		}
	}
	return nil
}

// sendNext passes one piece to the connection. Requires mu.
func (ch *Channel) sendNext(upTo int64) (n int, err error) {
	piece := ch.out.next(upTo)
	err = ch.inside(func() (err error) {
		n, err = ch.conn.write(piece)
		return err
	})
	return n, err
}
