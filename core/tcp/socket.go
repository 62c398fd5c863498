package tcp

import (
	"net/netip"
	"os"
	"syscall"

	"eventide/core"
)

// Socket replaces the kernel's socket of a channel: it has the operations that a channel
// needs. Package tcptest implements it in memory, for tests of handlers. The loop calls the
// methods, one at a time; none may block. An errno of 0 means success.
type Socket interface {
	// FD returns the number that identifies the connection to the poller of the loop. The
	// poller must be one given by core.WithPoller that knows the number.
	FD() int

	// Read reads into p. It returns 0 and 0 at the end of the stream, and EAGAIN if there
	// is no input.
	Read(p []byte) (int, syscall.Errno)

	// Send takes at least one byte of p, or returns EAGAIN if there is no room.
	Send(p []byte) (int, syscall.Errno)

	// ShutdownWrite ends the output.
	ShutdownWrite() error

	// Close closes the connection. With reset, the peer gets a reset instead of an orderly
	// end.
	Close(reset bool) error

	// Unacknowledged returns how many sent bytes the peer has not acknowledged yet.
	Unacknowledged() int

	// Err returns the error of the connection, or 0.
	Err() syscall.Errno

	// Addrs returns the addresses of both ends.
	Addrs() (local, remote netip.AddrPort)
}

// Embed makes socket an active channel of loop. The poller of loop must know the
// socket. Embed is for tests of handlers, see package tcptest, and works on every
// system. Options for a kernel's socket have no effect.
//
// The future completes when Handler.Active has returned or panicked. Its listeners run on
// loop. If it completes with an error, the caller still owns socket.
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
		err = loop.TryExecute(func() { c.beginEmbedded(p) })
		if err != nil {
			err = refusedByLoop("Embed", err)
		}
	}
	if err != nil {
		p.TryFailure(err)
	}
	return p.Future()
}

// beginEmbedded runs on the loop.
func (c *Channel) beginEmbedded(p *core.Promise[*Channel]) {
	err := errPollerEndedCall // stays so if the poller panics
	defer func() {
		if err != nil {
			p.TryFailure(refusedByLoop("Embed", err))
			return
		}
		p.TrySuccess(c) // also if Active panics
	}()
	if err = c.register(); err == nil {
		c.activate()
	}
}

// The system calls of a channel. A Socket gets copies of the buffers: passing a caller's
// buffer to an interface would force every buffer of every caller onto the heap.

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

// sysClose closes the connection, with a reset after WithLinger(0).
func (c *Channel) sysClose() error {
	reset := c.cfg.resetsOnClose()
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
