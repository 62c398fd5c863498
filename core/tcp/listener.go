package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
)

// Listener accepts connections on a loop of the boss group and gives each to the
// next loop of the worker group. All methods may be called from any goroutine, from
// the loops too; none waits.
type Listener struct {
	// Set once.
	boss       *core.EventLoop
	workers    loops
	newHandler func() Handler
	cfg        *config
	fd         int
	addr       netip.AddrPort

	// Set once by Listen, with mu held: the loop may come before it returns.
	reg *core.Registration

	// Atomic.
	accepted, refused, paused atomic.Int64

	// Guarded by mu.
	mu       sync.Mutex
	closed   bool
	cause    error
	closeErr error
	future   *core.Promise[struct{}]
	result   *core.Promise[struct{}]

	// Loop only.
	retry     *time.Timer
	delay     time.Duration
	held      accepted // on its way to a worker, which may have no room
	holds     bool     // there is one
	accepting bool     // accept is below us on the stack, or what follows it
	ending    error    // why it is to close, once it has handed over what came before
}

// ListenerStats counts what a listener has done.
type ListenerStats struct {
	Accepted int64 // connections taken from the kernel
	Refused  int64 // of these, closed because no worker or no handler took them
	Paused   int64 // times it stopped for a while: accept failed, or a worker's queue was full
}

// listenerLoopSide is the listener as its loop sees it (core.Channel).
type listenerLoopSide Listener

// Listen listens on addr, "host:port" as in package net with "tcp": an empty host,
// 0.0.0.0 and [::] are every local address, of IPv4 and of IPv6; of the addresses of a
// name it takes the first, of IPv4 if there is one; port 0 is a free one, and so is that
// of the empty addr. The listener
// runs on the next loop of boss; each connection becomes a channel on the next loop of
// worker, with a handler that newHandler returns, called there. Both groups may be the
// same.
//
// When it returns, connections are accepted. It waits only to look up a name, if
// addr has one. While a worker's queue is full (core.WithMaxPendingTasks) the listener
// pauses, and connections wait in the kernel's backlog; a core.WithRejectedHandler is
// not asked. A worker that was shut down is passed over, and a connection is closed
// when all were. A shutdown of the boss ends the listener.
func Listen(boss, worker *core.Group, addr string, newHandler func() Handler, opts ...Option) (*Listener, error) {
	return listen("Listen", loops{group: boss}, loops{group: worker}, addr, newHandler, opts)
}

// ListenOn is Listen with one loop for the listener and its channels.
func ListenOn(loop *core.EventLoop, addr string, newHandler func() Handler, opts ...Option) (*Listener, error) {
	return listen("ListenOn", loops{loop: loop}, loops{loop: loop}, addr, newHandler, opts)
}

func listen(call string, boss, workers loops, addr string, newHandler func() Handler, opts []Option) (*Listener, error) {
	if !supported {
		return nil, fmt.Errorf("tcp: %s: %w", call, errors.ErrUnsupported)
	}
	if err := errors.Join(boss.check(call, "boss"), workers.check(call, "worker")); err != nil {
		return nil, err
	}
	if newHandler == nil {
		return nil, argumentError(call, "newHandler is nil, want a function")
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	at := addr
	if at == "" {
		at = ":0" // as in package net
	}
	addrs, err := resolve(context.Background(), at)
	if err != nil {
		return nil, fmt.Errorf("tcp: %s %s: %w", call, addr, err)
	}
	fd, err := sysListen(cfg, firstIPv4(addrs))
	if err != nil {
		return nil, fmt.Errorf("tcp: %s %s: %w", call, addr, err)
	}
	l := &Listener{
		boss: boss.next(), workers: workers, newHandler: newHandler,
		cfg: cfg, fd: fd, addr: sysLocalAddr(fd), delay: firstAcceptDelay,
	}
	if err := l.register(); err != nil {
		_ = sysClose(nil, fd)
		return nil, refusedByLoop(call, err)
	}
	return l, nil
}

// register keeps the lock until the listener knows its registration: what the loop
// has to say may come at once.
func (l *Listener) register() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reg, err = l.boss.RegisterChannel(l.fd, core.Readable, (*listenerLoopSide)(l))
	return err
}

func (l *Listener) registration() *core.Registration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reg
}

// Addr returns the address on which the listener listens.
func (l *Listener) Addr() net.Addr { return netAddr(l.addr) }

// EventLoop returns the loop of the listener.
func (l *Listener) EventLoop() *core.EventLoop { return l.boss }

// Stats returns what has happened so far.
func (l *Listener) Stats() ListenerStats {
	return ListenerStats{l.accepted.Load(), l.refused.Load(), l.paused.Load()}
}

// CloseCause returns why the listener closed: ErrListenerClosed after Close, the
// cause of the shutdown, or the error of the socket. Nil before.
func (l *Listener) CloseCause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Close ends the listener. Its channels go on, and connections that the kernel has
// accepted become channels still; if a worker's queue is full it waits until there is
// room for them. The future completes when the socket is closed: from then on
// connections are refused, and the address is free. Its error is that of close(2). A
// second call returns the same future.
func (l *Listener) Close() *core.Future[struct{}] {
	l.mu.Lock()
	p, closed, err := l.promise(&l.result), l.closed, l.closeErr
	l.mu.Unlock()
	switch {
	case closed:
		settle(p, err)
	case l.boss.InEventLoop():
		l.closeInOrder(ErrListenerClosed)
	default:
		l.registration().Post(func() { l.closeInOrder(ErrListenerClosed) })
	}
	return p.Future()
}

// CloseFuture returns the future that completes, always with nil, when the socket
// is closed, for whatever reason.
func (l *Listener) CloseFuture() *core.Future[struct{}] {
	l.mu.Lock()
	p, closed := l.promise(&l.future), l.closed
	l.mu.Unlock()
	if closed {
		settle(p, nil)
	}
	return p.Future()
}

// promise requires mu.
func (l *Listener) promise(p **core.Promise[struct{}]) *core.Promise[struct{}] {
	if *p == nil {
		*p = core.NewPromise[struct{}](l.boss)
		(*p).SetUncancellable()
	}
	return *p
}

// close is loop only. A connection in hand is closed and counted before, and logged at
// last: the logger may not return.
func (l *Listener) close(cause error) {
	reg := l.registration()
	if l.CloseCause() != nil {
		return
	}
	if l.retry != nil {
		l.retry.Stop()
	}
	if l.holds {
		l.holds = false
		defer l.logRefusal(l.refused.Add(1), cause)
		_ = sysClose(nil, l.held.fd)
	}
	defer l.closeSocket(reg, cause) // a poller may panic: the listener ends all the same
	_ = reg.Modify(0)               // before the number of the descriptor may be used again
}

// closeSocket is close once the poller has been asked to let go.
func (l *Listener) closeSocket(reg *core.Registration, cause error) {
	err := sysClose(l.cfg.faults, l.fd)
	l.mu.Lock()
	l.closed, l.cause, l.closeErr = true, cause, err
	future, result := l.future, l.result
	l.mu.Unlock()
	settle(future, nil)
	settle(result, err)
	reg.End(core.ChannelEnd{Kind: core.EndUncounted})
}

// closeInOrder closes the listener when all connections that came before have been
// handed over: now, unless a worker's queue is full. Loop only.
func (l *Listener) closeInOrder(cause error) {
	if l.ending == nil {
		l.ending = cause
	}
	switch {
	case l.accepting: // it follows
	case l.CloseCause() == nil && !l.takeBacklog():
		l.pause(core.ErrQueueFull)
	default:
		l.close(l.ending)
	}
}

// Drain is core.Channel's: all that a listener has to drain is its backlog.
func (s *listenerLoopSide) Drain(core.Deadline) { (*Listener)(s).closeInOrder(core.ErrShutdown) }

// Abort is core.Channel's.
func (s *listenerLoopSide) Abort(cause error) { (*Listener)(s).close(cause) }
