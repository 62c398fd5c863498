//go:build linux

package sockets

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"eventide/core"
	"eventide/props/lanes/sockets/kernel"
)

// knowsReceipt reports whether core can ask the kernel what the peer has received.
func (c *conn) knowsReceipt() bool { return c.spec.Kind != kindPlain && c.spec.Kind != kindPipe }

// isBlocked reports whether the executor of a channel of core/blocking is blocked in its
// connection, and so does nothing else.
func (c *conn) isBlocked(ours *kernel.End) bool {
	return c.r.group != nil && (ours.Blocked || c.handshaking.Load())
}

// executorIsBlocked reports whether the executor of a channel is blocked in any connection: it may
// serve another one by now.
func (c *conn) executorIsBlocked(ch channel, connections []kernel.Connection) bool {
	if c.r.group == nil {
		return false
	}
	for _, other := range c.r.conns {
		served := other.channel()
		if served == nil {
			if other.handshaking.Load() { // whose channel is not known yet
				return true
			}
			continue
		}
		if k, ours := other.find(connections); k != nil && served.EventLoop() == ch.EventLoop() && other.isBlocked(ours) {
			return true
		}
	}
	return false
}

// mayStayInactive reports whether the run has a reason why a channel of core/blocking did not
// become active.
func (c *conn) mayStayInactive() bool {
	return c.r.group != nil && (c.r.shutdown.Load() > 0 && c.first("CloseFuture") >= 0 && c.events[c.first("CloseFuture")].stamp > c.r.shutdown.Load() ||
		c.spec.Kind == kindTLS && c.spec.Handshake > 0 || c.spec.HandshakeFails || c.r.p.Options.CloseTimeout == 0 && slices.Contains(c.endCalls, "Close"))
}

// explainsBlocking does what explains does, for causes that only core/blocking has.
func (c *conn) explainsBlocking(cause error) bool {
	switch {
	case errors.Is(cause, errHandshake):
		return c.spec.HandshakeFails
	case errors.Is(cause, context.DeadlineExceeded):
		return c.spec.Kind == kindTLS && c.r.p.Options.Handshake > 0 && c.spec.Handshake >= c.r.p.Options.Handshake
	case errors.Is(cause, net.ErrClosed), errors.Is(cause, os.ErrDeadlineExceeded):
		return false
	case errors.Is(cause, io.ErrShortWrite):
		return c.odd.Load() && c.spec.Oddity == shortWrite
	case isOddPanic(cause):
		return c.odd.Load() && (c.spec.Oddity == panicRead || c.spec.Oddity == panicWrite)
	case errors.Is(cause, errOdd):
		return c.odd.Load() && c.spec.Oddity == failedRead
	case errors.Is(cause, timeoutError{}):
		return c.odd.Load() && c.spec.Oddity == ownDeadline
	}
	return c.odd.Load() && c.spec.Oddity == longRead && strings.Contains(cause.Error(), "returned")
}

// receivedAll reports whether core may, and whether it must, count the drain of the channel as
// complete: see the package comment of core/blocking. It may, but need not, if bytes can be in
// flight at the close; or if the connection cannot half-close, and the drain came before the peer's
// end was read, if only by a moment.
func (c *conn) receivedAll(k *kernel.Connection, ours *kernel.End) (may, must bool) {
	sent := c.ch.PendingBytes() == 0 && ours.EndRead
	received := ours.Taken == 0 || c.knowsReceipt() && ours.Taken == ours.Delivered || !c.knowsReceipt() && !ours.EndFirst && c.spec.Kind != kindPipe
	cause := c.ch.CloseCause()
	return sent && received, sent && received && !k.Reset && !c.r.timedOut && (cause == nil && c.spec.Kind != kindPipe || cause == io.EOF && ours.Taken == 0)
}

// judgeBlockingReport is judgeReport for core/blocking.
func (r *run) judgeBlockingReport(connections []kernel.Connection) {
	var counted, most, drained, mustDrain, least, discarded, failed int64
	leastAborts, mostAborts := 0, 0 // bounds of the aborts that are logged
	for _, c := range r.conns {
		k, ours := c.find(connections)
		at := c.first("CloseFuture")
		if k == nil || at < 0 {
			continue
		}
		if errors.Is(c.ch.CloseCause(), core.ErrHandlerFailed) {
			failed++
		}
		if c.events[at].stamp < r.shutdown.Load() {
			continue
		}
		pending := c.ch.PendingBytes()
		if c.closeCalled.Before(r.shutdownAt) && !c.closeCalled.IsZero() && (pending == 0 || c.ch.CloseCause() == nil) {
			continue // Close was first, and the shutdown has cut nothing of it
		}
		most++
		discarded += pending
		may, must := c.receivedAll(k, ours)
		if may {
			drained++
		}
		closes := c.closeStamp > 0 && c.closeStamp < r.refused // a later Close does not keep the channel from being counted
		if c.open && !closes {
			counted++
			least += pending
			if must && c.closeStamp == 0 { // a Close ends a drain
				mustDrain++
			}
		}
		if cause := c.ch.CloseCause(); !errors.Is(cause, core.ErrHandlerFailed) && (pending > 0 || errors.Is(cause, core.ErrShutdownTimeout)) {
			mostAborts++
			if c.open && !closes && !may {
				leastAborts++
			}
		}
	}
	for _, k := range connections { // channels that the run does not know: they never became active
		if k.Ends[1].Ours && k.Accepted && !slices.ContainsFunc(r.conns, func(c *conn) bool { known, _ := c.find(connections); return known != nil && known.Client == k.Client }) {
			most++
			drained++
			mostAborts++
		}
	}
	rep := r.reports
	if n := rep.ChannelsDrained + rep.ChannelsAborted; n < counted || n > most {
		r.violate("G23: the report counts %d channels (%d drained, %d aborted), want %d to %d", n, rep.ChannelsDrained, rep.ChannelsAborted, counted, most)
	}
	if rep.ChannelsDrained > drained || rep.ChannelsDrained < mustDrain {
		r.violate("G23: the report counts %d drained channels, want %d to %d", rep.ChannelsDrained, mustDrain, drained)
	}
	if rep.BytesDiscarded < least || rep.BytesDiscarded > discarded {
		r.violate("G23: the report counts %d discarded bytes, want %d to %d", rep.BytesDiscarded, least, discarded)
	}
	r.judgeLog(failed, leastAborts, mostAborts)
	r.judgeRefusedWrites(blockingRefused)
}

// judgeLog checks what was logged: each handler that failed, and aborted channels whenever their
// number has doubled.
func (r *run) judgeLog(failed int64, least, most int) {
	if n := r.logged.count(blockingFailed); n != int(failed) {
		r.violate("%d failed handlers are logged, want %d", n, failed)
	}
	lines := r.logged.count(blockingAborted)
	if lines < bits.Len(uint(least)) || lines > bits.Len(uint(most)) {
		r.violate("%d lines about aborted channels, and %d to %d were aborted with bytes or at the deadline", lines, least, most)
	}
}

// lacksFiles reports whether calls of accept can fail for a while.
func (r *run) lacksFiles() bool {
	return r.p.Kernel.Files > 0 || slices.ContainsFunc(r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpAccept && f.Errno != syscall.EINTR })
}
