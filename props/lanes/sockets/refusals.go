//go:build linux

package sockets

import (
	"errors"
	"slices"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/tcp"
)

// sentinels are the errors of refused writes that each of the two packages has.
type sentinels struct{ closed, closing error }

func (r *run) sentinels() sentinels {
	if r.group != nil {
		return sentinels{blocking.ErrChannelClosed, blocking.ErrChannelClosing}
	}
	return sentinels{tcp.ErrChannelClosed, tcp.ErrChannelClosing}
}

// judgeRefusals checks which writes of a channel were refused, and with which error.
func (c *conn) judgeRefusals() {
	for _, w := range c.writes {
		if w.returned == 0 {
			continue
		}
		if w.refused == nil {
			if what := c.refuser(w); what != "" {
				c.violate("write %d was accepted after %s had returned", w.id, what)
			}
			continue
		}
		if !c.explainsRefusal(w.refused, w.returned) {
			c.violate("write %d was refused with %v, and nothing in the run explains that", w.id, w.refused)
		}
		c.judgeRefusedClosing(w)
		if at := c.first("CloseFuture"); at >= 0 && c.events[at].stamp < w.began && !isClosedError(w.refused) {
			c.violate("write %d was refused with %v after the close, want a *ClosedError", w.id, w.refused)
		}
		failed := c.counts["Error"] > 0 || c.r.handlerFailed.Load() // which the loop knows before the handler
		if w.refused == tcp.ErrChannelClosing && c.heldDuring(w) && !(w.inLoop && failed) && !c.holdEnds(w.returned) {
			c.violate("write %d was refused with %v while the channel was held", w.id, w.refused)
		}
	}
	for _, hold := range c.refusedHolds {
		if !c.explainsRefusal(hold.err, hold.stamp) {
			c.violate("a hold was refused with %v, and nothing in the run explains that", hold.err)
		}
	}
}

// holdEnds reports whether a call has ended the effect of holds before a moment.
func (c *conn) holdEnds(stamp int64) bool {
	return c.calledBefore("CloseOutput", stamp) || c.calledBefore("Close", stamp) || c.calledBefore("Broadcast", stamp)
}

// heldDuring reports whether the channel was held during the whole of a write.
func (c *conn) heldDuring(w *write) bool {
	return slices.ContainsFunc(c.spans, func(s holdSpan) bool { return s.from < w.began && (s.to == 0 || s.to > w.returned) })
}

// judgeRefusedClosing checks whether the error of a write that was refused by a channel of core/tcp
// which has closed says that a graceful close or a shutdown had begun.
func (c *conn) judgeRefusedClosing(w *write) {
	if c.r.group != nil || !isClosedError(w.refused) {
		return
	}
	closed := c.events[c.first("CloseFuture")].at
	_, ours := c.find(c.r.k.Connections())
	begun := c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < w.returned || c.calledBefore("CloseGracefully", w.returned) || ours != nil && ours.PeerEnded
	returned := c.r.refused > 0 && c.r.refused < w.began
	for _, call := range c.endReturns {
		returned = returned || call.what == "CloseGracefully" && call.stamp < w.began && call.at < closed
	}
	switch closing := errors.Is(w.refused, tcp.ErrChannelClosing); {
	case closing && !begun:
		c.violate("write %d was refused with %v, which says that the channel was closing, and no graceful close had begun", w.id, w.refused)
	case !closing && returned:
		c.violate("write %d was refused with %v, which does not say that the channel was closing, and a graceful close had begun", w.id, w.refused)
	}
}

// isClosedError reports whether an error is a *ClosedError.
func isClosedError(err error) bool {
	var closed *core.ClosedError
	return errors.As(err, &closed)
}

// refuser returns the call that should have refused a write: it had returned when the write began.
// A write on the loop is refused when the loop has begun the close, and a held channel accepts writes
// until its output is shut down.
func (c *conn) refuser(w *write) string {
	for _, call := range c.endReturns {
		if call.stamp > w.began {
			continue
		}
		switch call.what {
		case "CloseOutput":
			return call.what
		case "CloseGracefully": // of core/blocking, it refuses those of the loop after the running body
			if c.allHolds == 0 && (call.inLoop && c.r.group == nil || !w.inLoop) {
				return call.what
			}
		case "Close":
			if call.inLoop && w.inLoop || c.r.group != nil && !w.inLoop {
				return call.what
			}
		}
	}
	if at := c.first("CloseFuture"); at >= 0 && c.events[at].stamp < w.began {
		return "the close"
	}
	if !w.inLoop && c.allHolds == 0 && c.r.refused > 0 && c.r.refused < w.began {
		return "the shutdown"
	}
	return ""
}

// calledBefore reports whether a call has begun before a stamp.
func (c *conn) calledBefore(what string, stamp int64) bool {
	return slices.ContainsFunc(c.endBegins, func(call endCall) bool { return call.what == what && call.stamp < stamp })
}

// explainsRefusal reports whether the run had a reason to refuse a write or a hold with an error
// before a stamp.
func (c *conn) explainsRefusal(err error, before int64) bool {
	called := func(what string) bool { return c.calledBefore(what, before) }
	shutdown := c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < before
	k, ours := c.find(c.r.k.Connections())
	ended := ours != nil && ours.PeerEnded && (c.r.group == nil || !c.r.p.Options.HalfClosure)
	closes := shutdown || ended || called("CloseGracefully")
	var after *core.ClosedError
	switch {
	case errors.As(err, &after):
		failed := c.counts["Error"] > 0 || c.r.handlerFailed.Load() || len(c.r.p.Kernel.Faults) > 0 || k != nil && k.Reset
		return closes || failed || called("Close") || called("Broadcast") || c.closedByDial()
	case err == tcp.ErrOutputShutdown:
		return called("CloseOutput")
	case err == c.r.sentinels().closing:
		return closes
	case err == c.r.sentinels().closed: // of core/blocking: Close has begun, and the executor has not closed the connection yet
		return c.r.group != nil && called("Close")
	}
	return false
}

// holdSpan is the time between the return of Hold and the call of release, or 0, by their stamps and by the clock.
type holdSpan struct {
	from, to   int64
	begin, end time.Time
}

// refusedHold is a call of Hold that has returned an error, before a stamp.
type refusedHold struct {
	err   error
	stamp int64
}
