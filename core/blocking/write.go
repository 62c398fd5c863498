package blocking

import "eventide/core"

// Write appends p to what waits to be flushed, and returns at once. It copies p.
// Bytes leave in the order in which the calls happened. The future fails if the
// write is refused: after CloseGracefully and after the shutdown call of the
// executor with ErrChannelClosing, after Close with ErrChannelClosed.
//
// There is no bound on what waits: who writes faster than the peer reads looks at
// PendingBytes, or waits for the future.
func (ch *Channel) Write(p []byte) WriteFuture {
	onLoop := ch.loop.InEventLoop()
	ch.mu.Lock()
	defer ch.mu.Unlock()
	f := WriteFuture{ch: ch, size: len(p)}
	if f.err = ch.refuses(onLoop); f.err == nil {
		ch.out.push(p)
	}
	f.number, f.end = ch.out.writes, ch.out.accepted
	return f
}

// refuses returns why a write is not accepted. On the loop that begins when the
// drain does: so a handler that answers within Read has answered all that it was
// ever given. Others hear of a shutdown from the return of the call on. Requires mu.
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

// Flush sends what was written before. On the channel's executor it returns when the
// connection has taken it, or the channel is closed; from elsewhere it is handed to
// the executor and returns at once. Its future completes with 0 and the last of these
// writes; it fails like that of a Write.
func (ch *Channel) Flush() WriteFuture {
	onLoop := ch.loop.InEventLoop()
	ch.mu.Lock()
	f := WriteFuture{ch: ch, number: ch.out.writes, end: ch.out.accepted}
	if f.err = ch.refuses(onLoop); f.err != nil {
		ch.mu.Unlock()
		return f
	}
	// Where something is marked, a flush is on its way that will see the mark.
	first := ch.out.marked < ch.out.accepted && !ch.flushing
	ch.out.marked = ch.out.accepted
	ch.flushing = ch.flushing || first && !onLoop
	ch.mu.Unlock()
	switch {
	case onLoop:
		ch.flush()
	case first:
		ch.post(ch.flushForOthers)
	}
	return f
}

func (ch *Channel) flushForOthers() {
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

// flush sends what is marked now. What is marked while it is at it has a flush of
// its own: writers without end do not keep the loop from reading. Loop only.
func (ch *Channel) flush() {
	if !ch.started || ch.finished || ch.inFlush {
		return
	}
	if err := ch.send(); err != nil {
		// After the flush has returned, never inside it.
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
		settleAll(ch.out.completed())
		if err != nil {
			return err
		}
	}
	return nil
}

// sendNext gives the connection one piece, without the lock. Requires mu.
func (ch *Channel) sendNext(upTo int64) (int, error) {
	if err := ch.enter(); err != nil {
		return 0, err
	}
	defer ch.leave()
	piece := ch.out.next(upTo)
	ch.mu.Unlock()
	defer ch.mu.Lock()
	return ch.conn.write(piece)
}
