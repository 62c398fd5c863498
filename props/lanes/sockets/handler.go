//go:build linux

package sockets

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"eventide/core/tcp"
)

// handler is the handler of a channel. If the channel was accepted, Active sets c.
type handler struct {
	r      *run
	c      *conn
	inside []string // the calls that run, loop only
}

// newHandler makes the handler of an accepted channel, unless the program says that it fails.
func (r *run) newHandler() tcp.Handler {
	if o := r.p.Options; int(r.handlersMade.Add(1)) == o.BadNth {
		switch o.BadHandler {
		case nilHandler:
			return nil
		case panicHandler:
			panic("newHandler of the program")
		case goexitHandler:
			runtime.Goexit()
		}
	}
	return (&handler{r: r}).overTCP()
}

// handler returns the handler of a dialled connection.
func (c *conn) handler() tcp.Handler { return (&handler{r: c.r, c: c}).overTCP() }

// bind finds the connection of an accepted channel, by the address of its peer.
func (h *handler) bind(ch channel) bool {
	if h.c = h.r.connOf(ch.RemoteAddr()); h.c == nil {
		h.r.violate("a channel to %v is active, which no peer has dialled", ch.RemoteAddr())
	}
	return h.c != nil
}

// connOf returns the connection whose peer has an address, or nil.
func (r *run) connOf(remote net.Addr) *conn {
	at, err := netip.ParseAddrPort(remote.String())
	for _, c := range r.conns {
		c.mu.Lock()
		found := err == nil && c.peer != nil && c.peer.Local() == at
		c.mu.Unlock()
		if found {
			return c
		}
	}
	return nil
}

// called records a call of the handler, and performs the reactions of the program. No call is inside
// another one of its name, whatever the reactions do.
func (h *handler) called(name string, ch channel) {
	if h.c == nil {
		return
	}
	nth := h.begins(name, ch)
	if slices.Contains(h.inside, name) {
		h.r.violate("connection %d: %s is called inside %s", h.c.nth, name, name)
	}
	h.inside = append(h.inside, name)
	defer func() { h.inside = h.inside[:len(h.inside)-1] }()
	h.c.react(name, nth)
}

// begins records a call of the handler, and returns how many calls have that name now.
func (h *handler) begins(name string, ch channel) int {
	if !ch.EventLoop().InEventLoop() {
		h.r.violate("connection %d: %s is called outside of the loop", h.c.nth, name)
	}
	if h.r.group != nil && !h.r.group.InEventLoop() {
		h.r.violate("connection %d: %s is called, and InEventLoop of the group is false", h.c.nth, name)
	}
	return h.c.record(name)
}

// react performs the reactions of the program to the nth event of a name.
func (c *conn) react(name string, nth int) {
	c.r.reacting.Add(1)
	defer c.r.reacting.Add(-1)
	for _, reaction := range c.spec.Handler {
		// A handler that answers every event with a write would never end.
		if reaction.On == name && (reaction.Nth == nth || reaction.Nth == 0 && nth <= 8) {
			c.perform(reaction.Do, true)
		}
	}
}

func (h *handler) active(ch channel) {
	if h.c == nil && !h.bind(ch) {
		return
	}
	h.c.has(ch)
	h.checkLoop(ch)
	h.c.mu.Lock()
	h.c.notifiedWritable = true
	for kind := range h.c.idleSince {
		h.c.idleSince[kind] = time.Now()
	}
	h.c.mu.Unlock()
	h.c.watchClose(ch)
	h.called("Active", ch)
}

// has sets the channel of the connection. Several calls may give it, and all must give the same.
func (c *conn) has(ch channel) {
	c.mu.Lock()
	first := c.ch == nil
	if first {
		c.ch = ch
	}
	if c.ch != ch {
		c.r.violate("connection %d has two channels", c.nth)
	}
	c.mu.Unlock()
	if over := ofTCP(ch); first && over != nil && c.r.closesEarly(over) {
		c.recordEndCall("Broadcast", false)
	}
}

// closesEarly reports whether a broadcast may have closed the channel before a connection had it.
func (r *run) closesEarly(ch *tcp.Channel) bool {
	r.early.Lock()
	defer r.early.Unlock()
	return slices.Contains(r.early.closes, ch)
}

// watchClose records the completion of the CloseFuture.
func (c *conn) watchClose(ch channel) {
	ch.CloseFuture().OnDone(func(struct{}, error) {
		if c.closed.CompareAndSwap(false, true) {
			c.recordClose()
			c.record("CloseFuture")
		}
	})
}

func (h *handler) read(ch channel, p []byte) {
	if h.c == nil {
		return
	}
	nth := h.begins("Read", ch)
	h.c.inputComes()
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
	if h.r.inputEnded.Load() {
		h.c.violate("Quiesce has returned, and Read has not")
	}
}

func (h *handler) readComplete(ch channel) {
	if h.c == nil {
		return
	}
	nth := h.begins("ReadComplete", ch)
	h.c.inputIsComplete()
	if h.c.spec.Echo {
		h.c.flush(ch, true)
	}
	h.c.react("ReadComplete", nth)
}

func (h *handler) writabilityChanged(ch channel) {
	if h.c != nil {
		h.c.mu.Lock()
		h.c.notifiedWritable = ofTCP(ch).IsWritable()
		if high := h.r.p.Options.High; h.c.peak <= int64(high) {
			h.c.violateLocked("WritabilityChanged is called, and never more than %d bytes may have waited, with a high mark of %d", h.c.peak, high)
		}
		h.c.mu.Unlock()
	}
	h.called("WritabilityChanged", ch)
}

func (h *handler) inputShutdown(ch channel) {
	if !h.r.p.Options.HalfClosure {
		h.r.violate("InputShutdown without WithHalfClosure")
	}
	if h.c != nil {
		h.c.mu.Lock()
		h.c.inputEvents++
		h.c.mu.Unlock()
	}
	h.called("InputShutdown", ch)
}

// ends records the call of Inactive or Unregistered.
func (h *handler) ends(name string, ch channel) {
	if h.c != nil && hasEnded(ch) {
		h.c.violate("%s is called after the end of the registration", name)
	}
	h.called(name, ch)
}

func (h *handler) failed(ch channel, err error) {
	var idle *tcp.IdleError
	if h.c != nil && errors.As(err, &idle) {
		if h.r.p.Options.IdleHandler {
			h.r.violate("connection %d: the handler has a method Idle, and Error is called with %v", h.c.nth, err)
		}
		h.c.idle(idle.Kind)
	}
	if h.c != nil && h.r.group != nil { // it may never have become active
		h.c.has(ch)
		h.c.watchClose(ch)
	}
	if h.c != nil {
		h.c.mu.Lock()
		h.c.failure = err
		h.c.mu.Unlock()
	}
	h.called("Error", ch)
}
