package tcp

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// sysConnect returns a socket whose connect has begun.
//
// If no socket listens on the dialled port of this machine, and the port is in the
// ephemeral range, the kernel may choose the same port for the local end. The socket then
// connects to itself: TCP allows a simultaneous open, and both ends are this socket. Like
// package net, sysConnect closes such a socket and tries another one, which gets another
// port. After the last attempt it returns ECONNREFUSED, because no socket listens there.
func sysConnect(c *config, addr netip.AddrPort) (int, error) {
	for range mostConnects {
		fd, err := connectOnce(c, addr)
		if err != nil || !connectsToItself(fd, addr) {
			return fd, err
		}
		sysResetOnClose(fd) // leaves no connection with this address in TIME_WAIT
		_ = unix.Close(fd)
	}
	return -1, os.NewSyscallError("connect", unix.ECONNREFUSED)
}

// mostConnects bounds the sockets that one dial tries.
const mostConnects = 3

// connectsToItself reports whether the local address of fd is addr, to which it connects.
// The kernel has chosen the local address when connect(2) returns. An unspecified addr means
// this machine, so then the ports alone decide.
func connectsToItself(fd int, addr netip.AddrPort) bool {
	local := sysLocalAddr(fd)
	if local.Port() != addr.Port() {
		return false
	}
	return addr.Addr().IsUnspecified() || local.Addr().WithZone("") == addr.Addr().WithZone("")
}

// connectOnce makes a socket and begins to connect it.
func connectOnce(c *config, addr netip.AddrPort) (fd int, err error) {
	fd, err = newSocket(addr.Addr())
	if err != nil {
		return fd, err
	}
	err = c.faults.socketMade(fd)
	setBuffers(c, func(level, option, value int) {
		if err == nil {
			err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
		}
	})
	if err == nil {
		err = unix.Connect(fd, toSockaddr(addr))
		if err == unix.EINPROGRESS || err == unix.EINTR {
			err = nil
		}
		err = os.NewSyscallError("connect", err)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
