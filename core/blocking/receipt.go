package blocking

import (
	"time"

	"eventide/core"
)

// The delay between two checks of the peer's receipt doubles, within these bounds.
const (
	firstReceiptDelay = time.Millisecond
	mostReceiptDelay  = 16 * time.Millisecond
)

// receipt records how much the peer has received, as far as the channel knows. The peer's end of
// the stream alone shows nothing: a peer that has ended its side and does not read may
// reset the connection while an answer is in flight. If the kernel can report the receipt
// (connection.unreceived), the answer of the kernel decides. Otherwise the peer's end counts as
// receipt if it was read after this side had ended, because a peer answers one end with the
// other. Loop only.
type receipt struct {
	received bool          // the peer has received everything that the connection has taken
	answered bool          // the peer's end was read after this side's end was sent
	crossed  bool          // the peer's end was read before this side's end was sent, and handled after it
	next     alarm         // of the next check
	delay    time.Duration // before the next check
}

// checkReceipt finds out whether the peer has received everything by now. Its error is an
// error of the connection that no other call will return.
func (ch *Channel) checkReceipt() (known bool, err error) {
	n, known, err := ch.conn.unreceived()
	if known && err == nil && n == 0 {
		ch.receipt.received = true
	}
	return known, err
}

// awaitReceipt ends a drain after both sides have ended: at once if the peer has received
// everything, or if that cannot be known; otherwise when the peer has received everything, at
// the deadline of the close, or at a reset.
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

// endKind returns the kind of the end, for a channel that has sent everything and seen
// the peer's end. Requires mu.
func (ch *Channel) endKind() core.ChannelEndKind {
	if ch.receipt.received || ch.out.flushed == 0 {
		return core.EndDrained
	}
	return core.EndAborted
}
