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
// goroutine, at any time, also inside its handler; none blocks. Listeners and the Dial functions
// make channels: the zero Channel is not usable.
type Channel struct {
	// A server has many channels, most of them idle. The order of the fields avoids
	// padding, rarely used state is allocated on demand, and the struct fits the
	// allocator's size class of 240 bytes.

	// Set once, before the channel is published.
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

	// Guarded by mu. Fields marked "loop writes" are written by the loop only, and the loop
	// reads them without mu. Offsets count the bytes that Write has accepted:
	// sent <= flushMark <= written, and out holds [sent, written).
	state       channelState // loop writes
	blocked     bool         // loop writes: a readiness event will continue the flush
	flushPosted bool         // a flush is posted to the loop
	closing     bool         // CloseGracefully was called, or a drain has begun
	noOutput    bool         // CloseOutput was called
	crossed     bool         // the high mark was crossed since the last call of WritabilityChanged
	clean       bool         // the end counts as graceful (G23)

	// Loop only.
	active           bool // Handler.Active was called
	inputReady       bool // there may be input
	toEAGAIN         bool // a short read does not show that the socket is empty: read until EAGAIN
	inputEnded       bool // the end of the stream was read
	outputShut       bool // our FIN is sent
	finishing        bool // shut down the output once it is flushed
	notifiedWritable bool // the writability at the last call of WritabilityChanged
	notifying        bool // notifyWritability is on the stack

	// Guarded by mu, as above.
	mu        sync.Mutex
	out       outbound
	written   int64
	flushMark int64
	sent      int64      // loop writes
	failure   error      // the cause of the close; final once closed
	observers *observers // nil until a caller needs one

	// Loop only.
	broken error      // the error of the connection: fail is posted, or running
	rare   *rareState // nil until needed
}

// rareState has the fields that a channel needs while it connects or ends, or with idle
// timeouts. Loop only.
type rareState struct {
	connect    *connectAttempt
	drainedFor error         // the cause of the close if the drain succeeds
	grace      *time.Timer   // of the deadline of CloseGracefully, or nil
	until      time.Time     // the deadline that grace is set for
	acks       *time.Timer   // of the next call of awaitAcks, or nil
	delay      time.Duration // before that call
	stop       time.Time     // the end of WithLinger's wait
	idle       *idleWatch    // or nil
}

// rareState returns c.rare, and makes it if it is nil. Called on the loop, or before the
// channel is published.
func (c *Channel) rareState() *rareState {
	if c.rare == nil {
		c.rare = new(rareState)
	}
	return c.rare
}

// stopTimers stops the timers. e may be nil.
func (e *rareState) stopTimers() {
	if e == nil {
		return
	}
	if e.grace != nil {
		e.grace.Stop()
	}
	if e.acks != nil {
		e.acks.Stop()
	}
	e.stopIdle()
}

// stopIdle stops the timers of the idle timeouts. e may be nil.
func (e *rareState) stopIdle() {
	if e != nil && e.idle != nil {
		e.idle.stop()
	}
}

// channelState is the state of a channel. It only increases.
type channelState uint8

const (
	// stateConnecting: the handshake is under way, and the channel is not published.
	stateConnecting channelState = iota
	// stateOpen: input is delivered, and writes are accepted.
	stateOpen
	// stateDraining: writes are refused (unless the channel is held) and input is discarded;
	// the buffer is sent, and the peer's end of the stream is awaited.
	stateDraining
	// stateLingering: closed for users; the kernel still sends (WithLinger).
	stateLingering
	// stateClosed: the socket is closed, and the loop completes the futures of the close.
	stateClosed
	// stateAnnounced: the futures of the close are complete. Final.
	stateAnnounced
)

// loopSide implements core.Channel for the loop. It is a type of its own so that Channel
// does not export these methods.
type loopSide Channel

// interest is the registration of every channel: one for both directions, which never
// changes, so that a blocked write costs no epoll_ctl.
const interest = core.Readable | core.Writable | core.EdgeTriggered

// register registers the channel with its loop. Loop only.
func (c *Channel) register() (err error) {
	c.shared = shared()
	c.reg, err = c.loop.RegisterChannel(c.fd, interest, (*loopSide)(c))
	return err
}

// activate opens the channel and calls Handler.Active. Loop only.
func (c *Channel) activate() {
	c.mu.Lock()
	// Both at once: Channels yields an open channel to other goroutines, and a broadcast may close one
	// that is not writable; and what makes it unwritable comes after this.
	c.state = stateOpen
	c.writable.Store(true)
	c.mu.Unlock()
	c.notifiedWritable, c.active = true, true
	c.watchIdle()
	c.call(func() { c.handler.Active(c) })
}

// Ready implements core.Channel: output first, then input (R204).
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

// fetchError reads the error of a socket that the channel does not read from: no read
// would return it. Loop only.
func (c *Channel) fetchError() {
	if c.state != stateOpen && c.state != stateDraining || c.wantsInput() {
		return
	}
	if errno := c.sysSocketError(opRead); errno != 0 {
		c.fail(readError(errno))
	}
}

// rearm makes the poller report the channel's readiness again, behind the other channels
// that are ready, so that one fast peer cannot occupy the loop. A task or posted work
// would run before them. Loop only.
func (c *Channel) rearm() {
	if c.reg.Modify(interest) != nil {
		c.reg.Post(func() { (*loopSide)(c).Ready(core.NewReadiness(true, true, false, false)) })
	}
}

// call runs a method of the handler. If the method panics or calls runtime.Goexit, fail
// is posted to close the channel, and core contains and reports the panic.
// The closure does not escape to the heap.
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

// onLoop runs work before it returns if the caller is on the loop; otherwise it posts work.
func (c *Channel) onLoop(work func()) {
	if c.loop.InEventLoop() {
		work()
		return
	}
	c.reg.Post(work) // Post refuses only if the channel has ended
}

// EventLoop returns the loop of the channel.
func (c *Channel) EventLoop() *core.EventLoop { return c.loop }

// LocalAddr returns the local address, also after the close.
func (c *Channel) LocalAddr() net.Addr { return netAddr(c.local) }

// RemoteAddr returns the peer's address, also after the close.
func (c *Channel) RemoteAddr() net.Addr { return netAddr(c.remote) }

// IsOpen reports whether the channel is neither closed nor closing. It is false once Close,
// CloseGracefully or the shutdown call of the loop has returned.
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

// loopEnds reports whether a shutdown of the loop has begun. The loop may not have drained
// its channels yet.
func (c *Channel) loopEnds() bool { return c.loop.State() >= core.StateShuttingDown }

// IsWritable reports whether a writer should continue. It is false from the moment more
// bytes than the high water mark wait to be sent until fewer than the low water mark do.
// It is also false while IsOpen is false, unless the channel is held (Hold). It is advice:
// Write ignores it. A writer that got false may wait for Handler.WritabilityChanged, which
// is called when IsWritable is true again, unless the channel closes.
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

// PendingBytes returns how many bytes Write has accepted and the kernel has not taken yet;
// after the close, how many it never took.
func (c *Channel) PendingBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending()
}

func (c *Channel) pending() int64 { return c.written - c.sent }

// BytesBeforeUnwritable returns how many more bytes make the channel unwritable; 0 if it
// is unwritable already (R225).
func (c *Channel) BytesBeforeUnwritable() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isWritable() {
		return 0
	}
	return max(0, int64(c.cfg.high)-c.pending()+1)
}

// BytesBeforeWritable returns how many bytes must be sent before the channel becomes
// writable again; 0 if it is writable, or if it is closing (R225).
func (c *Channel) BytesBeforeWritable() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writable.Load() || !c.isOpen() && !c.held() {
		return 0
	}
	return max(0, c.pending()-int64(c.cfg.low)+1)
}

// SetAutoRead(false) pauses the input: no read begins until SetAutoRead(true). A
// read that has already begun on the loop may still be delivered, unless the caller is the
// handler. During the pause the kernel's window slows down the peer, the peer's end of the
// stream is not noticed, and a reset by the peer closes the channel and loses the unread
// input.
func (c *Channel) SetAutoRead(on bool) {
	if c.paused.Swap(!on) && on {
		c.reg.Post(c.resumeInput)
	}
}

// CloseCause returns the cause of the close: the Cause of ClosedError. It is nil before
// the close, and after Close. With WithLinger it is set when writes are first refused,
// which is before the socket is closed.
func (c *Channel) CloseCause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}
