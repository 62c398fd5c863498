//go:build linux

package kernel

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a net.Conn of the process under test, with the methods of a *net.TCPConn that core
// uses: CloseWrite, SetLinger, deadlines, SyscallConn. TestConnSameAsNet of package sockets
// runs the same scripts on it and on package net.
type Conn struct {
	descriptor
	s             *socket
	local, remote net.Addr
	in, out       deadline
	over          chan struct{} // closed by Close
}

// deadline is the deadline of the reads, or of the writes, of a Conn. Guarded by
// Kernel.mu.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set sets the deadline. wake is called with mu held when it passes.
func (d *deadline) set(at time.Time, k *Kernel, wake func()) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = at
	switch left := time.Until(at); {
	case at.IsZero():
	case left > 0:
		d.timer = k.after(left, wake)
	default:
		wake()
	}
}

// NewConn returns the connection of a descriptor that is connected.
func (k *Kernel) NewConn(fd int) (*Conn, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("NewConn", fd)
	if errno != 0 {
		return nil, errno
	}
	return &Conn{descriptor: descriptor{k: k, fd: fd}, s: s, local: net.TCPAddrFromAddrPort(s.local), remote: net.TCPAddrFromAddrPort(s.remote), over: make(chan struct{})}, nil
}

// Dial connects the process under test to an address.
func (k *Kernel) Dial(to netip.AddrPort) (*Conn, error) {
	fd, errno := k.Socket(unix.AF_INET)
	if errno != 0 {
		return nil, os.NewSyscallError("socket", errno)
	}
	errno = k.Connect(fd, to)
	for errno == syscall.EINPROGRESS || errno == syscall.EINTR {
		k.mu.Lock()
		s, wait := k.open[fd].(*socket), (<-chan struct{})(nil)
		if errno = 0; s.state == synSent {
			wait = s.wait()
		} else {
			errno = s.takeError()
		}
		k.mu.Unlock()
		if wait != nil {
			<-wait
			errno = syscall.EINPROGRESS
		}
	}
	if errno != 0 {
		k.Close(fd)
		return nil, os.NewSyscallError("connect", errno)
	}
	return k.NewConn(fd)
}

// until calls try until it does not return EAGAIN, after each wake-up of the socket. d is nil, or
// the deadline.
func (c *descriptor) until(s *socket, d *deadline, try func() syscall.Errno) error {
	if c.use() != nil {
		return net.ErrClosed
	}
	defer c.release()
	for {
		c.k.mu.Lock()
		over, late := c.closed, d != nil && d.passed()
		wait := s.wait() // before try, so that no wake-up in between is missed
		c.k.mu.Unlock()
		switch {
		case over:
			return net.ErrClosed
		case late:
			return os.ErrDeadlineExceeded
		}
		switch errno := try(); errno {
		case 0:
			return nil
		case syscall.EAGAIN:
			<-wait
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// failed returns the error of a call of package net.
func (c *Conn) failed(op string, err error) error {
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.As(err, &errno):
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Read is net.Conn's.
func (c *Conn) Read(p []byte) (n int, err error) {
	err = c.until(c.s, &c.in, func() (errno syscall.Errno) {
		if len(p) > 0 {
			n, errno = c.k.Read(c.fd, p)
		}
		return errno
	})
	if err == nil && n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, c.failed("read", err)
}

// Write is net.Conn's. End.Blocked is true during the call.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.block(1)
	defer c.block(-1)
	err = c.until(c.s, &c.out, func() syscall.Errno {
		for n < len(p) {
			sent, errno := c.k.Send(c.fd, p[n:])
			n += sent
			if errno != 0 {
				return errno
			}
		}
		return 0
	})
	return n, c.failed("write", err)
}

// AwaitRoom returns when a Write of one byte would not wait: there is room, the write deadline has passed, or
// the connection is closed or broken. End.Blocked is true during the call.
func (c *Conn) AwaitRoom() error {
	c.block(1)
	defer c.block(-1)
	return c.until(c.s, &c.out, func() syscall.Errno {
		c.k.mu.Lock()
		defer c.k.mu.Unlock()
		if c.s.connected() && !c.s.noOutput && len(c.s.output) >= c.s.sendBuffer {
			c.s.noSpace = true
			return syscall.EAGAIN
		}
		return 0
	})
}

func (c *Conn) block(by int) {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	c.s.blocked += by
}

// Close is net.Conn's. As in package net, it returns when no other call uses the descriptor.
func (c *Conn) Close() error {
	if !c.closeUnused(func() {
		c.in.set(time.Time{}, c.k, nil)
		c.out.set(time.Time{}, c.k, nil)
		c.s.unpark()
		close(c.over)
	}) {
		return c.failed("close", net.ErrClosed)
	}
	return nil
}

// Closed returns a channel that Close closes.
func (c *Conn) Closed() <-chan struct{} { return c.over }

// CloseWrite is net.TCPConn's.
func (c *Conn) CloseWrite() error {
	if c.use() != nil {
		return c.failed("close", net.ErrClosed)
	}
	defer c.release()
	if errno := c.k.Shutdown(c.fd); errno != 0 {
		return c.failed("close", os.NewSyscallError("shutdown", errno))
	}
	return nil
}

// SetLinger is net.TCPConn's. End.Linger has the last value.
func (c *Conn) SetLinger(seconds int) error {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	c.s.linger, c.s.resets = seconds, seconds == 0
	return nil
}

// LocalAddr is net.Conn's.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is net.Conn's.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is net.Conn's.
func (c *Conn) SetDeadline(at time.Time) error { return c.setDeadlines(at, &c.in, &c.out) }

// SetReadDeadline is net.Conn's.
func (c *Conn) SetReadDeadline(at time.Time) error { return c.setDeadlines(at, &c.in) }

// SetWriteDeadline is net.Conn's.
func (c *Conn) SetWriteDeadline(at time.Time) error { return c.setDeadlines(at, &c.out) }

func (c *Conn) setDeadlines(at time.Time, of ...*deadline) error {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	for _, d := range of {
		d.set(at, c.k, c.s.unpark)
	}
	return nil
}

// SyscallConn is net.TCPConn's.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return rawSocket{&c.descriptor}, nil }

// rawSocket is the syscall.RawConn of a Conn or a Listener.
type rawSocket struct{ d *descriptor }

func (r rawSocket) Control(do func(fd uintptr)) error { return r.d.control(do) }

func (rawSocket) Read(func(uintptr) bool) error {
	panic("kernel: RawConn.Read of a connection, which the model does not have")
}

func (rawSocket) Write(func(uintptr) bool) error {
	panic("kernel: RawConn.Write, which the model does not have")
}
