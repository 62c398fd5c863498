package blocking

import (
	"net"
	"runtime/debug"
	"sync"

	"eventide/core"
)

// Channel is a connection on an executor of its own. Its methods may be called from
// any goroutine, at any time, from inside every method of its handler too. Register
// and Serve make channels.
type Channel struct {
	// Set once.
	group   *Group
	child   *child
	loop    *core.EventLoop
	poller  *connPoller
	conn    connection
	handler Handler
	cfg     *config
	whenCut *core.Promise[struct{}] // CloseFuture
	onClose *core.Promise[struct{}] // what Close returns
	onGrace *core.Promise[struct{}] // what CloseGracefully returns

	// Set by register before published is closed. The loop may be faster.
	published chan struct{}
	reg       *core.Registration
	byLoop    alarm // cuts at the close of the executor

	// Guarded by mu.
	mu         sync.Mutex
	out        outbound
	refusal    error // why Write refuses callers other than the loop
	drained    bool  // Write refuses the loop too: the drain has begun
	flushing   bool  // a flush is on its way to the loop
	cutBy      error // why the connection was closed under whoever used it
	closed     error // *ClosedError: set when the connection has been closed
	closeFirst bool  // Close was called before a shutdown of the executor
	closing    bool  // a shutdown or a graceful close has begun
	// The write futures that were pending have failed. Later than closed, as the
	// futures of the close come between (G22).
	writesFailed bool
	deadline     closeDeadline // of CloseGracefully
	closeLimit   closeLimit    // of Close

	// Loop goroutine only.
	started  bool // the handshake is over
	active   bool // the handler has heard Active
	draining bool // the handler hears no more input
	inFlush  bool
	eof      bool // the peer's end was seen
	clean    bool // the drain has come to its end
	finished bool
	receipt  receipt
}

// LocalAddr returns the connection's local address.
func (ch *Channel) LocalAddr() net.Addr { return ch.conn.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (ch *Channel) RemoteAddr() net.Addr { return ch.conn.RemoteAddr() }

// EventLoop returns the channel's executor: for tasks, timers and hooks. It is the
// channel's alone until the channel has ended, and may then serve another one. To
// close a channel close the channel: to shut its executor down works, but the
// group then needs a new one for the next.
func (ch *Channel) EventLoop() *core.EventLoop { return ch.loop }

// IsOpen reports whether the channel is neither closed nor closing.
func (ch *Channel) IsOpen() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.refuses(false) == nil && !ch.closing
}

// PendingBytes returns how many bytes were accepted by Write and not yet taken by
// the connection; after the close, how many never were.
func (ch *Channel) PendingBytes() int64 {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.out.pending()
}

// CloseFuture returns the future that completes, with nil, when the connection has
// been closed, whoever closed it. The same pointer every time.
func (ch *Channel) CloseFuture() *core.Future[struct{}] { return ch.whenCut.Future() }

// CloseCause returns nil until the channel is closed, and if it was closed by Close
// or by a drain that came to its end; else why, as in ClosedError.Cause.
func (ch *Channel) CloseCause() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if closed, ok := ch.closed.(*ClosedError); ok {
		return closed.Cause
	}
	return nil
}

// guarded runs a part of the channel's life on its loop. If that does not return,
// because a method of the handler panicked or exited, the channel is closed: nobody
// knows in which state the handler is. The panic goes on to core, which contains and
// reports it (G14); it has not been unwound yet, so that its stack is complete.
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

// handlerError is ErrHandlerFailed, and how.
type handlerError struct{ how error }

func (e *handlerError) Error() string   { return ErrHandlerFailed.Error() + ": " + e.how.Error() }
func (e *handlerError) Unwrap() []error { return []error{ErrHandlerFailed, e.how} }

// post runs f on the loop, in order; false if the channel has ended.
func (ch *Channel) post(f func()) bool {
	return ch.reg.Post(func() { ch.guarded(f) })
}
