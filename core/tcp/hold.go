package tcp

import (
	"fmt"
	"time"
)

// Hold keeps the channel open for an answer that is computed off the loop, until release
// is called. Call it before the request leaves the handler:
//
//	func (h *handler) Read(ch *tcp.Channel, p []byte) {
//		release, err := ch.Hold()
//		if err != nil {
//			return // the channel is closing, and the request was not accepted
//		}
//		request := bytes.Clone(p)
//		err = h.workers.Execute(func() {
//			defer release()
//			ch.WriteAndFlush(answer(request))
//		})
//		if err != nil { // refused: the function never runs
//			release()
//			ch.Close()
//		}
//	}
//
// While a channel is held, a close by CloseGracefully or by a graceful shutdown of the loop
// keeps the output open. As in any close, input is no longer delivered and IsOpen is
// false; but writes are accepted from every goroutine, and IsWritable and
// WritabilityChanged keep working. At the last release writes are refused again, the buffer
// is sent, and the close continues. The peer's end of the stream waits for the last release
// too; until then the channel is open, and accepts further holds. The deadline of the close is
// not extended: if it closes a held channel, core.Report counts and names the channel. Close,
// an error of the connection and CloseOutput do not wait for a release either; after them a
// hold has no effect. Handler.InputShutdown does not wait either, and holds stay.
//
// release may be called from any goroutine, at any time, also after the end of the channel,
// and more than once: only the first call has an effect. A hold that is never released
// delays a graceful close until its deadline.
//
// The error is that of a write, with one exception: a held channel accepts no further hold
// after its close has begun (ErrChannelClosing). For a Hold on the loop, the close begins
// when the loop begins it, so a handler can hold for each request that it gets in Read. For
// a Hold on another goroutine, the close begins with the call that closes the channel.
// release is never nil.
func (c *Channel) Hold() (release func(), err error) {
	inLoop := c.loop.InEventLoop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.closeRefusal(inLoop); err != nil {
		return func() {}, err
	}
	h := &hold{since: time.Now()}
	c.observe().holds.add(h)
	return func() { c.release(h) }, nil
}

// hold is one answer in flight. Guarded by Channel.mu.
type hold struct {
	prev, next *hold
	since      time.Time
	released   bool
}

// holds are the holds of a channel in the order in which they began. Guarded by Channel.mu.
type holds struct {
	first, last *hold
	count       int
	awaited     bool      // a close waits for the last release, or has waited for one
	ended       time.Time // the last release, on the clock of the loop; only with idle timeouts
}

func (l *holds) add(h *hold) {
	h.prev = l.last
	if l.last == nil {
		l.first = h
	} else {
		l.last.next = h
	}
	l.last = h
	l.count++
}

func (l *holds) remove(h *hold) {
	if h.prev == nil {
		l.first = h.next
	} else {
		h.prev.next = h.next
	}
	if h.next == nil {
		l.last = h.prev
	} else {
		h.next.prev = h.prev
	}
	h.prev, h.next = nil, nil
	l.count--
}

// release ends h.
func (c *Channel) release(h *hold) {
	c.mu.Lock()
	if h.released {
		c.mu.Unlock()
		return
	}
	h.released = true
	all := &c.observers.holds
	all.remove(h)
	awaited := all.awaited && all.count == 0
	if all.count == 0 && c.closing {
		c.writable.Store(false)
	}
	if all.count == 0 && c.cfg.hasIdleTimeouts() {
		all.ended = c.loop.Now()
	}
	c.mu.Unlock()
	if awaited {
		c.onLoop(c.lastReleased)
	}
}

// held reports whether a hold has an effect. It has none from the call of Close, which the loop may
// not have handled yet: else a flush would make the channel writable again, or tell the handler
// that it is not (R224). Requires mu.
func (c *Channel) held() bool {
	o := c.observers
	return o != nil && o.holds.count > 0 && o.close == nil && !c.noOutput && c.state <= stateDraining
}

// waitForRelease reports whether the channel is held. If so, lastReleased will be called:
// mu orders this call and every release. Requires mu; loop only.
func (c *Channel) waitForRelease() bool {
	held := c.held()
	if held {
		c.observers.holds.awaited = true
	}
	return held
}

// lastReleased continues the close that waited for the last release, unless another hold has
// begun. After the peer's end of the stream that is possible until the loop refuses holds: the
// tempting wrong version checks again only while the channel is open, and ends the output of a
// held channel if a graceful close began after that hold (G23). A further call has no
// effect once the close continues. Loop only.
func (c *Channel) lastReleased() {
	c.mu.Lock()
	held := c.waitForRelease()
	c.mu.Unlock()
	switch {
	case held || c.broken != nil: // a later release, or fail, closes the channel
	case c.state == stateDraining:
		c.endOutput()
	case c.state == stateOpen: // the peer has ended its side, and half closure is off
		c.endForEOF()
	}
}

// describeHold returns a name of the channel for core.Report and the begin of its oldest
// hold, if the channel is held. Requires mu.
func (c *Channel) describeHold() (name string, since time.Time) {
	if !c.held() {
		return "", time.Time{}
	}
	all := &c.observers.holds
	return fmt.Sprintf("tcp %v to %v, holds %d", c.local, c.remote, all.count), all.first.since
}
