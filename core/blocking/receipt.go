package blocking

import (
	"time"

	"eventide/core"
)

// The delay between two checks of what the peer has received.
const (
	firstReceiptDelay = time.Millisecond
	mostReceiptDelay  = 16 * time.Millisecond
)

// receipt is what the channel knows about what the peer has received. The peer's end of
// the stream alone says nothing: a peer that has ended its side and does not read may
// reset the connection while an answer is still on the way. Where the connection can be
// asked (connection.unreceived), its answer counts. Otherwise an end that was read after
// this side had ended counts, because a peer answers one end with the other. Loop only.
type receipt struct {
	received bool          // the peer has received everything that the connection has taken
	answered bool          // the peer's end was read after this side's end was sent
	next     alarm         // of the next check
	delay    time.Duration // before the next check
}

// checkReceipt finds out whether the peer has received everything by now. An error is an
// error of the connection, which no other call will return.
func (ch *Channel) checkReceipt() (known bool, err error) {
	n, known, err := ch.conn.unreceived()
	if known && err == nil && n == 0 {
		ch.receipt.received = true
	}
	return known, err
}

// bothEnded ends a drain when both sides have ended: at once if the peer has received
// everything, or if the connection cannot be asked; otherwise when the peer has. The
// deadline of the close, or a reset, ends that wait.
func (ch *Channel) bothEnded() {
	_ = ch.reg.Modify(0) // no more reads: each would return the end again
	ch.awaitReceipt()
}

func (ch *Channel) awaitReceipt() {
	r := &ch.receipt
	if ch.finished {
		return
	}
	if r.received {
		ch.finishClean()
		return
	}
	known, err := ch.checkReceipt()
	switch {
	case err != nil:
		ch.fail(err)
	case !known:
		r.received = r.answered
		ch.finishClean()
	case r.received:
		ch.finishClean()
	default:
		r.delay = min(max(2*r.delay, firstReceiptDelay), mostReceiptDelay)
		r.next.end() // it has fired
		r.next = whenPassed(r.delay, func() { ch.post(ch.awaitReceipt) })
	}
}

// endKind returns how a channel has ended that has sent everything and seen the peer's
// end. Requires mu.
func (ch *Channel) endKind() core.ChannelEndKind {
	if ch.receipt.received || ch.out.flushed == 0 {
		return core.EndDrained
	}
	return core.EndAborted
}
