package tcp

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The data calls are raw: they never block, as every descriptor is non-blocking,
// so that the scheduler need not hear of them. Each is retried after EINTR.

const supported = true

// vector is the argument of a gathering write. 64 chunks are half a megabyte, and
// well below IOV_MAX, which is 1024.
type vector struct {
	iov [64]unix.Iovec
	msg unix.Msghdr
}

func sysRead(f *faults, fd int, p []byte) (int, syscall.Errno) {
	for {
		limit, errno := f.before(opRead, len(p))
		var n uintptr
		if errno == 0 {
			n, _, errno = syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(limit))
		}
		if errno != syscall.EINTR {
			return counted(n, errno)
		}
	}
}

// sysSend is send(2) without the SIGPIPE.
func sysSend(f *faults, fd int, p []byte) (int, syscall.Errno) {
	for {
		limit, errno := f.before(opSend, len(p))
		var n uintptr
		if errno == 0 {
			n, _, errno = syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(limit), unix.MSG_NOSIGNAL, 0, 0)
		}
		if errno != syscall.EINTR {
			return counted(n, errno)
		}
	}
}

// sysSendChunks sends at most total bytes from the head of o, in one call. writev
// would do, but has no way to say MSG_NOSIGNAL.
func sysSendChunks(f *faults, fd int, v *vector, total int) (int, syscall.Errno) {
	defer clear(v.iov[:]) // they point into chunks
	for {
		limit, errno := f.before(opSend, total)
		if limit < total {
			v.truncate(limit)
		}
		var sent uintptr
		if errno == 0 {
			sent, _, errno = syscall.RawSyscall(syscall.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_NOSIGNAL)
		}
		if errno != syscall.EINTR {
			return counted(sent, errno)
		}
	}
}

// gather points v to the first bytes of o, at most limit, and returns how many.
func (v *vector) gather(o *outbound, limit int64) (total int) {
	n := 0
	for c := o.head; c != nil && n < len(v.iov) && limit > 0; c = c.next {
		size := int(min(int64(c.to-c.from), limit))
		v.iov[n].Base = &c.buf[c.from]
		v.iov[n].SetLen(size)
		limit -= int64(size)
		total += size
		n++
	}
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(n)
	return total
}

func (v *vector) truncate(limit int) {
	for i := range v.iov {
		size := min(int(v.iov[i].Len), limit)
		v.iov[i].SetLen(size)
		limit -= size
	}
}

func counted(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func sysShutdownWrite(f *faults, fd int) error {
	if _, errno := f.before(opShutdown, 0); errno != 0 {
		return os.NewSyscallError("shutdown", errno)
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(fd, unix.SHUT_WR))
}

func sysClose(f *faults, fd int) error {
	err := unix.Close(fd)
	if _, errno := f.before(opClose, 0); errno != 0 {
		err = errno
	}
	if err == unix.EINTR {
		return nil // it is closed all the same, on Linux
	}
	return os.NewSyscallError("close", err)
}

// sysUnacknowledged returns how many bytes, and the FIN, the peer's kernel has not
// acknowledged.
func sysUnacknowledged(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return n, os.NewSyscallError("ioctl", err)
}

// sysConnectionIsOver reports whether the connection has ended: nothing is sent any
// more, whatever was not acknowledged. SO_ERROR would say why, and forget it.
func sysConnectionIsOver(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err != nil || info.State == unix.BPF_TCP_CLOSE
}

// sysResetOnClose makes the close of fd a reset.
func sysResetOnClose(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// sysSocketError takes the error that the socket holds, the end of a connect included.
func sysSocketError(f *faults, fd int, op operation) syscall.Errno {
	if _, errno := f.before(op, 0); errno != 0 {
		return errno
	}
	v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		return errno
	}
	return syscall.Errno(v)
}

// sysAccept returns a non-blocking connection, or the errno.
func sysAccept(f *faults, fd int) (conn int, remote netip.AddrPort, errno syscall.Errno) {
	for {
		if _, errno := f.before(opAccept, 0); errno != 0 {
			if errno == syscall.EINTR {
				continue
			}
			return -1, remote, errno
		}
		conn, sa, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err == nil {
			return conn, fromSockaddr(sa), 0
		}
		if errno, _ = err.(syscall.Errno); errno != syscall.EINTR {
			return -1, remote, errno
		}
	}
}

// ofConnection: errors of accept that concern one connection, which is gone. Linux
// passes on what had happened to it before (accept(2), "Error handling").
func ofConnection(errno syscall.Errno) bool {
	switch errno {
	case unix.ECONNABORTED, unix.ETIMEDOUT, unix.EPROTO, unix.ENOPROTOOPT, unix.EOPNOTSUPP,
		unix.ENETDOWN, unix.ENETUNREACH, unix.EHOSTDOWN, unix.EHOSTUNREACH, unix.ENONET:
		return true
	}
	return false
}

// ofListener: errors of accept after which none will succeed. All those that are of
// neither kind may stay and may go: no descriptors, no memory, a firewall's EPERM. The
// tempting wrong version takes what it does not know for a connection's, and accepts
// again without end.
func ofListener(errno syscall.Errno) bool {
	return errno == unix.EBADF || errno == unix.EINVAL || errno == unix.ENOTSOCK
}

// sysListen returns a listening socket. An address that is not valid, and the
// unspecified one of either family, is every local address, of both families where there
// are two: as in package net, where only an IPv6 address insists on IPv6.
func sysListen(c *config, addr netip.AddrPort) (fd int, err error) {
	ip := addr.Addr().WithZone("")
	if ip.IsValid() && !ip.IsUnspecified() {
		return listenOn(c, addr, false)
	}
	fd, err = listenOn(c, netip.AddrPortFrom(netip.IPv6Unspecified(), addr.Port()), true)
	if noIPv6(err) && !ip.Is6() {
		return listenOn(c, netip.AddrPortFrom(netip.IPv4Unspecified(), addr.Port()), false)
	}
	return fd, err
}

// noIPv6 reports whether err says that the system has no IPv6: the kernel has no such
// sockets, or nothing to bind them to. The tempting wrong version takes every error for
// that, and a port that is taken for IPv6 becomes a listener that half of the clients do
// not find.
func noIPv6(err error) bool {
	return errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPROTONOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL)
}

func listenOn(c *config, addr netip.AddrPort, both bool) (fd int, err error) {
	fd, err = newSocket(addr.Addr())
	if err != nil {
		return -1, err
	}
	set := func(level, option, value int) {
		if err == nil {
			err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
		}
	}
	if !c.noReuseAddr {
		set(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if c.reusePort {
		set(unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}
	if addr.Addr().Is6() {
		only := 1
		if both {
			only = 0
		}
		set(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	setBuffers(c, set)
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, toSockaddr(addr)))
	}
	if err == nil {
		err = os.NewSyscallError("listen", unix.Listen(fd, c.backlog))
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func newSocket(ip netip.Addr) (int, error) {
	family := unix.AF_INET
	if ip.Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, os.NewSyscallError("socket", err)
}

// setBuffers is done before listen and connect: the size of the receive buffer
// decides about the window scale of the handshake.
func setBuffers(c *config, set func(level, option, value int)) {
	if c.recv > 0 {
		set(unix.SOL_SOCKET, unix.SO_RCVBUF, c.recv)
	}
	if c.send > 0 {
		set(unix.SOL_SOCKET, unix.SO_SNDBUF, c.send)
	}
}

// sysTune sets the options of a connection. They are not worth an error.
func sysTune(c *config, fd int) {
	if !c.delay {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if c.keepAlive > 0 {
		seconds := int((c.keepAlive-1)/time.Second) + 1 // rounded up
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, seconds)
	}
}

func sysLocalAddr(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return fromSockaddr(sa)
}

func toSockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zoneID(a.Addr().Zone())}
}

func fromSockaddr(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(sa.Addr).Unmap()
		if sa.ZoneId != 0 && ip.Is6() {
			ip = ip.WithZone(zoneName(sa.ZoneId))
		}
		return netip.AddrPortFrom(ip, uint16(sa.Port))
	}
	return netip.AddrPort{}
}
