//go:build linux

package sockets

import (
	"slices"
	"time"

	"eventide/props/lanes/sockets/kernel"
)

// checkSettled checks what must hold while every goroutine waits: the loops have handled all
// readiness, and nothing that can proceed is left undone (G12).
func (r *run) checkSettled() {
	if r.group != nil {
		untilBlocked()
		if slices.ContainsFunc(r.conns, func(c *conn) bool { return c.waking.Load() > 0 }) {
			return // a call of a program waits until the waker is done
		}
	}
	connections := r.k.Connections()
	r.checkListener()
	if r.group != nil {
		r.checkGroup(connections)
	}
	dials := 0
	for _, c := range r.conns {
		dials += c.checkDial()
	}
	if r.group == nil {
		r.checkRegistrations(dials)
		r.checkLists()
		r.checkAccepted(connections)
		r.checkTimers()
	}
	for _, c := range r.conns {
		ch := c.channel()
		if ch == nil {
			continue
		}
		if k, ours := c.find(connections); k != nil {
			c.checkSettled(ch, k, ours, c.executorIsBlocked(ch, connections))
		}
	}
}

func (c *conn) checkSettled(ch channel, k *kernel.Connection, ours *kernel.End, blocked bool) {
	c.mu.Lock()
	paused, unflushed, notifiedWritable, calls := c.paused || c.r.quiesced.Load() > 0, c.unflushed, c.notifiedWritable, len(c.endCalls)
	closed, gone := c.counts["CloseFuture"] > 0, c.counts["Unregistered"] > 0
	broken, overdue := c.counts["Error"] > 0, c.overdue()
	peak := c.peak
	if !blocked {
		c.checkCompleted()
	}
	incomplete := 0
	for _, w := range c.writes {
		if w.done == 0 && w.returned > 0 {
			incomplete++
		}
	}
	c.mu.Unlock()
	switch {
	case closed != ours.Closed:
		c.violate("G12: CloseFuture has completed: %v, the socket is closed: %v, and every goroutine waits", closed, ours.Closed)
	case closed != gone && (c.r.group == nil || c.happened("Active")):
		c.violate("G12: the channel is closed, every goroutine waits, and Unregistered was not called")
	case closed && incomplete > 0 && !blocked:
		c.violate("G22: the channel is closed, and %d writes have not completed", incomplete)
	}
	if !closed {
		c.checkCloses(ch, k.Other(ours), ours)
	}
	if overdue > 0 && !blocked {
		c.violate("G12: %d tasks and timers of the executor have not run, and every goroutine waits", overdue)
	}
	if !closed {
		c.checkDeadline()
	}
	if closed || broken || c.handshaking.Load() || ours.Blocked && !ours.Roomy || c.r.p.Options.linger() > 0 && (calls > 0 || ours.PeerEnded) { // a channel that lingers is not watched
		return
	}
	if ours.Failed && (c.r.group == nil || !ours.EndRead) { // core/blocking does not read after the end of the stream
		c.violate("G12: the connection has failed, every goroutine waits, and the channel is open")
	}
	if pending := ch.PendingBytes(); pending > 0 && !unflushed && ours.Roomy && ours.Live {
		c.violate("G12: %d bytes wait to be sent, there is room, and every goroutine waits", pending)
	}
	if ours.Waiting > 0 && !paused {
		c.violate("G12: %d bytes wait to be read, and every goroutine waits", ours.Waiting)
	}
	if ours.PeerEnded && ours.Waiting == 0 && !ours.EndRead && !paused {
		c.violate("G12: the end of the stream waits to be read, and every goroutine waits")
	}
	if ch.PendingBytes() == 0 && incomplete > 0 {
		c.violate("G22: all bytes are sent, and %d writes have not completed", incomplete)
	}
	over := ofTCP(ch)
	if over == nil {
		if !blocked {
			c.checkBlockingOpen(ch, ours, calls)
		}
		return
	}
	c.look(over)
	if !ch.IsOpen() {
		c.checkReleased(over)
		if calls == 0 && !ours.EndRead {
			c.violate("IsOpen is false, and nothing has ended the channel")
		}
		return
	}
	pending, o := ch.PendingBytes(), c.r.p.Options
	switch writable := over.IsWritable(); {
	case writable != notifiedWritable:
		c.violate("writability: the channel is writable: %v, at the last call of the handler it was %v, %d bytes wait, and every goroutine waits", writable, notifiedWritable, pending)
	case writable && pending > int64(o.High), !writable && pending < int64(o.Low):
		c.violate("writability: %v with %d bytes that wait, marks %d and %d", writable, pending, o.Low, o.High)
	case !writable && peak <= int64(o.High):
		c.violate("writability: false, and never more than %d bytes may have waited, with a high mark of %d", peak, o.High)
	}
	c.checkRoom(over, pending)
	c.checkIdle(ours)
}

// mostCompletion is how long a channel may take to close after it has nothing left to do: it
// asks the kernel for acknowledgements from time to time.
const mostCompletion = 25 * time.Millisecond

// checkCloses checks that an open channel has a reason to be open. other is the peer's end.
func (c *conn) checkCloses(ch channel, other, ours *kernel.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.r.p.Options
	if o.linger() > 0 {
		return
	}
	called := func(what string) bool { return slices.Contains(c.endCalls, what) }
	if called("Close") && (!c.isBlocked(ours) || time.Since(c.closeCalled) > c.r.closeTimeout()) {
		c.violateLocked("Close was called, every goroutine waits, and the channel is open")
	}
	if c.r.group != nil && !c.closeBy.IsZero() && time.Now().After(c.closeBy) {
		c.violateLocked("a deadline of CloseGracefully passed %v ago, and the channel is open", time.Since(c.closeBy))
	}
	ends := called("CloseGracefully") || ours.EndRead && (!o.HalfClosure || called("CloseOutput"))
	sent := ch.PendingBytes() == 0 && ours.Taken == ours.Delivered && other.Waiting == 0
	switch {
	case !ends || !sent || !ours.PeerEnded || c.holds > 0:
		c.complete = time.Time{}
	case c.complete.IsZero():
		c.complete = time.Now()
	case time.Since(c.complete) > mostCompletion:
		c.violateLocked("the peer has ended its side and has all bytes, the channel ends, and after %v it is open", time.Since(c.complete))
	}
	if called("CloseOutput") && ch.PendingBytes() == 0 && !ours.FinSent {
		c.violateLocked("CloseOutput was called, no byte is pending, and the output is not shut down")
	}
}
