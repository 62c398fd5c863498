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

// Listener accepts connections on a loop of the boss group and makes each a channel on the
// next loop of the worker group. All methods may be called from any goroutine, also on the
// loops; none blocks. Make one with Listen or ListenOn: the zero Listener is not usable.
type Listener struct {
	// Set once.
	boss       *core.EventLoop
	workers    loops
	newHandler func() Handler
	cfg        *config
	fd         int
	addr       netip.AddrPort

	// Set once by register, with mu held: the loop may use it before Listen returns.
	reg *core.Registration

	// Atomic.
	accepted, refused, paused atomic.Int64

	// Guarded by mu.
	mu        sync.Mutex
	closed    bool
	cause     error
	closeErr  error
	futures   closePromises // of CloseFuture and Close
	announced bool          // these futures are complete

	// Loop only.
	retry      *time.Timer
	delay      time.Duration
	current    accepted // if hasCurrent: the connection to hand off, which may wait for room
	hasCurrent bool
	accepting  bool  // accept or its caller is on the stack; closeInOrder leaves the close to it
	ending     error // the cause of a close that waits for the backlog to be handed off
}

// ListenerStats has the counters of a listener.
type ListenerStats struct {
	Accepted int64 // connections taken from the kernel
	Refused  int64 // of these, closed because no worker accepted them or no handler was made
	Paused   int64 // pauses, after an error of accept or because a worker's queue was full
}

// listenerLoopSide implements core.Channel for the loop of the listener.
type listenerLoopSide Listener

// Listen listens on addr, "host:port" as in package net with "tcp". An empty host,
// 0.0.0.0 and [::] mean every local address, of IPv4 and of IPv6. For a name, Listen takes
// its first IPv4 address, or its first address if none is IPv4. Port 0, and an empty addr,
// mean a free port.
//
// The listener runs on the next loop of boss. Each connection becomes a channel on the next
// loop of worker, and newHandler is called on that loop to make its handler. Both groups
// may be the same.
//
// Connections are accepted once Listen has returned. It blocks only to look up a name in
// addr. While a worker's queue is full (core.WithMaxPendingTasks) the listener
// pauses, and connections wait in the kernel's backlog; a core.WithRejectedHandler is
// not called. Workers that were shut down are skipped; if all were, connections are closed.
// A shutdown of the boss closes the listener.
func Listen(boss, worker *core.Group, addr string, newHandler func() Handler, opts ...Option) (*Listener, error) {
	return listen("Listen", loops{name: "boss", group: boss}, loops{name: "worker", group: worker}, addr, newHandler, opts)
}

// ListenOn is Listen with one loop for the listener and its channels.
func ListenOn(loop *core.EventLoop, addr string, newHandler func() Handler, opts ...Option) (*Listener, error) {
	return listen("ListenOn", loops{loop: loop}, loops{loop: loop}, addr, newHandler, opts)
}

func listen(call string, boss, workers loops, addr string, newHandler func() Handler, opts []Option) (*Listener, error) {
	if !supported {
		return nil, fmt.Errorf("tcp: %s: %w", call, errors.ErrUnsupported)
	}
	err := boss.check(call)
	if workers != boss {
		err = errors.Join(err, workers.check(call))
	}
	if err != nil {
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
	registered := false
	defer func() {
		if !registered { // also if the poller panics, or the spawner calls runtime.Goexit
			_ = sysClose(nil, fd)
		}
	}()
	if err := l.register(); err != nil {
		return nil, refusedByLoop(call, err)
	}
	registered = true
	return l, nil
}

// register holds mu until reg is set: the loop may call the listener before
// RegisterChannel returns.
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

// Stats returns the counters as of now.
func (l *Listener) Stats() ListenerStats {
	return ListenerStats{l.accepted.Load(), l.refused.Load(), l.paused.Load()}
}

// CloseCause returns the cause of the close: ErrListenerClosed after Close, the cause of
// the shutdown, or the error of the socket. It is nil while the listener is open.
func (l *Listener) CloseCause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Close closes the listener. Its channels stay open. Connections that the kernel has
// accepted still become channels; if a worker's queue is full, the close waits for room. The
// future completes when the socket is closed: from then on connections are refused, and the
// address is free. Its error is that of close(2). A second call returns the same future.
func (l *Listener) Close() *core.Future[struct{}] {
	l.mu.Lock()
	p, closed, announced, err := l.promise(&l.futures.close), l.closed, l.announced, l.closeErr
	l.mu.Unlock()
	switch {
	case announced:
		completePromise(p, err)
	case closed: // announceClose will complete it
	case l.boss.InEventLoop():
		l.closeInOrder(ErrListenerClosed)
	default:
		l.registration().Post(func() { l.closeInOrder(ErrListenerClosed) })
	}
	return p.Future()
}

// CloseFuture returns the future that completes, always with nil, when the socket
// is closed, whatever the cause.
func (l *Listener) CloseFuture() *core.Future[struct{}] {
	l.mu.Lock()
	p, announced := l.promise(&l.futures.closed), l.announced
	l.mu.Unlock()
	if announced {
		completePromise(p, nil)
	}
	return p.Future()
}

// promise returns *p, and makes it if it is nil. Requires mu.
func (l *Listener) promise(p **core.Promise[struct{}]) *core.Promise[struct{}] {
	if *p == nil {
		*p = core.NewPromise[struct{}](l.boss)
		(*p).SetUncancellable()
	}
	return *p
}

// close closes the listener at once. The current connection is closed and counted first,
// and logged last, because the logger may panic or call runtime.Goexit. Loop only.
func (l *Listener) close(cause error) {
	reg := l.registration()
	if l.CloseCause() != nil {
		return
	}
	if l.retry != nil {
		l.retry.Stop()
	}
	if l.hasCurrent {
		l.hasCurrent = false
		defer l.logRefusal(l.refused.Add(1), cause)
		_ = sysClose(l.cfg.faults, l.current.fd)
	}
	defer l.closeSocket(reg, cause) // also if Modify panics: it is the code of a poller
	_ = reg.Modify(0)               // before the kernel can reuse the number of the descriptor
}

// closeSocket is the part of close that follows Modify.
func (l *Listener) closeSocket(reg *core.Registration, cause error) {
	err := sysClose(l.cfg.faults, l.fd)
	l.mu.Lock()
	l.closed, l.cause, l.closeErr = true, cause, err
	l.mu.Unlock()
	l.announceClose()
	reg.End(core.ChannelEnd{Kind: core.EndUncounted})
}

// announceClose is that of a channel (G22). Loop only.
func (l *Listener) announceClose() {
	var done closePromises
	for {
		l.mu.Lock()
		if l.futures == done {
			l.announced = true
			l.mu.Unlock()
			return
		}
		done = l.futures
		closeErr := l.closeErr
		l.mu.Unlock()
		completePromise(done.closed, nil)
		completePromise(done.close, closeErr)
	}
}

// closeInOrder closes the listener once the connections in its backlog have been handed
// off: at once, unless a worker's queue is full. Loop only.
func (l *Listener) closeInOrder(cause error) {
	if l.ending == nil {
		l.ending = cause
	}
	switch {
	case l.accepting: // afterAccept or accept's caller closes
	case l.CloseCause() == nil && !l.takeBacklog():
		l.pause(core.ErrQueueFull)
	default:
		l.close(l.ending)
	}
}

// Drain implements core.Channel: a listener drains its backlog.
func (s *listenerLoopSide) Drain(core.Deadline) { (*Listener)(s).closeInOrder(core.ErrShutdown) }

// Abort implements core.Channel.
func (s *listenerLoopSide) Abort(cause error) { (*Listener)(s).close(cause) }
