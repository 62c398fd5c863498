package tcp

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// sysConnect returns a socket whose connect has begun.
//
// If the port that is dialled is free and of the ephemeral range, the kernel may choose
// it for the local end too. The socket then connects to itself: TCP allows two ends to
// open at once, and both ends are this one. As in package net, such a socket is given up
// and another one is tried, which gets another port; after the last attempt the dial is
// refused, since nobody listens on that port.
func sysConnect(c *config, addr netip.AddrPort) (int, error) {
	for range mostConnects {
		fd, err := connectOnce(c, addr)
		if err != nil || !connectsToItself(fd, addr) {
			return fd, err
		}
		sysResetOnClose(fd) // so that no connection of this address is left behind
		_ = unix.Close(fd)
	}
	return -1, os.NewSyscallError("connect", unix.ECONNREFUSED)
}

// mostConnects is how many sockets a dial tries while they connect to themselves.
const mostConnects = 3

// connectsToItself reports whether fd, which connects to addr, is at addr itself. The kernel
// has chosen the local address when connect(2) returns. An unspecified addr is the machine
// itself, at the address that the local end has.
func connectsToItself(fd int, addr netip.AddrPort) bool {
	local := sysLocalAddr(fd)
	if local.Port() != addr.Port() {
		return false
	}
	return addr.Addr().IsUnspecified() || local.Addr().WithZone("") == addr.Addr().WithZone("")
}

// connectOnce is one attempt of sysConnect.
func connectOnce(c *config, addr netip.AddrPort) (fd int, err error) {
	fd, err = newSocket(addr.Addr())
	if err != nil {
		return -1, err
	}
	setBuffers(c, func(level, option, value int) {
		if err == nil {
			err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
		}
	})
	if err == nil {
		err = c.faults.socketMade(fd)
	}
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
