//go:build linux

package sockets

import (
	"net/netip"
	"time"

	"eventide/core/tcp"
)

// handler plays the handler of a channel. An accepted one knows its connection from Active on.
type handler struct {
	r *run
	c *conn
}

// idleHandler is a handler that hears of idle times.
type idleHandler struct{ *handler }

func (h idleHandler) Idle(ch *tcp.Channel, kind tcp.IdleKind) {
	timeout := milliseconds(h.r.p.Options.Idle[kind])
	if timeout == 0 || time.Since(h.r.start) < timeout {
		h.r.violate("connection %d: Idle(%v) after %v, want %v", h.c.nth, kind, time.Since(h.r.start), timeout)
	}
	h.called("Idle", ch)
}

func (r *run) newHandler() tcp.Handler {
	h := &handler{r: r}
	if r.p.Options.HearsIdle {
		return idleHandler{h}
	}
	return h
}

// handler is that of a dialled connection.
func (c *conn) handler() tcp.Handler {
	h := &handler{r: c.r, c: c}
	if c.r.p.Options.HearsIdle {
		return idleHandler{h}
	}
	return h
}

// bind finds the connection of an accepted channel, by the address of its peer.
func (h *handler) bind(ch *tcp.Channel) bool {
	remote, err := netip.ParseAddrPort(ch.RemoteAddr().String())
	for _, c := range h.r.conns {
		c.mu.Lock()
		if err == nil && c.peer != nil && c.peer.Local() == remote {
			h.c = c
		}
		c.mu.Unlock()
	}
	if h.c == nil {
		h.r.violate("a channel to %v is active, which no peer has dialled", ch.RemoteAddr())
	}
	return h.c != nil
}

// called records a call of the handler, and does what the program says.
func (h *handler) called(name string, ch *tcp.Channel) {
	if h.c != nil {
		h.c.react(name, h.begins(name, ch))
	}
}

// begins records a call of the handler, and returns which of its name it is.
func (h *handler) begins(name string, ch *tcp.Channel) int {
	if !ch.EventLoop().InEventLoop() {
		h.r.violate("connection %d: %s is called outside of the loop", h.c.nth, name)
	}
	return h.c.record(name)
}

// react does what the program says about the nth event of a name.
func (c *conn) react(name string, nth int) {
	for _, reaction := range c.spec.Handler {
		// What answers each event with a write would never come to an end.
		if reaction.On == name && (reaction.Nth == nth || reaction.Nth == 0 && nth <= 8) {
			c.do(reaction.Do, true)
		}
	}
}

func (h *handler) Active(ch *tcp.Channel) {
	if h.c == nil && !h.bind(ch) {
		return
	}
	h.c.mu.Lock()
	if h.c.ch != nil {
		h.r.violate("connection %d has two channels", h.c.nth)
	}
	h.c.ch, h.c.heard = ch, true
	h.c.mu.Unlock()
	ch.CloseFuture().OnDone(func(struct{}, error) { h.c.record("CloseFuture") })
	h.called("Active", ch)
}

func (h *handler) Read(ch *tcp.Channel, p []byte) {
	if h.c == nil {
		return
	}
	nth := h.begins("Read", ch)
	h.c.mu.Lock()
	at := h.c.input
	h.c.input += len(p)
	h.c.mu.Unlock()
	for i, b := range p {
		if b != inputByte(at+i) {
			h.r.violate("connection %d: byte %d of the input is %d, want %d", h.c.nth, at+i, b, inputByte(at+i))
			break
		}
	}
	if len(p) == 0 || len(p) > h.r.p.Options.ReadBuffer {
		h.r.violate("connection %d: Read of %d bytes, want 1 to %d", h.c.nth, len(p), h.r.p.Options.ReadBuffer)
	}
	if h.c.spec.Echo {
		h.c.writes1(ch, len(p), at%2 == 0, true)
	}
	h.c.react("Read", nth)
}

func (h *handler) ReadComplete(ch *tcp.Channel) {
	if h.c == nil {
		return
	}
	nth := h.begins("ReadComplete", ch)
	if h.c.spec.Echo {
		h.c.flushes(ch, true)
	}
	h.c.react("ReadComplete", nth)
}

func (h *handler) WritabilityChanged(ch *tcp.Channel) {
	if h.c != nil {
		h.c.mu.Lock()
		h.c.heard = ch.IsWritable()
		h.c.mu.Unlock()
	}
	h.called("WritabilityChanged", ch)
}

func (h *handler) InputShutdown(ch *tcp.Channel) {
	if !h.r.p.Options.HalfClosure {
		h.r.violate("InputShutdown without WithHalfClosure")
	}
	h.called("InputShutdown", ch)
}

func (h *handler) Inactive(ch *tcp.Channel)       { h.called("Inactive", ch) }
func (h *handler) Unregistered(ch *tcp.Channel)   { h.called("Unregistered", ch) }
func (h *handler) Error(ch *tcp.Channel, _ error) { h.called("Error", ch) }
