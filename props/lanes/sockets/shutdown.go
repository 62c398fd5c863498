//go:build linux

package sockets

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"syscall"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/props/lanes/sockets/kernel"
)

// bounds are the least and the most that a count may be: a shutdown that begins at the same time as
// another event may come before or after it.
type bounds struct{ least, most int64 }

func (b *bounds) add(may, must bool) {
	if may {
		b.most++
	}
	if must {
		b.least++
	}
}

func (b bounds) contain(n int64) bool { return b.least <= n && n <= b.most }

// endsAfter reports whether the shutdown may have ended the channel, and whether it must have.
func (c *conn) endsAfter() (may, must bool) {
	closed := c.events[c.first("CloseFuture")].stamp
	may = closed > c.r.shutdown.Load()
	others := c.counts["Error"] > 0 || c.calledBefore("Close", closed) || c.calledBefore("Broadcast", closed) || c.closedByDial()
	return may, may && c.open && !others && !errors.Is(c.ch.CloseCause(), core.ErrHandlerFailed)
}

// mayBeBroken reports whether the loop may have known, when the channel closed, that the connection had
// failed: then the answer in flight was lost before, and a shutdown that comes before the call of Error does
// not count it.
func (c *conn) mayBeBroken() bool {
	return c.atClose.end.WasReset || c.r.failure(func(f kernel.Failure) bool {
		return (f.Op == kernel.OpRead || f.Op == kernel.OpSend) && f.Errno != 0 && f.Errno != syscall.EINTR
	})
}

// judgeChannelLog compares what the report and the log say of the channels that a shutdown has ended
// with these channels.
func (r *run) judgeChannelLog() {
	var failed, aborted, held bounds
	for _, c := range r.conns {
		if c.ch == nil || c.first("CloseFuture") < 0 {
			continue
		}
		cause, pending, at := c.ch.CloseCause(), c.ch.PendingBytes(), c.atClose
		byHandler := errors.Is(cause, core.ErrHandlerFailed)
		failed.add(byHandler, byHandler)
		may, must := c.endsAfter()
		loses := errors.Is(cause, core.ErrShutdownTimeout) || pending > 0
		cutsLinger := r.p.Options.linger() > 0 // CloseCause stays what it was
		aborted.add(may && !byHandler && (loses || cutsLinger || c.allHolds > 0), must && loses)
		inFlight := at != nil && at.held && cause != nil && len(c.endCalls) == 0 && !c.mayBeBroken()
		held.add(may && at != nil && (at.held || at.late), must && inFlight)
		if name := fmt.Sprintf("tcp %v to %v, holds ", c.ch.LocalAddr(), c.ch.RemoteAddr()); must && inFlight && !strings.Contains(r.reports.Held, name) {
			c.violate("the report does not name a channel that was held: %q, want a line with %q", r.reports.Held, name)
		}
	}
	if n := r.logged.count(failedHandler); !failed.contain(int64(n)) {
		r.violate("%d failed handlers are logged, want %d", n, failed.most)
	}
	// Each loop logs when the number of its channels has doubled.
	if n := r.logged.count(abortedChannel); n < bits.Len64(uint64(aborted.least)) || int64(n) > aborted.most {
		r.violate("%d lines about aborted channels, and %d to %d were aborted with bytes, with an answer in flight or at the deadline", n, aborted.least, aborted.most)
	}
	rep := r.reports
	lines := 0
	if rep.Held != "" {
		lines = 1 + strings.Count(rep.Held, "\n")
	}
	if !held.contain(rep.ChannelsHeld) || int64(lines) != rep.ChannelsHeld {
		r.violate("G23: the report counts %d held channels, and names %d, want %d to %d", rep.ChannelsHeld, lines, held.least, held.most)
	}
	r.judgeRefusedWrites(refusedLine)
}

// refusedLine is logged of writes that a shutdown has refused.
const refusedLine = "WARN tcp: a shutdown refused a write; an answer computed off the loop needs Hold or Quiesce"

// judgeRefusedWrites compares the number of writes that were refused because of the shutdown with the
// report, and with the lines that are logged for the first of them.
func (r *run) judgeRefusedWrites(line string) {
	if r.broadcastCount.Load() > 0 { // it does not say which channel has refused it
		return
	}
	var refused bounds
	for _, c := range r.conns {
		if c.ch != nil && c.first("CloseFuture") >= 0 {
			c.countRefused(&refused)
		}
	}
	rep := r.reports
	if !refused.contain(rep.WritesRefused) {
		r.violate("G23: the report counts %d refused writes, want %d to %d", rep.WritesRefused, refused.least, refused.most)
	}
	n := int64(r.logged.count(line))
	least, most := min(refused.least, 1), refused.most // each loop logs when the number of its writes has doubled
	if r.group != nil {                                // and here the group does
		least, most = int64(bits.Len64(uint64(rep.WritesRefused))), int64(bits.Len64(uint64(refused.most)))
	}
	if n > most || n < least {
		r.violate("%d lines about writes that a shutdown has refused, want %d to %d: the report counts %d, and there were %d to %d", n, least, most, rep.WritesRefused, refused.least, refused.most)
	}
}

// byShutdown reports whether a shutdown may be why core/blocking has refused a write: it is not if
// something else had closed the channel.
func byShutdown(refused error) bool {
	var closed *core.ClosedError
	if !errors.As(refused, &closed) {
		return refused == blocking.ErrChannelClosing
	}
	return errors.Is(refused, blocking.ErrChannelClosing) && (closed.Cause == nil || errors.Is(closed.Cause, core.ErrShutdown) || errors.Is(closed.Cause, core.ErrShutdownTimeout))
}

// countRefused counts the writes that were refused because of the shutdown.
func (c *conn) countRefused(n *bounds) {
	closed := c.events[c.first("CloseFuture")].stamp
	_, must := c.endsAfter()
	for _, w := range c.writes {
		if w.flush || w.refused == nil || w.returned < c.r.shutdown.Load() {
			continue
		}
		ends := len(c.endCalls) > 0
		n.add(c.r.group == nil || byShutdown(w.refused), must && !ends && w.began > c.r.refused && w.returned < closed && w.refused == c.r.sentinels().closing)
	}
}
