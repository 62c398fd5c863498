//go:build linux

// Package unix declares the part of golang.org/x/sys/unix that core uses. Its calls are those
// of the current kernel (package kernel). If core uses a name that this package lacks, the
// build fails.
package unix

import (
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// Types of package unix.
type (
	EpollEvent    = unix.EpollEvent
	Errno         = unix.Errno
	Iovec         = unix.Iovec
	Msghdr        = unix.Msghdr
	Linger        = unix.Linger
	ItimerSpec    = unix.ItimerSpec
	Sockaddr      = unix.Sockaddr
	SockaddrInet4 = unix.SockaddrInet4
	SockaddrInet6 = unix.SockaddrInet6
	SockFilter    = unix.SockFilter
	SockFprog     = unix.SockFprog
	TCPInfo       = unix.TCPInfo
)

// Numbers of package unix.
const (
	AF_INET  = unix.AF_INET
	AF_INET6 = unix.AF_INET6

	SOCK_STREAM   = unix.SOCK_STREAM
	SOCK_NONBLOCK = unix.SOCK_NONBLOCK
	SOCK_CLOEXEC  = unix.SOCK_CLOEXEC
	MSG_NOSIGNAL  = unix.MSG_NOSIGNAL
	SHUT_WR       = unix.SHUT_WR
	SIOCOUTQ      = unix.SIOCOUTQ

	BPF_TCP_CLOSE = unix.BPF_TCP_CLOSE
	IPPROTO_TCP   = unix.IPPROTO_TCP
	IPPROTO_IPV6  = unix.IPPROTO_IPV6
	IPV6_V6ONLY   = unix.IPV6_V6ONLY
	SOL_SOCKET    = unix.SOL_SOCKET
	SO_ERROR      = unix.SO_ERROR
	SO_PROTOCOL   = unix.SO_PROTOCOL
	SO_KEEPALIVE  = unix.SO_KEEPALIVE
	SO_LINGER     = unix.SO_LINGER
	SO_RCVBUF     = unix.SO_RCVBUF
	SO_REUSEADDR  = unix.SO_REUSEADDR
	SO_REUSEPORT  = unix.SO_REUSEPORT
	SO_SNDBUF     = unix.SO_SNDBUF

	SO_ATTACH_FILTER = unix.SO_ATTACH_FILTER
	SO_DETACH_FILTER = unix.SO_DETACH_FILTER
	F_DUPFD_CLOEXEC  = unix.F_DUPFD_CLOEXEC
	TCP_INFO         = unix.TCP_INFO
	TCP_KEEPIDLE     = unix.TCP_KEEPIDLE
	TCP_KEEPINTVL    = unix.TCP_KEEPINTVL
	TCP_NODELAY      = unix.TCP_NODELAY

	BPF_ABS = unix.BPF_ABS
	BPF_ALU = unix.BPF_ALU
	BPF_AND = unix.BPF_AND
	BPF_B   = unix.BPF_B
	BPF_JEQ = unix.BPF_JEQ
	BPF_JMP = unix.BPF_JMP
	BPF_K   = unix.BPF_K
	BPF_LD  = unix.BPF_LD
	BPF_RET = unix.BPF_RET

	EPOLLERR      = unix.EPOLLERR
	EPOLLET       = unix.EPOLLET
	EPOLLHUP      = unix.EPOLLHUP
	EPOLLIN       = unix.EPOLLIN
	EPOLLOUT      = unix.EPOLLOUT
	EPOLLPRI      = unix.EPOLLPRI
	EPOLLRDHUP    = unix.EPOLLRDHUP
	EPOLL_CLOEXEC = unix.EPOLL_CLOEXEC
	EPOLL_CTL_ADD = unix.EPOLL_CTL_ADD
	EPOLL_CTL_DEL = unix.EPOLL_CTL_DEL
	EPOLL_CTL_MOD = unix.EPOLL_CTL_MOD

	EFD_CLOEXEC     = unix.EFD_CLOEXEC
	EFD_NONBLOCK    = unix.EFD_NONBLOCK
	TFD_CLOEXEC     = unix.TFD_CLOEXEC
	TFD_NONBLOCK    = unix.TFD_NONBLOCK
	CLOCK_MONOTONIC = unix.CLOCK_MONOTONIC

	EADDRNOTAVAIL   = unix.EADDRNOTAVAIL
	EAFNOSUPPORT    = unix.EAFNOSUPPORT
	EAGAIN          = unix.EAGAIN
	EBADF           = unix.EBADF
	ECONNABORTED    = unix.ECONNABORTED
	ECONNREFUSED    = unix.ECONNREFUSED
	EHOSTDOWN       = unix.EHOSTDOWN
	EHOSTUNREACH    = unix.EHOSTUNREACH
	EINPROGRESS     = unix.EINPROGRESS
	EINTR           = unix.EINTR
	EINVAL          = unix.EINVAL
	ENETDOWN        = unix.ENETDOWN
	ENETUNREACH     = unix.ENETUNREACH
	ENONET          = unix.ENONET
	ENOPROTOOPT     = unix.ENOPROTOOPT
	ENOTSOCK        = unix.ENOTSOCK
	EOPNOTSUPP      = unix.EOPNOTSUPP
	EPROTO          = unix.EPROTO
	EPROTONOSUPPORT = unix.EPROTONOSUPPORT
	ETIMEDOUT       = unix.ETIMEDOUT
)

func asError(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// Socket is unix.Socket.
func Socket(family, _, _ int) (int, error) {
	fd, errno := kernel.Current().Socket(family)
	return fd, asError(errno)
}

// Bind is unix.Bind.
func Bind(fd int, sa Sockaddr) error { return asError(kernel.Current().Bind(fd, fromSockaddr(sa))) }

// Listen is unix.Listen.
func Listen(fd, backlog int) error { return asError(kernel.Current().Listen(fd, backlog)) }

// Accept4 is unix.Accept4.
func Accept4(fd, _ int) (int, Sockaddr, error) {
	conn, remote, errno := kernel.Current().Accept(fd)
	if errno != 0 {
		return -1, nil, errno
	}
	return conn, toSockaddr(remote, AF_INET), nil
}

// Connect is unix.Connect.
func Connect(fd int, sa Sockaddr) error {
	return asError(kernel.Current().Connect(fd, fromSockaddr(sa)))
}

// Getsockname is unix.Getsockname.
func Getsockname(fd int) (Sockaddr, error) {
	addr, family, errno := kernel.Current().Local(fd)
	if errno != 0 {
		return nil, errno
	}
	return toSockaddr(addr, family), nil
}

// Shutdown is unix.Shutdown with SHUT_WR.
func Shutdown(fd, how int) error {
	if how != SHUT_WR {
		panic("kernel: a shutdown of the input, which the model does not have")
	}
	return asError(kernel.Current().Shutdown(fd))
}

// Close is unix.Close.
func Close(fd int) error { return asError(kernel.Current().Close(fd)) }

// Read is unix.Read.
func Read(fd int, p []byte) (int, error) {
	n, errno := kernel.Current().Read(fd, p)
	return n, asError(errno)
}

// Write is unix.Write to an eventfd.
func Write(fd int, p []byte) (int, error) {
	n, errno := kernel.Current().Write(fd, p)
	return n, asError(errno)
}

// SetNonblock is unix.SetNonblock.
func SetNonblock(fd int, on bool) error { return asError(kernel.Current().SetNonblock(fd, on)) }

// SetsockoptInt is unix.SetsockoptInt.
func SetsockoptInt(fd, level, option, value int) error {
	if level == SOL_SOCKET && option == SO_DETACH_FILTER {
		return asError(kernel.Current().DetachFilter(fd))
	}
	return asError(kernel.Current().SetOption(fd, level, option, value))
}

// FcntlInt is unix.FcntlInt of F_DUPFD_CLOEXEC.
func FcntlInt(fd uintptr, command, _ int) (int, error) {
	if command != F_DUPFD_CLOEXEC {
		panic("kernel: a command of fcntl that the model does not have")
	}
	another, errno := kernel.Current().Duplicate(int(fd))
	return another, asError(errno)
}

// SetsockoptLinger is unix.SetsockoptLinger with a time of 0.
func SetsockoptLinger(fd, _, _ int, l *Linger) error {
	if l.Onoff == 0 || l.Linger != 0 {
		panic("kernel: SO_LINGER with a time, which the model does not have")
	}
	return asError(kernel.Current().ResetOnClose(fd))
}

// GetsockoptInt is unix.GetsockoptInt of SO_ERROR and SO_PROTOCOL.
func GetsockoptInt(fd, _, option int) (int, error) {
	switch option {
	case SO_ERROR:
		taken, errno := kernel.Current().SocketError(fd)
		return int(taken), asError(errno)
	case SO_PROTOCOL:
		multipath, errno := kernel.Current().IsMultipath(fd)
		if multipath {
			return unix.IPPROTO_MPTCP, asError(errno)
		}
		return IPPROTO_TCP, asError(errno)
	}
	panic("kernel: a socket option that the model does not have")
}

// SetsockoptSockFprog is unix.SetsockoptSockFprog.
func SetsockoptSockFprog(fd, _, option int, program *SockFprog) error {
	if option != SO_ATTACH_FILTER {
		panic("kernel: a socket option that the model does not have")
	}
	return asError(kernel.Current().AttachFilter(fd, unsafe.Slice(program.Filter, program.Len)))
}

// GetsockoptTCPInfo is unix.GetsockoptTCPInfo, of which the model has four fields.
func GetsockoptTCPInfo(fd, _, _ int) (*TCPInfo, error) {
	info, errno := kernel.Current().Info(fd)
	return &TCPInfo{State: info.State, Unacked: info.Queued, Bytes_received: info.Received, Bytes_acked: info.Acked}, asError(errno)
}

// IoctlGetInt is unix.IoctlGetInt of SIOCOUTQ.
func IoctlGetInt(fd int, request uint) (int, error) {
	if request != SIOCOUTQ {
		panic("kernel: an ioctl that the model does not have")
	}
	n, errno := kernel.Current().Unacknowledged(fd)
	return n, asError(errno)
}

// EpollCreate1 is unix.EpollCreate1.
func EpollCreate1(int) (int, error) {
	fd, errno := kernel.Current().EpollCreate()
	return fd, asError(errno)
}

// EpollWait is unix.EpollWait without a timeout.
func EpollWait(epfd int, events []EpollEvent, timeout int) (int, error) {
	if timeout != -1 {
		panic("kernel: epoll_wait with a timeout, which the model does not have")
	}
	n, errno := kernel.Current().EpollWait(epfd, events, true)
	return n, asError(errno)
}

// Eventfd is unix.Eventfd.
func Eventfd(uint, int) (int, error) {
	fd, errno := kernel.Current().Eventfd()
	return fd, asError(errno)
}

// TimerfdCreate is unix.TimerfdCreate.
func TimerfdCreate(int, int) (int, error) {
	fd, errno := kernel.Current().Timerfd()
	return fd, asError(errno)
}

// TimerfdSettime is unix.TimerfdSettime of one expiry.
func TimerfdSettime(fd, _ int, spec, _ *ItimerSpec) error {
	return asError(kernel.Current().SetTimer(fd, time.Duration(spec.Value.Nano())))
}

// NsecToTimespec is unix.NsecToTimespec.
func NsecToTimespec(ns int64) unix.Timespec { return unix.NsecToTimespec(ns) }

func fromSockaddr(sa Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

func toSockaddr(a netip.AddrPort, family int) Sockaddr {
	if a.Addr().Is4() && family == AF_INET {
		return &SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}
