//go:build linux

package sockets

import (
	"errors"
	"io"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// checkRoom checks, while every goroutine waits, how many bytes an open channel says are left until its
// writability changes.
func (c *conn) checkRoom(ch *tcp.Channel, pending int64) {
	o := c.r.p.Options
	room, excess := int64(o.High)-pending+1, int64(0)
	if !ch.IsWritable() {
		room, excess = 0, pending-int64(o.Low)+1
	}
	if r, e := ch.BytesBeforeUnwritable(), ch.BytesBeforeWritable(); r != room || e != excess {
		c.violate("BytesBeforeUnwritable is %d and BytesBeforeWritable %d, with %d bytes that wait and marks %d and %d: want %d and %d", r, e, pending, o.Low, o.High, room, excess)
	}
}

// checkDeadline checks that an open channel of core/tcp has no deadline that has passed: of
// CloseGracefully, or of the linger after a Close.
func (c *conn) checkDeadline() {
	if c.r.group != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := c.mostUntil(); !until.IsZero() && time.Now().After(until) {
		c.violateLocked("a deadline passed %v ago, and the channel is open", time.Since(until))
	}
}

// mostUntil returns when the channel must be closed, by the calls so far, or zero. Requires mu.
func (c *conn) mostUntil() time.Time {
	linger := c.r.p.Options.linger()
	switch {
	case linger <= 0:
		return c.closeBy
	case !c.closeCalled.IsZero():
		return c.closeCalled.Add(linger)
	}
	return time.Time{} // the end of the peer's stream may have begun a linger, to which no deadline applies
}

// judgeTimes checks when a channel has closed: not after its deadlines, and for a deadline exactly when
// the earliest passed. A connection that is woken late delays both.
func (c *conn) judgeTimes() {
	closed := c.r.start.Add(c.events[c.first("CloseFuture")].at)
	if until := c.mostUntil(); !until.IsZero() && closed.After(until.Add(c.lateness())) {
		c.violate("the channel has closed %v after its deadline", closed.Sub(until))
	}
	inTime := !closed.Before(c.closeBy) && !closed.After(c.closeBy.Add(c.lateness()))
	if errors.Is(c.ch.CloseCause(), core.ErrCloseDeadline) && !inTime && !c.closeLimitPassed(closed) {
		c.violate("the channel has closed with %v, %v after the earliest deadline", c.ch.CloseCause(), closed.Sub(c.closeBy))
	}
	if errors.Is(c.ch.CloseCause(), core.ErrShutdownTimeout) && closed.Before(c.r.shutdownAt.Add(milliseconds(max(c.r.p.End.Quiet, c.r.p.End.Timeout)))) {
		c.violate("the channel has closed with %v, %v after the shutdown call", c.ch.CloseCause(), closed.Sub(c.r.shutdownAt))
	}
	c.judgeCloseLimit(closed)
	c.judgeAlert()
	c.judgeLinger(closed)
	c.judgeAtClose()
	c.judgeQueries()
}

// The delay between two queries for acknowledgements doubles from 1 ms up to longestQueryDelay.
// Beside the four shorter delays there may be one before the end of a linger, and one before each call of
// another reason: the end of the peer's stream, Close during a drain.
const (
	longestQueryDelay = 16 * time.Millisecond
	mostShortDelays   = 4 + 4
)

// judgeQueries checks how often a channel of core/tcp has queried the kernel for acknowledgements.
func (c *conn) judgeQueries() {
	_, ours := c.find(c.r.k.Connections())
	if c.r.group != nil || ours == nil {
		return
	}
	short := 0
	for i, at := range ours.Queries[min(1, len(ours.Queries)):] {
		if at.Sub(ours.Queries[i]) < longestQueryDelay {
			short++
		}
	}
	if short > mostShortDelays {
		c.violate("the channel has queried for acknowledgements after %d delays shorter than %v, want %d at most", short, longestQueryDelay, mostShortDelays)
	}
}

// judgeLinger checks that the socket of a channel that lingers after a Close stays open until the peer
// has received everything, or the connection or the time has ended.
func (c *conn) judgeLinger(closed time.Time) {
	linger := c.r.p.Options.linger()
	at := c.atClose
	if linger <= 0 || at == nil || c.ch.CloseCause() != nil || c.closeCalled.IsZero() || at.reset || c.r.failure(func(f kernel.Failure) bool {
		return f.Op == kernel.OpShutdown || f.Op == kernel.OpWait && f.Errno == errRebuilds
	}) {
		return
	}
	if end := c.events[c.first("CloseFuture")].stamp; c.closeStamp > end || c.calledBefore("Broadcast", end) || c.closedByDial() { // which may have closed it before
		return
	}
	shutdown := c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < c.events[c.first("CloseFuture")].stamp
	complete := at.end.Ended && at.end.Taken == at.end.Delivered
	if !complete && !shutdown && closed.Before(c.closeCalled.Add(linger)) {
		c.violate("the channel has closed %v after Close, and lingers for %v; the peer has %d of %d bytes, and our end: %v", closed.Sub(c.closeCalled), linger, at.end.Delivered, at.end.Taken, at.end.Ended)
	}
}

// judgeAtClose checks that a graceful close has ended the channel only when the peer had received
// everything, and not while the channel was held.
func (c *conn) judgeAtClose() {
	at, cause, drained := c.atClose, c.ch.CloseCause(), c.drained()
	if at == nil {
		return
	}
	if drained && (at.end.Taken != at.end.Delivered || !at.end.Ended || !at.end.PeerEnded) {
		c.violate("G23: CloseGracefully has succeeded; at the close the peer had %d of %d bytes, and our end: %v; its end was seen: %v", at.end.Delivered, at.end.Taken, at.end.Ended, at.end.PeerEnded)
	}
	if !at.held || c.holdEnds(c.events[c.first("CloseFuture")].stamp) {
		return
	}
	byDrain := errors.Is(cause, core.ErrShutdown) && !c.r.p.End.Now && !c.r.p.Aborts
	if drained || cause == io.EOF || byDrain {
		c.violate("G23: the channel was held, and has closed with %v", cause)
	}
}
