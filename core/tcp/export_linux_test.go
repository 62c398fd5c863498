package tcp

import (
	"context"
	"net/netip"
	"syscall"

	"eventide/core"

	"golang.org/x/sys/unix"
)

// WithFaults lets a test decide how system calls go: op is "read", "send", "accept",
// "shutdown", "close" or "connect".
func WithFaults(ask func(op string, n int) (int, syscall.Errno)) Option {
	names := [...]string{opRead: "read", opSend: "send", opAccept: "accept", opShutdown: "shutdown", opClose: "close", opConnect: "connect"}
	return func(c *config) error {
		c.faults = &faults{
			transfer: func(op operation, n int) (int, syscall.Errno) { return ask(names[op], n) },
			fail: func(op operation) syscall.Errno {
				_, errno := ask(names[op], 0)
				return errno
			},
		}
		return nil
	}
}

// WithSocketHook lets a test prepare each socket before it connects or listens.
func WithSocketHook(made func(fd int) error) Option {
	return func(c *config) error {
		c.faults = &faults{made: made}
		return nil
	}
}

// WhileCloseIsPublished runs f in the state in which the loop has published the end of the channel,
// and has completed no future yet.
func (c *Channel) WhileCloseIsPublished(f func()) {
	set := func(s channelState) (before channelState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		before, c.state = c.state, s
		return before
	}
	before := set(stateClosed)
	f()
	set(before)
}

// WhileCloseIsPublished is that of Channel.
func (l *Listener) WhileCloseIsPublished(f func()) {
	set := func(closed bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.closed = closed
	}
	set(true)
	f()
	set(false)
}

// HasRareState reports whether the channel keeps what few channels need. Loop only.
func (c *Channel) HasRareState() bool { return c.rare != nil }

// FD returns the descriptor.
func (c *Channel) FD() int { return c.fd }

// Again makes the poller report once more, as it does after a real EAGAIN.
func (c *Channel) Again() { c.onLoop(c.rearm) }

// OnClose listens to the future that Close or CloseGracefully would return, without
// closing.
func (c *Channel) OnClose(which string, listener func()) {
	c.mu.Lock()
	p := c.promise(map[string]**core.Promise[struct{}]{"close": &c.observe().close, "graceful": &c.observe().graceful}[which])
	c.mu.Unlock()
	p.Future().OnDone(func(struct{}, error) { listener() })
}

// ContinueFlush does what a readiness event does after a send that would have blocked.
func (c *Channel) ContinueFlush() { c.flush() }

// GraceFiresEarly is the timer of CloseGracefully firing before the deadline, as it can
// when the clock was set back meanwhile, and reports whether it is set again. Loop only.
func (c *Channel) GraceFiresEarly() bool {
	c.rare.grace.Stop()
	c.graceTimerFired()
	return c.rare.grace.Stop() // it returns false if there is nothing to stop
}

// FireGraceTimer does what the timer of CloseGracefully does. Loop only.
func (c *Channel) FireGraceTimer() { c.graceTimerFired() }

// WillRetry reports whether the listener has set a timer to accept again. Loop only.
func (l *Listener) WillRetry() bool { return l.retry != nil }

// NoIPv6 and FirstIPv4 are the decisions of Listen, without a system that lacks IPv6 and
// without a name that has several addresses.
func NoIPv6(err error) bool { return noIPv6(err) }

// FirstIPv4 is firstIPv4.
func FirstIPv4(addrs []netip.AddrPort) netip.AddrPort { return firstIPv4(addrs) }

// InputEnded reports whether the end of the input was read. Loop only.
func (c *Channel) InputEnded() bool { return c.inputEnded }

// DialEach is Dial to a name that has these addresses.
func DialEach(ctx context.Context, g *core.Group, h Handler, addrs []netip.AddrPort, opts ...Option) (*Channel, error) {
	d, err := newDialer(ctx, "Dial", loops{name: "group", group: g}, "name", h, opts)
	if err != nil {
		return nil, err
	}
	return d.tryEach(ctx, d.loops.next(), addrs...)
}

// DialOnAsync is DialAsync on the given loop.
func DialOnAsync(ctx context.Context, loop *core.EventLoop, addr netip.AddrPort, h Handler, opts ...Option) (*core.Future[*Channel], error) {
	d, err := newDialer(ctx, "DialOn", loops{loop: loop}, addr.String(), h, opts)
	if err != nil {
		return nil, err
	}
	return d.start(ctx, loop, addr), nil
}

// FlushIsBeingPosted is the state of a channel while another goroutine is inside Flush, and has not posted the flush
// yet.
func (c *Channel) FlushIsBeingPosted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushPosted = true
}

// KeptWaiters returns a function that counts the promises in the memory of the present waiters for writes, and reports
// whether the channel keeps that memory.
func (c *Channel) KeptWaiters() func() (promises int, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.observers.waiters.list
	return func() (promises int, kept bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, w := range list {
			if w.promise != nil {
				promises++
			}
		}
		return promises, c.observers.waiters.list != nil
	}
}

// SpareChunks counts the spare chunks of the channel's loop.
func (c *Channel) SpareChunks() int {
	c.shared.pool.mu.Lock()
	defer c.shared.pool.mu.Unlock()
	return c.shared.pool.n
}

// Waiting returns how many connections wait in the backlog of the kernel.
func (l *Listener) Waiting() int {
	info, err := unix.GetsockoptTCPInfo(l.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return -1
	}
	return int(info.Unacked) // of a listener
}

// Resume does what the timer of a pause does. Loop only.
func (l *Listener) Resume() { l.resume() }

// TakeRetry returns a function that stops the present timer of a pause, and reports whether it was still set. Loop only.
func (l *Listener) TakeRetry() (stop func() bool) { return l.retry.Stop }

// LoseRegistration ends the registration as core does when another registration gets the number of the descriptor.
func (l *Listener) LoseRegistration() { _ = l.registration().Close() }

// SocketError returns the pending error of a socket.
func SocketError(fd int) syscall.Errno { return sysSocketError(nil, fd, opRead) }

// ZoneName is zoneName, and ZoneID its inverse.
func ZoneName(id uint32) string { return zoneName(id) }

// ZoneID is zoneID.
func ZoneID(name string) uint32 { return zoneID(name) }
