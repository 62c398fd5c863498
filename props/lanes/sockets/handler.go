//go:build linux

package sockets

import (
	"errors"
	"net/netip"
	"time"

	"eventide/core/tcp"
)

// handler is the handler of a channel. That of an accepted channel learns its connection in
// Active.
type handler struct {
	r *run
	c *conn
}

// idleHandler is a handler that is a tcp.IdleHandler.
type idleHandler struct{ *handler }

func (h idleHandler) Idle(ch *tcp.Channel, kind tcp.IdleKind) {
	h.c.idle(kind)
	h.called("Idle", ch)
}

func (r *run) newHandler() tcp.Handler {
	h := &handler{r: r}
	if r.p.Options.IdleHandler {
		return idleHandler{h}
	}
	return h
}

// handler returns the handler of a dialled connection.
func (c *conn) handler() tcp.Handler {
	h := &handler{r: c.r, c: c}
	if c.r.p.Options.IdleHandler {
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

// called records a call of the handler, and performs the reactions of the program.
func (h *handler) called(name string, ch *tcp.Channel) {
	if h.c != nil {
		h.c.react(name, h.begins(name, ch))
	}
}

// begins records a call of the handler, and returns how many calls have that name now.
func (h *handler) begins(name string, ch *tcp.Channel) int {
	if !ch.EventLoop().InEventLoop() {
		h.r.violate("connection %d: %s is called outside of the loop", h.c.nth, name)
	}
	return h.c.record(name)
}

// react performs the reactions of the program to the nth event of a name.
func (c *conn) react(name string, nth int) {
	for _, reaction := range c.spec.Handler {
		// A handler that answers every event with a write would never end.
		if reaction.On == name && (reaction.Nth == nth || reaction.Nth == 0 && nth <= 8) {
			c.perform(reaction.Do, true)
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
	h.c.ch, h.c.notifiedWritable = ch, true
	for kind := range h.c.idleSince {
		h.c.idleSince[kind] = time.Now()
	}
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
		h.c.writeBytes(ch, len(p), at%2 == 0, true)
	}
	h.c.react("Read", nth)
}

func (h *handler) ReadComplete(ch *tcp.Channel) {
	if h.c == nil {
		return
	}
	nth := h.begins("ReadComplete", ch)
	if h.c.spec.Echo {
		h.c.flush(ch, true)
	}
	h.c.react("ReadComplete", nth)
}

func (h *handler) WritabilityChanged(ch *tcp.Channel) {
	if h.c != nil {
		h.c.mu.Lock()
		h.c.notifiedWritable = ch.IsWritable()
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

func (h *handler) Inactive(ch *tcp.Channel)     { h.called("Inactive", ch) }
func (h *handler) Unregistered(ch *tcp.Channel) { h.called("Unregistered", ch) }

func (h *handler) Error(ch *tcp.Channel, err error) {
	var idle *tcp.IdleError
	if h.c != nil && errors.As(err, &idle) {
		if h.r.p.Options.IdleHandler {
			h.r.violate("connection %d: the handler has a method Idle, and Error is called with %v", h.c.nth, err)
		}
		h.c.idle(idle.Kind)
	}
	h.called("Error", ch)
}
