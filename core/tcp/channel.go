package tcp

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
)

// Channel is a connection on an event loop. All methods may be called from any
// goroutine, at any time, from inside its handler too; none waits.
type Channel struct {
	// There are many of these, and most are idle: the order is that which takes the
	// least room, what few need is made when it is needed, and 240 bytes are what
	// the allocator has.

	// Set once, before anybody else has the channel.
	loop    *core.EventLoop
	handler Handler
	cfg     *config
	remote  netip.AddrPort
	local   netip.AddrPort
	reg     *core.Registration
	shared  *loopShared
	fd      int

	// Atomic.
	writable atomic.Bool // by the water marks, and not closing
	paused   atomic.Bool // SetAutoRead(false)

	// Guarded by mu; what is marked so is written by the loop only, which reads it
	// without the lock. Offsets count the bytes that Write accepted:
	// sent <= flushMark <= written, and out holds [sent, written).
	state      channelState // loop writes
	blocked    bool         // loop writes: a readiness event will continue the flush
	flushNoted bool         // a flush is on its way to the loop
	closing    bool         // a graceful close was asked for
	noOutput   bool         // CloseOutput was called
	crossed    bool         // the high mark was, and that the channel is writable again is still to be told
	clean      bool         // the end was in order (G23)

	// Loop only.
	active           bool // the handler has heard Active
	inputReady       bool // there may be input
	toEAGAIN         bool // a short read has not emptied the socket: read until it would block
	inputEnded       bool // EOF was read
	outputShut       bool // our FIN is sent
	finishing        bool // the output is to be shut down when it is flushed
	reading          bool // the read loop is below us on the stack
	notifiedWritable bool // the writability the handler knows of
	notifying        bool // notifyWritability is below us on the stack

	// Guarded by mu, as above.
	mu        sync.Mutex
	out       outbound
	written   int64
	flushMark int64
	sent      int64      // loop writes
	failure   error      // why it closed; final once closed
	observers *observers // nil: nobody has asked for one

	// Loop only.
	broken error   // of a send: the channel is about to be closed for it
	edge   *atEdge // nil: it is neither being connected nor ending
}

// atEdge is what a channel has at the edges of its life, or with idle timeouts. Loop only.
type atEdge struct {
	connect    *connectAttempt
	drainedFor error         // the cause to name if the drain succeeds
	grace      *time.Timer   // the deadline of CloseGracefully, or nil
	until      time.Time     // for when it is set
	acks       *time.Timer   // the next look at what the peer has acknowledged, or nil
	delay      time.Duration // before that
	stop       time.Time     // lingering: the end of it
	idle       *idleWatch    // or nil
}

// atEdge makes it if it is not there. Loop only, or before anybody has the channel.
func (c *Channel) atEdge() *atEdge {
	if c.edge == nil {
		c.edge = new(atEdge)
	}
	return c.edge
}

// stopAll stops the timers. A nil e has none.
func (e *atEdge) stopAll() {
	if e == nil {
		return
	}
	if e.grace != nil {
		e.grace.Stop()
	}
	if e.acks != nil {
		e.acks.Stop()
	}
	if e.idle != nil {
		e.idle.stop()
	}
}

// channelState is where in its life a channel is. Its order is that of time.
type channelState uint8

const (
	// stateConnecting: the handshake is under way; nobody has the channel.
	stateConnecting channelState = iota
	// stateOpen: everything works.
	stateOpen
	// stateDraining: nothing is written or delivered any more; what was accepted is
	// sent, input is discarded until it ends.
	stateDraining
	// stateLingering: closed for everybody, but the socket still delivers.
	stateLingering
	// stateClosed: the socket is closed. Final.
	stateClosed
)

// loopSide is the channel as its loop sees it (core.Channel), so that users do not
// see these methods.
type loopSide Channel

// interest of every channel: one registration for both directions, never changed,
// so that a blocked write costs no system call but itself.
const interest = core.Readable | core.Writable | core.EdgeTriggered

// register puts the channel onto its loop. Loop only.
func (c *Channel) register() error {
	shared, err := sharedOfLoop.Get()
	if err != nil {
		return err
	}
	c.shared = shared
	c.reg, err = c.loop.RegisterChannel(c.fd, interest, (*loopSide)(c))
	return err
}

// activate opens the channel and tells its handler. Loop only.
func (c *Channel) activate() {
	c.mu.Lock()
	c.state = stateOpen
	c.mu.Unlock()
	c.writable.Store(true)
	c.notifiedWritable, c.active = true, true
	c.watchIdle()
	c.call(func() { c.handler.Active(c) })
}

// Ready is core.Channel's: first the output, then the input (R204).
func (s *loopSide) Ready(r core.Readiness) {
	c := (*Channel)(s)
	if c.state == stateConnecting {
		c.connected(r)
	}
	if r.HungUp() || r.Failed() || r.Urgent() {
		c.toEAGAIN = true
	}
	if c.blocked && r.Writable() {
		c.flush()
	}
	if r.Readable() {
		c.inputReady = true
		c.read()
	}
	if r.Failed() {
		c.fetchError()
	}
}

// fetchError is for a channel that would not notice an error, because it does not
// read. Loop only.
func (c *Channel) fetchError() {
	if c.state != stateOpen && c.state != stateDraining || c.wantsInput() {
		return
	}
	if errno := c.sysSocketError(opRead); errno != 0 {
		c.fail(readError(errno))
	}
}

// again asks the poller to report once more what the channel is ready for: behind
// everybody else who is ready, so that one fast peer does not keep a loop. A task
// or a note would come before them. Loop only.
func (c *Channel) again() {
	if c.reg.Modify(interest) != nil {
		c.reg.Post(func() { (*loopSide)(c).Ready(core.NewReadiness(true, true, false, false)) })
	}
}

// call calls a method of the handler. If it does not return, the channel is closed
// for that, soon: the panic is on its way to core, which contains and reports it.
// The closure stays on the stack.
func (c *Channel) call(method func()) {
	returned := false
	defer func() {
		if !returned {
			c.failSoon(ErrHandlerFailed)
		}
	}()
	method()
	returned = true
}

// onLoop runs work now if the caller is a body of the loop, else soon.
func (c *Channel) onLoop(work func()) {
	if c.loop.InEventLoop() {
		work()
		return
	}
	c.reg.Post(work) // refused only if the channel has ended
}

// EventLoop returns the loop of the channel.
func (c *Channel) EventLoop() *core.EventLoop { return c.loop }

// LocalAddr returns our address, also after the close.
func (c *Channel) LocalAddr() net.Addr { return netAddr(c.local) }

// RemoteAddr returns the peer's address, also after the close.
func (c *Channel) RemoteAddr() net.Addr { return netAddr(c.remote) }

// IsOpen reports whether the channel is neither closed nor closing: false from the
// return of Close, of CloseGracefully, or of the shutdown call of its loop on.
func (c *Channel) IsOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isOpen()
}

// isOpen requires mu.
func (c *Channel) isOpen() bool {
	closing := c.closing || c.observers != nil && c.observers.close != nil
	return c.state == stateOpen && !closing && !c.loopEnds()
}

// loopEnds reports whether the loop has been told to shut down. It will tell its
// channels, and may not have come to it yet.
func (c *Channel) loopEnds() bool { return c.loop.State() >= core.StateShuttingDown }

// IsWritable reports whether a writer should go on: false from when more than the
// high water mark waits to be sent until fewer than the low one do, and whenever
// IsOpen is, unless the channel is held (Hold). It is advice; Write does not heed it. A
// writer that got false may wait for Handler.WritabilityChanged: it is called with true,
// unless the channel closes.
func (c *Channel) IsWritable() bool {
	if !c.writable.Load() {
		return false
	}
	if !c.loopEnds() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held()
}

// isWritable is IsWritable. Requires mu.
func (c *Channel) isWritable() bool { return c.writable.Load() && (!c.loopEnds() || c.held()) }

// PendingBytes returns how many bytes were accepted by Write and not yet taken by
// the kernel; after the close, how many never were.
func (c *Channel) PendingBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending()
}

func (c *Channel) pending() int64 { return c.written - c.sent }

// BytesBeforeUnwritable returns how many bytes make the channel unwritable; 0 if it
// is (R225).
func (c *Channel) BytesBeforeUnwritable() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isWritable() {
		return 0
	}
	return max(0, int64(c.cfg.high)-c.pending()+1)
}

// BytesBeforeWritable returns how many bytes must be sent for the channel to become
// writable; 0 if it is, or if it closes (R225).
func (c *Channel) BytesBeforeWritable() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writable.Load() || !c.isOpen() && !c.held() {
		return 0
	}
	return max(0, c.pending()-int64(c.cfg.low)+1)
}

// SetAutoRead(false) pauses the input: no read begins until SetAutoRead(true). One
// read that has begun on the loop may still be delivered, unless the caller is the
// handler. While it is paused the peer is slowed down by the kernel's window, its
// end of the stream is not noticed, and its reset closes the channel without the
// input that was not read.
func (c *Channel) SetAutoRead(on bool) {
	if c.paused.Swap(!on) && on {
		c.reg.Post(c.resumeInput)
	}
}

// CloseCause returns why the channel closed: the Cause of ClosedError. Nil before
// that, and after Close. With WithLinger it is known from when writes are refused, and
// the socket is closed later.
func (c *Channel) CloseCause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}
