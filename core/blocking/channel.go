package blocking

import (
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"eventide/core"
)

// Channel is a connection on an executor of its own. Its methods may be called from any
// goroutine, at any time, and from inside every method of its handler. Register and Serve
// make channels: the zero Channel is not usable.
type Channel struct {
	// Set once.
	group   *Group
	child   *child
	loop    *core.EventLoop
	poller  *connPoller
	conn    connection
	handler Handler
	cfg     *config
	whenCut *core.Promise[struct{}] // for CloseFuture
	onClose *core.Promise[struct{}] // for Close
	onGrace *core.Promise[struct{}] // for CloseGracefully

	// Set by register before published is closed. The loop may run first, and waits for
	// that.
	published chan struct{}
	reg       *core.Registration
	byLoop    alarm // cuts the connection at the close of the executor

	closing atomic.Bool // a shutdown or a graceful close has begun

	// Guarded by mu.
	mu         sync.Mutex
	out        outbound
	refusal    error // the reason why Write refuses callers outside the loop, and the handler gets no more input
	drained    bool  // Write refuses the loop too: the drain has begun, or the peer's end closes the channel
	flushing   bool  // a flush is posted to the loop
	cutBy      error // the cause of cut
	closed     error // *ClosedError: set when the connection has been closed
	closeFirst bool  // Close was called before a shutdown of the executor
	refused    int64 // writes that countRefused has counted
	// The pending write futures have failed. That is later than closed, because the
	// futures of the close complete in between (G22).
	writesFailed bool
	deadline     closeDeadline // of CloseGracefully
	closeLimit   closeLimit    // of Close

	// Loop goroutine only.
	started  bool // the handshake is over
	active   bool // Handler.Active was called
	draining bool // the drain has begun
	inFlush  bool
	eof      bool // the peer's end was seen
	clean    bool // the drain is complete
	finished bool
	receipt  receipt
}

// LocalAddr returns the connection's local address.
func (ch *Channel) LocalAddr() net.Addr { return ch.conn.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (ch *Channel) RemoteAddr() net.Addr { return ch.conn.RemoteAddr() }

// EventLoop returns the channel's executor: for tasks, timers and hooks. It belongs to
// the channel until the channel has ended, and may then serve another one. To end a
// channel, close the channel: shutting down its executor works too, but the group then
// has to make a new one.
func (ch *Channel) EventLoop() *core.EventLoop { return ch.loop }

// IsOpen reports whether the channel is neither closed nor closing.
func (ch *Channel) IsOpen() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.refuses(false) == nil
}

// PendingBytes returns how many bytes Write has accepted and the connection has not
// taken; after the close, how many it never took.
func (ch *Channel) PendingBytes() int64 {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.out.pending()
}

// CloseFuture returns the future that completes, with nil, when the connection has been
// closed for any reason. It returns the same pointer every time.
func (ch *Channel) CloseFuture() *core.Future[struct{}] { return ch.whenCut.Future() }

// CloseCause returns the cause of the close, as in ClosedError.Cause. It is nil until the
// channel is closed, and after a Close or a complete drain.
func (ch *Channel) CloseCause() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if closed, ok := ch.closed.(*ClosedError); ok {
		return closed.Cause
	}
	return nil
}

// guarded runs user code or a step of the channel on its loop. If f does not return,
// because a handler method panicked or called Goexit, it closes the channel: the state of
// the handler is unknown then. The panic continues to core, which recovers and reports it
// (G14). The frames of the handler are still on the stack at that point, so that the
// reported stack is complete.
func (ch *Channel) guarded(f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil {
			ch.finish(&handlerError{core.ErrGoexit})
			return
		}
		ch.finish(&handlerError{&core.PanicError{Value: v, Stack: debug.Stack()}})
		panic(v)
	}()
	f()
	returned = true
}

// handlerError is ErrHandlerFailed with the panic or Goexit of the handler.
type handlerError struct{ how error }

func (e *handlerError) Error() string   { return ErrHandlerFailed.Error() + ": " + e.how.Error() }
func (e *handlerError) Unwrap() []error { return []error{ErrHandlerFailed, e.how} }

// post runs f on the loop, after earlier posts. It returns false if the channel has
// ended.
func (ch *Channel) post(f func()) bool {
	return ch.reg.Post(func() { ch.guarded(f) })
}
