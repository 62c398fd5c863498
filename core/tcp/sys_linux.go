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

// The calls that transfer data are raw system calls, which the scheduler does not see: they
// never block, because every descriptor is non-blocking. Each is retried after EINTR.

const supported = true

// vector is the argument of a gathering write. Its 64 chunks are 512 KiB; IOV_MAX would
// allow 1024 chunks.
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

// sysSend is send(2) with MSG_NOSIGNAL, so that it raises no SIGPIPE.
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

// sysSendChunks sends at most total bytes of the gathered chunks in one call. It is
// sendmsg(2), because writev(2) cannot take MSG_NOSIGNAL.
func sysSendChunks(f *faults, fd int, v *vector, total int) (int, syscall.Errno) {
	defer clear(v.iov[:]) // so that v does not retain chunks
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

// gather points v to the first bytes of o, at most limit, and returns their number.
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
	if errno := f.failing(opShutdown); errno != 0 {
		return os.NewSyscallError("shutdown", errno)
	}
	return os.NewSyscallError("shutdown", unix.Shutdown(fd, unix.SHUT_WR))
}

func sysClose(f *faults, fd int) error {
	err := unix.Close(fd)
	if errno := f.failing(opClose); errno != 0 {
		err = errno
	}
	if err == unix.EINTR {
		return nil // Linux has closed the descriptor nevertheless
	}
	return os.NewSyscallError("close", err)
}

// sysUnacknowledged returns how many sent bytes the peer's kernel has not acknowledged. Our
// FIN counts as one.
func sysUnacknowledged(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return n, os.NewSyscallError("ioctl", err)
}

// sysConnectionIsOver reports whether the connection has ended: the kernel sends no more
// bytes, acknowledged or not. SO_ERROR would return the cause, but also clear it.
func sysConnectionIsOver(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err != nil || info.State == unix.BPF_TCP_CLOSE
}

// sysResetOnClose makes the close of fd a reset.
func sysResetOnClose(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// sysSocketError returns and clears the pending error of the socket, which may be that of
// a connect.
func sysSocketError(f *faults, fd int, op operation) syscall.Errno {
	if errno := f.failing(op); errno != 0 {
		return errno
	}
	v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		return errno
	}
	return syscall.Errno(v)
}

// sysAccept returns a non-blocking connection, or an errno other than EINTR.
func sysAccept(f *faults, fd int) (conn int, remote netip.AddrPort, errno syscall.Errno) {
	for {
		if errno = f.failing(opAccept); errno == 0 {
			conn, remote, errno = accept(fd)
		}
		if errno != syscall.EINTR {
			return conn, remote, errno
		}
	}
}

func accept(fd int) (conn int, remote netip.AddrPort, errno syscall.Errno) {
	conn, sa, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	errno, _ = err.(syscall.Errno)
	return conn, fromSockaddr(sa), errno
}

// isConnectionError reports whether an error of accept concerns one connection only, which
// is gone. Linux returns errors that the connection had before (accept(2), "Error
// handling").
func isConnectionError(errno syscall.Errno) bool {
	switch errno {
	case unix.ECONNABORTED, unix.ETIMEDOUT, unix.EPROTO, unix.ENOPROTOOPT, unix.EOPNOTSUPP,
		unix.ENETDOWN, unix.ENETUNREACH, unix.EHOSTDOWN, unix.EHOSTUNREACH, unix.ENONET:
		return true
	}
	return false
}

// isListenerError reports whether no later accept can succeed. Errors of neither kind may
// be lasting or not: no descriptors, no memory, EPERM by a firewall. The tempting
// wrong version treats unknown errors as those of one connection, and accepts in a busy
// loop.
func isListenerError(errno syscall.Errno) bool {
	return errno == unix.EBADF || errno == unix.EINVAL || errno == unix.ENOTSOCK
}

// sysListen returns a listening socket. An invalid addr, and the unspecified address of
// either family, mean every local address of all families that the system has.
func sysListen(c *config, addr netip.AddrPort) (fd int, err error) {
	ip := addr.Addr().WithZone("")
	if ip.IsValid() && !ip.IsUnspecified() {
		return listenOn(c, addr)
	}
	fd, err = listenOn(c, netip.AddrPortFrom(netip.IPv6Unspecified(), addr.Port()))
	if noIPv6(err) && !ip.Is6() {
		return listenOn(c, netip.AddrPortFrom(netip.IPv4Unspecified(), addr.Port()))
	}
	return fd, err
}

// noIPv6 reports whether err means that the system has no IPv6: the kernel has no such
// sockets, or no address to bind them to. The tempting wrong version takes every error for
// that: if the IPv6 port is taken, it listens on IPv4 alone, and clients that use IPv6 reach
// the other listener.
func noIPv6(err error) bool {
	return errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPROTONOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL)
}

func listenOn(c *config, addr netip.AddrPort) (fd int, err error) {
	fd, err = newSocket(addr.Addr())
	if err != nil {
		return -1, err
	}
	err = c.faults.socketMade(fd)
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
		// The default is a setting of the system. The bind to a specific address overrides both.
		set(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
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

// setBuffers sets the socket buffers. Call it before listen or connect: the size of the
// receive buffer determines the window scale of the handshake.
func setBuffers(c *config, set func(level, option, value int)) {
	if c.recv > 0 {
		set(unix.SOL_SOCKET, unix.SO_RCVBUF, c.recv)
	}
	if c.send > 0 {
		set(unix.SOL_SOCKET, unix.SO_SNDBUF, c.send)
	}
}

// sysTune sets the options of a connection. It ignores errors: the connection works
// without them.
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
	sa, _ := unix.Getsockname(fd) // nil after an error: no address
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
