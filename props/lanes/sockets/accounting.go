//go:build linux

package sockets

import (
	"errors"
	"slices"

	"eventide/core"
	"eventide/props/lanes/sockets/kernel"
)

// judgeOutput accounts for each byte of each write: either the kernel took the byte, or the
// future of the write says that the kernel did not take it. ours is core's end of the connection.
func (c *conn) judgeOutput(ours *kernel.End) {
	pending := c.ch.PendingBytes()
	placed := map[byte]int{} // bytes in the stream, by write
	var order []*write
	for at := 0; at < len(ours.Stream); {
		id := ours.Stream[at]
		n := 0
		if id < firstBroadcast {
			if int(id) >= len(c.writes) || c.writes[id].flush || c.writes[id].n == 0 {
				c.violate("accounting: byte %d of the output belongs to no write: a write %d has no bytes", at, id)
				return
			}
			n = c.writes[id].n
			order = append(order, c.writes[id])
		} else {
			n = c.broadcastSize(ours.Stream[at:], id)
		}
		if _, twice := placed[id]; twice {
			c.violate("accounting: write %d is sent twice, or bytes of another are in its place, at %d", id, at)
			return
		}
		n = min(n, len(ours.Stream)-at)
		for i, want := range payload(id, n) {
			if ours.Stream[at+i] != want {
				c.violate("accounting: byte %d of write %d is %d, want %d", i, id, ours.Stream[at+i], want)
				return
			}
		}
		placed[id] = n
		at += n
	}
	c.judgeFlushes(placed)
	accepted, uncertain := int64(0), c.uncertain
	for _, w := range c.writes {
		sent := placed[w.id]
		if w.returned == 0 {
			uncertain += int64(w.n)
			continue
		}
		switch {
		case w.refused != nil && sent > 0 && !w.uncertain:
			c.violate("accounting: write %d failed at once with %v, and %d bytes of it were sent", w.id, w.refused, sent)
		case w.refused != nil:
			c.judgeRefusal(w)
		case w.flush:
		case w.result != sent:
			c.violate("accounting: the future of write %d says that %d of its %d bytes were sent, and the kernel took %d", w.id, w.result, w.n, sent)
		case (w.err == nil) != (sent == w.n) && w.n > 0:
			c.violate("accounting: the kernel took %d of the %d bytes of write %d, and its error is %v", sent, w.n, w.id, w.err)
		}
		if w.refused == nil {
			accepted += int64(w.n)
		}
		if w.err != nil && w.refused == nil && !errors.Is(w.err, core.ErrChannelClosed) {
			c.violate("write %d, which was accepted, failed with %v, want a *ClosedError", w.id, w.err)
		}
	}
	if n := ours.Taken + pending; n < accepted || n > accepted+uncertain {
		c.violate("accounting: %d bytes were accepted, and %d more may have been; the kernel took %d, and %d are pending at the end", accepted, uncertain, ours.Taken, pending)
	}
	for i, w := range order {
		for _, other := range order[i+1:] {
			if other.returned > 0 && other.returned < w.began {
				c.violate("accounting: write %d is sent before write %d, which was made before", w.id, other.id)
				return
			}
		}
	}
}

// broadcastSize returns how many bytes of a broadcast are at the beginning of stream: all of
// them, or fewer if the close has cut the broadcast.
func (c *conn) broadcastSize(stream []byte, id byte) int {
	n, size := 0, int(c.r.broadcastSizes[id-firstBroadcast].Load())
	for n < min(size, len(stream)) && stream[n] == id+byte(n*13+n>>8) {
		n++
	}
	return n
}

// judgeRefusal checks that a refused write had a reason: an error, a close, a shutdown, or a call
// after which writes are refused.
func (c *conn) judgeRefusal(w *write) {
	reasons := len(c.endCalls) > 0 || c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < w.returned
	for _, e := range c.events {
		reasons = reasons || e.name == "Error" || e.name == "CloseFuture" && e.stamp < w.returned
	}
	k, ours := c.find(c.r.k.Connections())
	if k != nil && !reasons && !ours.PeerEnded && !k.Reset {
		c.violate("write %d was refused with %v, and nothing has ended the channel", w.id, w.refused)
	}
}

// judgeInput accounts for the bytes of the peer.
func (c *conn) judgeInput(k *kernel.Connection, ours *kernel.End) {
	other := k.Other(ours)
	drains := c.r.shutdown.Load() > 0 && c.events[c.first("CloseFuture")].stamp > c.r.shutdown.Load() || c.counts["after CloseGracefully"] > 0 || len(c.endCalls) > 0 || c.r.p.Options.HalfClosure
	switch {
	case int64(c.input) > ours.Read:
		c.violate("accounting: the handler got %d bytes, and the channel read %d", c.input, ours.Read)
	case int64(c.input) < ours.Read && c.r.group != nil && c.counts["Error"] > 0: // its poller had read on when a write failed
	case int64(c.input) < ours.Read && !drains:
		c.violate("accounting: the channel read %d bytes, and the handler got %d of them", ours.Read, c.input)
	case !drains && c.counts["Error"] == 0 && ours.PeerEnded && !k.Reset && int64(c.input) != other.Taken:
		c.violate("accounting: the peer sent %d bytes and the end of its stream, and the handler got %d", other.Taken, c.input)
	}
}

// judgeReads checks that one message costs one read (R204): a read that does not fill the buffer has emptied the socket,
// so the next one needs new readiness. The begin of a drain may cost one more, and so does a flush that the poller
// refuses to continue. So does the end of a pause: it reads what a readiness announces that the loop has found and not
// handled yet.
func (c *conn) judgeReads(ours *kernel.End) {
	refused := slices.ContainsFunc(c.r.p.Kernel.Faults, func(f kernel.Fault) bool { return f.Op == kernel.OpModify })
	if c.r.group == nil && ours.Needless > 1+c.resumes && !refused {
		c.violate("R204: %d reads of the channel found nothing after one that had emptied the socket, want at most one, and one for each of %d resumes", ours.Needless, c.resumes)
	}
}
