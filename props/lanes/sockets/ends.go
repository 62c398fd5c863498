//go:build linux

package sockets

import (
	"errors"
	"io"
	"maps"
	"math"

	"slices"
	"syscall"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// drained reports whether CloseGracefully has succeeded, and the graceful close has ended the channel. The end of the
// peer's stream may have been closing the channel when the call came; success then says only that this close lost no
// bytes. Such a channel lingers, or nothing was left to send, and it closes without a shutdown of its output.
func (c *conn) drained() bool {
	atOnce := c.atClose != nil && c.atClose.end.ShutDowns == 0
	byPeer := c.ch.CloseCause() == io.EOF && (atOnce || c.r.p.Options.linger() > 0)
	return c.counts["drained"] > 0 && !byPeer
}

// judgeEnd checks the promises of an end: no byte is lost by a graceful close that succeeds (G23),
// the socket is closed (G24), and the cause of the close occurred.
func (c *conn) judgeEnd(k *kernel.Connection, ours *kernel.End) {
	complete := ours.Taken == ours.Delivered && c.ch.PendingBytes() == 0
	if c.r.group != nil && !c.knowsReceipt() {
		complete = c.ch.PendingBytes() == 0
	} else if c.drained() && (!complete || !ours.Ended && c.r.group == nil || !ours.PeerEnded) {
		c.violate("G23: CloseGracefully succeeded; pending %d, taken %d, delivered %d, our end acknowledged %v, the peer's end seen %v",
			c.ch.PendingBytes(), ours.Taken, ours.Delivered, ours.Ended, ours.PeerEnded)
	}
	if (c.counts["complete"] > 0 || c.counts["drained"] > 0) && !complete {
		c.violate("G23: CloseGracefully succeeded after the close; pending %d, taken %d, delivered %d", c.ch.PendingBytes(), ours.Taken, ours.Delivered)
	}
	if c.counts["output ended"] > 0 && c.ch.PendingBytes() != 0 {
		c.violate("CloseOutput succeeded, and %d bytes are pending", c.ch.PendingBytes())
	}
	if !ours.Closed {
		c.violate("G24: the socket is open after the end")
	}
	// A reset would discard the bytes that the peer has not read.
	cause := c.ch.CloseCause()
	if k.Reset && c.drained() && (c.r.group == nil || c.knowsReceipt() && ours.Ended) { // core/blocking does not wait for the receipt of its end
		c.violate("G23: CloseGracefully succeeded, and the connection was reset")
	}
	if cause == io.EOF && c.ch.PendingBytes() != 0 {
		c.violate("the end of the peer's stream has closed the channel, and %d accepted bytes are discarded", c.ch.PendingBytes())
	}
	if !c.explains(cause, k, ours) {
		c.violate("the channel has closed with %v, and nothing in the run explains that", cause)
	}
	if c.r.group == nil && !c.spec.Embedded && c.r.p.Options.Linger == 0 && !k.Reset && (ours.ShutDowns == 0 || !ours.PeerEnded) {
		c.violate("the channel has WithLinger(0), and its close has not reset the connection")
	}
	c.judgeShutdownCall(ours)
	for _, w := range c.writes {
		var closed *core.ClosedError
		if w.refused == nil && errors.As(w.err, &closed) && closed.Cause != cause {
			c.violate("write %d failed with the cause %v, and that of the close is %v", w.id, closed.Cause, cause)
		}
	}
	if c.r.group == nil {
		c.judgeOptions(ours)
	} else if c.spec.Lingers && ours.Linger != -1 && c.spec.Kind != kindPlain && c.spec.Kind != kindPipe {
		c.violate("SO_LINGER is %d, want -1: a close could block", ours.Linger)
	}
}

// judgeShutdownCall checks that a channel of core/tcp does not end its output on its own, unless it
// lingers, if nothing but the end of the peer's stream has ended it and no write was made: its socket
// is closed, and with WithLinger(0) reset.
func (c *conn) judgeShutdownCall(ours *kernel.End) {
	if c.r.group != nil || c.r.p.Options.linger() > 0 || c.ch.CloseCause() != io.EOF || len(c.endCalls)+len(c.writes) > 0 || c.r.broadcastCount.Load() > 0 {
		return
	}
	if at := c.r.shutdown.Load(); at > 0 && at < c.events[c.first("CloseFuture")].stamp || c.r.p.Options.HalfClosure {
		return
	}
	if ours.ShutDowns > 0 {
		c.violate("the end of the peer's stream has closed the channel, which has written nothing, and its output was shut down")
	}
}

// explains reports whether the run had a reason to close the channel with a cause.
func (c *conn) explains(cause error, k *kernel.Connection, ours *kernel.End) bool {
	called := func(what string) bool { return slices.Contains(c.endCalls, what) }
	shutdown := c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < c.events[c.first("CloseFuture")].stamp
	var idle *tcp.IdleError
	var errno syscall.Errno
	switch {
	case cause == nil:
		return called("Close") || called("CloseGracefully") || called("Broadcast") || c.closedByDial() || c.r.group != nil && shutdown // a drain
	case cause == io.EOF:
		return ours.EndRead
	case errors.Is(cause, core.ErrHandlerFailed):
		return c.r.handlerFailed.Load() // by a broadcast, the handler of one channel may run inside that of another
	case errors.Is(cause, core.ErrCloseDeadline):
		return called("CloseGracefully") || c.r.group != nil && called("Close")
	case errors.As(cause, &idle):
		return c.r.p.Options.Idle[idle.Kind] > 0 && !c.r.p.Options.IdleHandler && c.counts["Error"] == 1
	case c.r.group != nil && c.explainsBlocking(cause):
		return true
	case errors.As(cause, &errno):
		return k.Reset || c.r.failure(func(f kernel.Failure) bool { return f.Errno == errno })
	}
	return shutdown && (errors.Is(cause, core.ErrShutdown) || errors.Is(cause, core.ErrShutdownTimeout))
}

// judgeOptions checks the options that the kernel got for the socket of a channel.
func (c *conn) judgeOptions(ours *kernel.End) {
	o := c.r.p.Options
	if c.spec.Embedded || c.r.failure(func(f kernel.Failure) bool { return f.Op == kernel.OpOption }) { // the connection works without
		return
	}
	if o.Recv > 0 && ours.ReceiveBuffer != o.Recv || o.Send > 0 && ours.SendBuffer != o.Send {
		c.violate("the buffers of the socket are %d and %d, want %d and %d where not 0", ours.ReceiveBuffer, ours.SendBuffer, o.Recv, o.Send)
	}
	want := map[[2]int]int{}
	if !o.Delay {
		want[[2]int{unix.IPPROTO_TCP, unix.TCP_NODELAY}] = 1
	}
	period := tcp.DefaultKeepAlive
	if o.KeepAlive >= 0 {
		period = milliseconds(o.KeepAlive)
	}
	if period > 0 {
		seconds := int(math.Ceil(period.Seconds()))
		want[[2]int{unix.SOL_SOCKET, unix.SO_KEEPALIVE}] = 1
		want[[2]int{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}] = seconds
		want[[2]int{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}] = seconds
	}
	if !maps.Equal(want, ours.Options) {
		c.violate("the options of the socket are %v, want %v, by level and name", ours.Options, want)
	}
}

// atOnceAtTheEnd reports whether the channel may have closed at the end of the peer's stream while
// bytes were on the way. Such a close does not wait, so it does not count as drained, even if the
// peer has received the bytes since. It ends a channel before the loop begins to drain it.
func (c *conn) atOnceAtTheEnd(ours *kernel.End, k *kernel.Connection) bool {
	peer := &k.Ends[0]
	if peer == ours {
		peer = &k.Ends[1]
	}
	onTheWay := c.r.p.Kernel.Latency > 0 || ours.Taken > int64(peer.ReceiveBuffer)
	return onTheWay && errors.Is(c.ch.CloseCause(), io.EOF)
}

// judgeReport compares the report of the shutdown with the ends of the channels.
func (r *run) judgeReport(connections []kernel.Connection) {
	var atLeast, atMost, drained, mustDrain, discardedLeast, discardedMost int64
	for _, c := range r.conns {
		k, ours := c.find(connections)
		at := c.first("CloseFuture")
		if k == nil || at < 0 || c.events[at].stamp < r.shutdown.Load() {
			continue
		}
		if !c.closeCalled.IsZero() && c.closeCalled.Before(r.shutdownAt) && !r.timedOut && !r.p.End.Now && !r.p.Aborts {
			continue // the shutdown has not ended it, also if it lingered meanwhile
		}
		atMost++
		pending := c.ch.PendingBytes()
		discardedMost += pending
		// The end of the stream may wait behind bytes that the peer never reads. Unless the close is a
		// reset, the kernel still sends it afterwards, and nothing is lost.
		flushed := pending == 0 && c.atClose != nil && c.atClose.end.Taken == c.atClose.end.Delivered && c.atClose.end.PeerEnded && (ours.Ended || ours.FinSent && r.p.Options.Linger != 0)
		clean := flushed && ours.Ended
		if flushed {
			drained++
		}
		closed := slices.Contains(c.endCalls, "Close") || slices.Contains(c.endCalls, "Broadcast") || c.closedByDial() // a broadcast closes unwritable channels
		if c.open && !closed {
			atLeast++
			discardedLeast += pending
			others := slices.ContainsFunc(c.endCalls, func(s string) bool { return s != "CloseGracefully" && s != "CloseOutput" })
			lingers := r.p.Options.linger() > 0 // the wait for acknowledgements after the end of the peer's stream is not part of a drain
			if clean && !k.Reset && !others && !lingers && !c.atOnceAtTheEnd(ours, k) && !r.timedOut && !r.p.End.Now && !r.p.Aborts && c.counts["Error"] == 0 && !errors.Is(c.ch.CloseCause(), core.ErrCloseDeadline) {
				mustDrain++
			}
		}
	}
	rep := r.reports
	if n := rep.ChannelsDrained + rep.ChannelsAborted; n < atLeast || n > atMost {
		r.violate("G23: the report counts %d channels (%d drained, %d aborted), want %d to %d", n, rep.ChannelsDrained, rep.ChannelsAborted, atLeast, atMost)
	}
	if rep.ChannelsDrained > drained || rep.ChannelsDrained < mustDrain {
		r.violate("G23: the report counts %d drained channels, want %d to %d", rep.ChannelsDrained, mustDrain, drained)
	}
	if rep.BytesDiscarded < discardedLeast || rep.BytesDiscarded > discardedMost {
		r.violate("G23: the report counts %d discarded bytes, want %d to %d", rep.BytesDiscarded, discardedLeast, discardedMost)
	}
}
