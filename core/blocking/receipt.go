package blocking

import (
	"time"

	"eventide/core"
)

// Between two looks at what the peer has received.
const (
	firstReceiptDelay = time.Millisecond
	mostReceiptDelay  = 16 * time.Millisecond
)

// receipt is what the channel knows about the peer having received what was sent.
// The peer's end of the stream alone says nothing: who has ended its side, and does
// not read, may reset the connection under an answer that is still with us. Where
// the connection can be asked (connection.unreceived), its answer counts; where not,
// an end that was read after we had ended our side, as peers answer one with the
// other. Loop only.
type receipt struct {
	received bool          // everything that the connection has taken
	answered bool          // the peer's end was read after ours was sent
	look     alarm         // the next one
	delay    time.Duration // before it
}

// checkReceipt finds out whether the peer has received everything by now. An error is
// one of the connection, which nobody else will hear of.
func (ch *Channel) checkReceipt() (known bool, err error) {
	n, known, err := ch.conn.unreceived()
	if known && err == nil && n == 0 {
		ch.receipt.received = true
	}
	return known, err
}

// bothEnded is the end of a drain when both sides have ended: at once if the peer has
// received everything, or if nobody can tell; else when it has. The deadline of the
// close, and a reset, end the wait for that.
func (ch *Channel) bothEnded() {
	_ = ch.reg.Modify(0) // no more reads: the end would be read for ever
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
		r.look.end() // it has run
		r.look = whenPassed(r.delay, func() { ch.post(ch.awaitReceipt) })
	}
}

// endKind is how a channel has ended that has sent everything and seen the peer's
// end. Requires mu.
func (ch *Channel) endKind() core.ChannelEndKind {
	if ch.receipt.received || ch.out.flushed == 0 {
		return core.EndDrained
	}
	return core.EndAborted
}
