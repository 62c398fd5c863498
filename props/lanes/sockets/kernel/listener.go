//go:build linux

package kernel

import (
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listener is a net.Listener of the process under test. Unlike that of package net, its Accept
// returns ECONNABORTED to its caller.
type Listener struct {
	descriptor
	s    *socket
	addr net.Addr
}

// NewListener returns a listener at an address.
func (k *Kernel) NewListener(at netip.AddrPort, backlog int) (*Listener, error) {
	fd, errno := k.Socket(unix.AF_INET)
	if errno == 0 {
		errno = k.Bind(fd, at)
	}
	if errno == 0 {
		errno = k.Listen(fd, backlog)
	}
	if errno != 0 {
		return nil, os.NewSyscallError("listen", errno)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.open[fd].(*socket)
	return &Listener{descriptor: descriptor{k: k, fd: fd}, s: s, addr: net.TCPAddrFromAddrPort(s.local)}, nil
}

// Accept is net.Listener's.
func (l *Listener) Accept() (net.Conn, error) {
	conn := -1
	err := l.until(l.s, nil, func() (errno syscall.Errno) {
		conn, _, errno = l.k.Accept(l.fd)
		return errno
	})
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError("accept4", errno)
	}
	if err != nil {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: err}
	}
	return l.k.NewConn(conn)
}

// Close is net.Listener's.
func (l *Listener) Close() error {
	if !l.closeUnused(l.s.unpark) {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	return nil
}

// Addr is net.Listener's.
func (l *Listener) Addr() net.Addr { return l.addr }

// SyscallConn is net.TCPListener's.
func (l *Listener) SyscallConn() (syscall.RawConn, error) { return rawSocket{&l.descriptor}, nil }
