package tcp

import (
	"net/netip"
	"os"
	"syscall"

	"eventide/core"
)

// Socket is a connection that is not the kernel's: what a channel needs of its descriptor.
// Package tcptest has one in memory, for tests of handlers. The loop calls the methods, one
// at a time; none may block. An errno of 0 is success.
type Socket interface {
	// FD returns the number under which the poller of the loop knows the connection. The
	// poller must be one that was given by core.WithPoller.
	FD() int

	// Read reads into p: 0 and 0 at the end of the stream, EAGAIN if there is nothing.
	Read(p []byte) (int, syscall.Errno)

	// Send takes bytes of p, at least one, or EAGAIN if there is no room.
	Send(p []byte) (int, syscall.Errno)

	// ShutdownWrite ends the output.
	ShutdownWrite() error

	// Close closes the connection; with reset, so that the peer sees no orderly end.
	Close(reset bool) error

	// Unacknowledged returns how many sent bytes the peer has not acknowledged.
	Unacknowledged() int

	// Err returns the error of the connection, or 0.
	Err() syscall.Errno

	// Addrs returns the two addresses.
	Addrs() (local, remote netip.AddrPort)
}

// Embed makes an active channel of socket on loop, which must have been given a poller that
// knows the socket. It is for tests of handlers, see package tcptest, and works on every
// system. Options of the kernel's socket have no effect.
//
// Listeners of the future run on loop. Handler.Active has run when it completes. On an error
// socket is still the caller's.
func Embed(loop *core.EventLoop, socket Socket, handler Handler, opts ...Option) *core.Future[*Channel] {
	p := core.NewPromise[*Channel](loop)
	p.SetUncancellable()
	cfg, err := newConfig(opts)
	switch {
	case loop == nil:
		err = argumentError("Embed", "loop is nil, want an event loop")
	case socket == nil:
		err = argumentError("Embed", "socket is nil, want a Socket")
	case handler == nil:
		err = argumentError("Embed", "handler is nil, want a Handler")
	case err == nil:
		cfg.socket = socket
		local, remote := socket.Addrs()
		c := &Channel{loop: loop, handler: handler, cfg: cfg, fd: socket.FD(), local: local, remote: remote}
		err = loop.TryExecute(func() {
			if err := c.register(); err != nil {
				p.TryFailure(refusedByLoop("Embed", err))
				return
			}
			defer p.TrySuccess(c) // Active may panic
			c.activate()
		})
		if err != nil {
			err = refusedByLoop("Embed", err)
		}
	}
	if err != nil {
		p.TryFailure(err)
	}
	return p.Future()
}

// The system calls of a channel. Those of an embedded one get copies of the buffers: an
// interface that saw a caller's buffer would move every buffer of every caller to the heap.

func (c *Channel) sysRead(p []byte) (int, syscall.Errno) {
	if c.cfg.socket == nil {
		return sysRead(c.cfg.faults, c.fd, p)
	}
	buf := make([]byte, len(p))
	n, errno := c.cfg.socket.Read(buf)
	copy(p, buf[:n])
	return n, errno
}

func (c *Channel) sysSend(p []byte) (int, syscall.Errno) {
	if c.cfg.socket == nil {
		return sysSend(c.cfg.faults, c.fd, p)
	}
	return c.cfg.socket.Send(append([]byte(nil), p...))
}

func (c *Channel) sysShutdownWrite() error {
	if c.cfg.socket == nil {
		return sysShutdownWrite(c.cfg.faults, c.fd)
	}
	return c.cfg.socket.ShutdownWrite()
}

// sysClose closes the connection: with a reset, if the options say so.
func (c *Channel) sysClose() error {
	reset := c.cfg.lingers && c.cfg.linger == 0
	if c.cfg.socket != nil {
		return c.cfg.socket.Close(reset)
	}
	if reset {
		sysResetOnClose(c.fd)
	}
	return sysClose(c.cfg.faults, c.fd)
}

func (c *Channel) sysUnacknowledged() (int, error) {
	if c.cfg.socket == nil {
		return sysUnacknowledged(c.fd)
	}
	if errno := c.cfg.socket.Err(); errno != 0 {
		return 0, os.NewSyscallError("ioctl", errno)
	}
	return c.cfg.socket.Unacknowledged(), nil
}

func (c *Channel) sysConnectionIsOver() bool {
	if c.cfg.socket == nil {
		return sysConnectionIsOver(c.fd)
	}
	return c.cfg.socket.Err() != 0
}

func (c *Channel) sysSocketError(op operation) syscall.Errno {
	if c.cfg.socket == nil {
		return sysSocketError(c.cfg.faults, c.fd, op)
	}
	return c.cfg.socket.Err()
}
