//go:build linux

package sockets

import (
	"errors"
	"slices"
	"strings"
	"time"

	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// judge checks a run that has ended.
func (r *run) judge() {
	for _, text := range r.k.Misuse() {
		r.violate("G24: %s", text)
	}
	connections := r.k.Connections()
	for _, c := range r.conns {
		if c.dial != nil && c.dialDone.Load() != 1 {
			r.violate("connection %d: the future of the dial has completed %d times, want once", c.nth, c.dialDone.Load())
		}
		k, ours := c.find(connections)
		if c.ch == nil {
			if len(c.events) > 0 {
				r.violate("connection %d: %v without Active", c.nth, c.names())
			}
			continue
		}
		if k == nil {
			r.violate("connection %d has a channel, and the kernel knows no such connection", c.nth)
			continue
		}
		c.judgeEvents()
		c.judgeOutput(ours)
		c.judgeInput(k, ours)
		c.judgeEnd(k, ours)
	}
	r.judgeReport(connections)
}

// find returns the connection in the kernel, and our end of it.
func (c *conn) find(all []kernel.Connection) (*kernel.Connection, *kernel.End) {
	if c.ch == nil {
		return nil, nil
	}
	for i := range all {
		k := &all[i]
		switch c.ch.LocalAddr().String() {
		case k.Client.String():
			if k.Ends[0].Ours && k.Server.String() == c.ch.RemoteAddr().String() {
				return k, &k.Ends[0]
			}
		case k.Server.String():
			if k.Ends[1].Ours && k.Client.String() == c.ch.RemoteAddr().String() {
				return k, &k.Ends[1]
			}
		}
	}
	return nil, nil
}

func (c *conn) violate(format string, args ...any) {
	c.r.violate("connection %d: "+format+"\nevents %s", append(append([]any{c.nth}, args...), strings.Join(c.names(), ", "))...)
}

// first returns the index of the first event of a name, or -1.
func (c *conn) first(name string) int {
	return slices.IndexFunc(c.events, func(e event) bool { return e.name == name })
}

// once are the events that every channel has exactly once.
var once = []string{"Active", "CloseFuture", "Inactive", "Unregistered"}

// fromHandler are the calls of a handler.
var fromHandler = []string{"Active", "Read", "ReadComplete", "WritabilityChanged", "InputShutdown", "Idle", "Error", "Inactive", "Unregistered"}

// judgeEvents checks which events there are, and their order (G22).
func (c *conn) judgeEvents() {
	for _, name := range once {
		if c.counts[name] != 1 {
			c.violate("G22: %s %d times, want once", name, c.counts[name])
			return
		}
	}
	for _, name := range []string{"Error", "InputShutdown"} {
		if c.counts[name] > 1 {
			c.violate("G22: %s %d times, want at most once", name, c.counts[name])
		}
	}
	closed, inactive, unregistered := c.first("CloseFuture"), c.first("Inactive"), c.first("Unregistered")
	if first := slices.IndexFunc(c.events, func(e event) bool { return slices.Contains(fromHandler, e.name) }); c.events[first].name != "Active" {
		c.violate("G22: Active is not the first call of the handler")
	}
	if !(closed < inactive && inactive < unregistered) {
		c.violate("G22: want CloseFuture, Inactive and Unregistered in this order")
	}
	for i, e := range c.events {
		switch {
		case !slices.Contains(fromHandler, e.name) || e.name == "Inactive" || e.name == "Unregistered":
		case i > closed:
			c.violate("G22: %s after the close", e.name)
		}
	}
	for _, name := range []string{"closed", "gracefully closed", "output closed"} {
		if at := c.first(name); at >= 0 && name != "output closed" && at < closed {
			c.violate("G22: the future %q completes before CloseFuture", name)
		}
	}
	for _, call := range []string{"after Close", "after CloseGracefully"} {
		at := c.first(call)
		for i, e := range c.events {
			if at >= 0 && i > at && (e.name == "Read" || e.name == "InputShutdown" && call == "after Close" || e.name == "Idle") {
				c.violate("G22: %s %s", e.name, call)
			}
		}
	}
	c.judgeOrderOfWrites(closed, inactive)
}

// judgeOrderOfWrites checks the order in which futures of writes complete. Those whose
// listener was added on the loop while they were pending complete in the order of the calls
// of the loop, and before Inactive.
func (c *conn) judgeOrderOfWrites(closed, inactive int) {
	var last *write
	for _, w := range c.writes {
		if w.ended == 0 {
			continue // the call did not return: a handler that it called has panicked
		}
		if w.done != 1 {
			c.violate("G22: the future of write %d has completed %d times, want once", w.id, w.done)
		}
		if !w.pending {
			continue
		}
		if w.stamp > c.events[inactive].stamp {
			c.violate("G22: write %d completes after Inactive", w.id)
		}
		if w.err != nil && w.stamp < c.events[closed].stamp {
			c.violate("G22: write %d fails with %v before CloseFuture", w.id, w.err)
		}
		if last != nil && last.stamp > w.stamp {
			c.violate("G22: write %d completes before write %d, which the loop made before", w.id, last.id)
		}
		last = w
	}
}

// judgeOutput accounts for each byte of each write: the kernel took it, or its future says
// that it did not. ours is our end in the kernel.
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
	accepted, perhaps := int64(0), c.perhaps
	for _, w := range c.writes {
		sent := placed[w.id]
		if w.ended == 0 {
			perhaps += int64(w.n)
			continue
		}
		switch {
		case w.refused != nil && sent > 0 && !w.perhaps:
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
		if w.err != nil && w.refused == nil && !errors.Is(w.err, tcp.ErrChannelClosed) {
			c.violate("write %d, which was accepted, failed with %v, want a *ClosedError", w.id, w.err)
		}
	}
	if n := ours.Taken + pending; n < accepted || n > accepted+perhaps {
		c.violate("accounting: %d bytes were accepted, and %d perhaps; the kernel took %d, and %d are pending at the end", accepted, perhaps, ours.Taken, pending)
	}
	for i, w := range order {
		for _, other := range order[i+1:] {
			if other.ended > 0 && other.ended < w.began {
				c.violate("accounting: write %d is sent before write %d, which was made before", w.id, other.id)
				return
			}
		}
	}
}

// broadcastSize is how many bytes of a broadcast follow: nothing says where it ends but the
// next write.
func (c *conn) broadcastSize(stream []byte, id byte) int {
	n := 0
	for n < len(stream) && stream[n] == id+byte(n*13+n>>8) {
		n++
	}
	return n
}

// judgeRefusal checks that a write was refused for a reason.
func (c *conn) judgeRefusal(w *write) {
	reasons := len(c.ended) > 0 || c.r.shutdown.Load() > 0 && c.r.shutdown.Load() < w.ended
	for _, e := range c.events {
		reasons = reasons || e.name == "Error" || e.name == "CloseFuture" && e.stamp < w.ended
	}
	k, ours := c.find(c.r.k.Connections())
	if k != nil && !reasons && !ours.EndSeen && !k.Broken {
		c.violate("write %d was refused with %v, and nothing has ended the channel", w.id, w.refused)
	}
}

// judgeInput accounts for the bytes of the peer.
func (c *conn) judgeInput(k *kernel.Connection, ours *kernel.End) {
	other := &k.Ends[0]
	if ours == other {
		other = &k.Ends[1]
	}
	drains := c.r.shutdown.Load() > 0 && c.events[c.first("CloseFuture")].stamp > c.r.shutdown.Load() || c.counts["after CloseGracefully"] > 0 || len(c.ended) > 0 || c.r.p.Options.HalfClosure
	switch {
	case int64(c.input) > ours.Read:
		c.violate("accounting: the handler got %d bytes, and the channel read %d", c.input, ours.Read)
	case int64(c.input) < ours.Read && !drains:
		c.violate("accounting: the channel read %d bytes, and the handler got %d of them", ours.Read, c.input)
	case !drains && c.counts["Error"] == 0 && ours.EndSeen && !k.Broken && int64(c.input) != other.Taken:
		c.violate("accounting: the peer sent %d bytes and the end of its stream, and the handler got %d", other.Taken, c.input)
	}
}

// judgeEnd checks what a graceful end has promised (G23).
func (c *conn) judgeEnd(k *kernel.Connection, ours *kernel.End) {
	complete := ours.Taken == ours.Delivered && c.ch.PendingBytes() == 0
	if c.counts["drained"] > 0 && (!complete || !ours.Ended || !ours.EndSeen) {
		c.violate("G23: CloseGracefully succeeded; pending %d, taken %d, delivered %d, our end acknowledged %v, the peer's end seen %v",
			c.ch.PendingBytes(), ours.Taken, ours.Delivered, ours.Ended, ours.EndSeen)
	}
	if c.counts["output ended"] > 0 && c.ch.PendingBytes() != 0 {
		c.violate("CloseOutput succeeded, and %d bytes are pending", c.ch.PendingBytes())
	}
	if !ours.Closed {
		c.violate("G24: the socket is open after the end")
	}
	// An end in order never resets: that would take from the peer what it has not read.
	cause := c.ch.CloseCause()
	if k.Broken && c.counts["drained"] > 0 {
		c.violate("G23: CloseGracefully succeeded, and the connection was reset")
	}
	if cause == nil && len(c.ended) == 0 {
		c.violate("the channel has closed without a cause, and nobody has called Close")
	}
	if errors.Is(cause, tcp.ErrHandlerFailed) && !c.r.handlerFailed() {
		c.violate("the channel has closed with %v, and no handler has failed", cause)
	}
}

// handlerFailed reports whether a handler has panicked. If another one called it, by a
// broadcast, both have failed.
func (r *run) handlerFailed() bool {
	return slices.ContainsFunc(r.conns, func(c *conn) bool {
		return slices.Contains(c.ended, "Panic") || slices.Contains(c.ended, "Goexit")
	})
}

// judgeReport compares the report of the shutdown with what became of the channels.
func (r *run) judgeReport(connections []kernel.Connection) {
	var atLeast, atMost, drained, mustDrain, discardedLeast, discardedMost int64
	for _, c := range r.conns {
		k, ours := c.find(connections)
		at := c.first("CloseFuture")
		if k == nil || at < 0 || c.events[at].stamp < r.shutdown.Load() {
			continue
		}
		atMost++
		pending := c.ch.PendingBytes()
		discardedMost += pending
		clean := pending == 0 && ours.Taken == ours.Delivered && ours.Ended && ours.EndSeen
		if clean {
			drained++
		}
		if c.open && !slices.Contains(c.ended, "Close") {
			atLeast++
			discardedLeast += pending
			others := slices.ContainsFunc(c.ended, func(s string) bool { return s != "CloseGracefully" && s != "CloseOutput" })
			lingers := r.p.Options.Linger > 0 // what it waits for after the end of the peer's stream does not count
			if clean && !k.Broken && !others && !lingers && !r.late && !r.p.End.Now && !r.p.Aborts && c.counts["Error"] == 0 && c.ch.CloseCause() != tcp.ErrCloseDeadline {
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

// checkSettled checks what must hold when every goroutine waits: nothing that could go on is
// left undone.
func (r *run) checkSettled() {
	connections := r.k.Connections()
	if r.listener != nil && r.k.Queued() > 0 && r.listener.Stats().Paused == 0 && r.listener.CloseCause() == nil {
		r.violate("G12: %d connections wait to be accepted while every goroutine waits", r.k.Queued())
	}
	for _, c := range r.conns {
		c.mu.Lock()
		ch := c.ch
		c.mu.Unlock()
		if ch == nil {
			continue
		}
		if k, ours := c.find(connections); k != nil {
			c.checkSettled(ch, ours)
		}
	}
}

func (c *conn) checkSettled(ch *tcp.Channel, ours *kernel.End) {
	c.mu.Lock()
	paused, unheard, heard, calls := c.paused || c.r.quiesced.Load() > 0, c.unheard, c.heard, len(c.ended)
	closed, gone := c.counts["CloseFuture"] > 0, c.counts["Unregistered"] > 0
	broken := c.counts["Error"] > 0
	incomplete := 0
	for _, w := range c.writes {
		if w.done == 0 && w.ended > 0 {
			incomplete++
		}
	}
	c.mu.Unlock()
	switch {
	case closed != ours.Closed:
		c.violate("G12: CloseFuture has completed: %v, the socket is closed: %v, and every goroutine waits", closed, ours.Closed)
	case closed != gone:
		c.violate("G12: the channel is closed, every goroutine waits, and Unregistered was not called")
	case closed && incomplete > 0:
		c.violate("G22: the channel is closed, and %d writes have not completed", incomplete)
	}
	if closed || broken || c.r.p.Options.Linger > 0 && (calls > 0 || ours.EndSeen) { // a channel that lingers is not watched
		return
	}
	if ours.Failed {
		c.violate("G12: the connection has failed, every goroutine waits, and the channel is open")
	}
	if pending := ch.PendingBytes(); pending > 0 && !unheard && ours.Roomy && ours.Live {
		c.violate("G12: %d bytes wait to be sent, there is room, and every goroutine waits", pending)
	}
	if ours.Waiting > 0 && !paused {
		c.violate("G12: %d bytes wait to be read, and every goroutine waits", ours.Waiting)
	}
	if ours.EndSeen && ours.Waiting == 0 && !ours.EndRead && !paused {
		c.violate("G12: the end of the stream waits to be read, and every goroutine waits")
	}
	if ch.PendingBytes() == 0 && incomplete > 0 {
		c.violate("G22: all bytes are sent, and %d writes have not completed", incomplete)
	}
	if !ch.IsOpen() {
		return
	}
	pending, o := ch.PendingBytes(), c.r.p.Options
	switch writable := ch.IsWritable(); {
	case writable != heard:
		c.violate("writability: the channel is writable: %v, the handler knows %v, %d bytes wait, and every goroutine waits", writable, heard, pending)
	case writable && pending > int64(o.High), !writable && pending < int64(o.Low):
		c.violate("writability: %v with %d bytes that wait, marks %d and %d", writable, pending, o.Low, o.High)
	}
	c.checkIdle(ch)
}

// checkIdle checks that idle times were noticed.
func (c *conn) checkIdle(ch *tcp.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	timeout := milliseconds(c.r.p.Options.Idle[tcp.WriteIdle])
	if timeout == 0 || len(c.writes) > 0 || c.perhaps > 0 || len(c.events) == 0 || c.counts["Idle"] > 0 {
		return
	}
	if active := c.events[0].at; time.Since(c.r.start)-active > timeout {
		c.r.violate("connection %d: nothing was written for %v, and the handler has not heard of it", c.nth, time.Since(c.r.start)-active)
	}
}
