//go:build linux

package sockets

import (
	"net/netip"
	"syscall"
	"time"

	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// embedded is a socket of the kernel as a tcp.Socket. It makes the same calls as package tcp
// does for sockets of its own.
type embedded struct {
	k             *kernel.Kernel
	fd            int
	local, remote netip.AddrPort
}

func (s *embedded) FD() int { return s.fd }
func (s *embedded) Read(p []byte) (int, syscall.Errno) {
	return uninterrupted(func() (int, syscall.Errno) { return s.k.Read(s.fd, p) })
}
func (s *embedded) Send(p []byte) (int, syscall.Errno) {
	return uninterrupted(func() (int, syscall.Errno) { return s.k.Send(s.fd, p) })
}
func (s *embedded) Addrs() (local, remote netip.AddrPort) { return s.local, s.remote }

func (s *embedded) ShutdownWrite() error { return asError(s.k.Shutdown(s.fd)) }

func (s *embedded) Close(reset bool) error {
	if reset {
		s.k.ResetOnClose(s.fd)
	}
	errno := s.k.Close(s.fd)
	if errno == syscall.EINTR {
		errno = 0
	}
	return asError(errno)
}

func (s *embedded) Unacknowledged() int {
	n, _ := s.k.Unacknowledged(s.fd)
	return n
}

func (s *embedded) Err() syscall.Errno {
	errno, _ := s.k.Broken(s.fd)
	return errno
}

func asError(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// uninterrupted repeats a call that a signal has interrupted.
func uninterrupted(call func() (int, syscall.Errno)) (n int, errno syscall.Errno) {
	for {
		if n, errno = call(); errno != syscall.EINTR {
			return n, errno
		}
	}
}

// embed connects a socket to the peer, and makes it a channel of a worker. It returns the
// peer's end, or nil if the socket cannot connect.
func (c *conn) embed() *kernel.Peer {
	l := c.listen()
	if l == nil {
		return nil
	}
	s := c.r.connected(l.Local())
	if s == nil {
		return nil
	}
	c.dialBegins()
	tcp.Embed(c.r.loop(), s, c.handler(), c.r.options()...).OnDone(func(ch *tcp.Channel, err error) {
		if err != nil {
			_ = s.Close(false) // the caller of Embed still owns the socket
		}
		c.dialEnds(ch, err)
	})
	peer, errno := l.Accept()
	if errno != 0 {
		return nil
	}
	return c.r.keep(peer)
}

// connected returns a socket that is connected to an address, or nil.
func (r *run) connected(to netip.AddrPort) *embedded {
	fd, errno := r.k.Socket(unix.AF_INET)
	if errno != 0 {
		return nil
	}
	r.k.Connect(fd, to)
	s := &embedded{k: r.k, fd: fd}
	for state, _ := r.k.State(fd); state == unix.BPF_TCP_SYN_SENT; state, _ = r.k.State(fd) {
		time.Sleep(time.Millisecond) // whole milliseconds: see settleTime
	}
	s.local, _, _ = r.k.Local(fd)
	if s.remote, errno = r.k.Remote(fd); errno != 0 {
		_ = s.Close(false)
		return nil
	}
	return s
}
