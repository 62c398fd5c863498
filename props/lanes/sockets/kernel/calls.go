//go:build linux

package kernel

import (
	"maps"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socketOf returns the socket of fd. Requires mu.
func (k *Kernel) socketOf(call string, fd int) (*socket, syscall.Errno) {
	f, errno := k.lookup(call, fd)
	if errno != 0 {
		return nil, errno
	}
	if s, ok := f.(*socket); ok {
		return s, 0
	}
	return nil, syscall.ENOTSOCK
}

// Socket is socket(2), of a non-blocking TCP socket.
func (k *Kernel) Socket(family int) (int, syscall.Errno) {
	k.mu.Lock()
	s := k.newSocket(family, true)
	k.mu.Unlock()
	return k.create(OpSocket, s)
}

// Bind is bind(2).
func (k *Kernel) Bind(fd int, to netip.AddrPort) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpBind)
	s, errno := k.socketOf("bind", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return errno
	}
	return s.bind(to)
}

// Listen is listen(2).
func (k *Kernel) Listen(fd, backlog int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpListen)
	s, errno := k.socketOf("listen", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return errno
	}
	return s.listen(backlog)
}

// Accept is accept4(2), of a non-blocking connection.
func (k *Kernel) Accept(fd int) (int, netip.AddrPort, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpAccept)
	l, errno := k.socketOf("accept", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return -1, netip.AddrPort{}, errno
	}
	if l.state == listening && len(l.queue) > 0 && k.files > 0 && len(k.open) >= k.files {
		return -1, netip.AddrPort{}, syscall.EMFILE
	}
	s, errno := l.accept()
	if errno != 0 {
		return -1, netip.AddrPort{}, errno
	}
	s.record.Accepted = true
	conn, errno := k.install(s)
	return conn, s.remote, errno
}

// Connect is connect(2).
func (k *Kernel) Connect(fd int, to netip.AddrPort) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpConnect)
	s, errno := k.socketOf("connect", fd)
	if errno != 0 {
		return errno
	}
	if fault != 0 && fault != syscall.EINTR {
		return fault
	}
	if errno = s.connect(to); errno == syscall.EINPROGRESS && fault != 0 {
		return fault // the handshake continues nevertheless
	}
	return errno
}

// Send is send(2) with MSG_NOSIGNAL.
func (k *Kernel) Send(fd int, p []byte) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	short, fault := k.fault(OpSend)
	s, errno := k.socketOf("send", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return 0, errno
	}
	return s.send(p, short)
}

// Read is read(2).
func (k *Kernel) Read(fd int, p []byte) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpRead)
	f, errno := k.lookup("read", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return 0, errno
	}
	switch f := f.(type) {
	case *socket:
		return f.receive(p)
	case *eventFile:
		return f.read(p)
	}
	return 0, syscall.EINVAL
}

// Shutdown is shutdown(2) with SHUT_WR.
func (k *Kernel) Shutdown(fd int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpShutdown)
	s, errno := k.socketOf("shutdown", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return errno
	}
	if s.record != nil {
		s.record.end(s).ShutDowns++
	}
	return s.shutdownOutput()
}

// Unacknowledged is ioctl(2) with SIOCOUTQ.
func (k *Kernel) Unacknowledged(fd int) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("ioctl", fd)
	if errno != 0 {
		return 0, errno
	}
	if s.state == listening {
		return 0, syscall.EINVAL
	}
	if s.record != nil {
		e := s.record.end(s)
		e.Queries = append(e.Queries, time.Now())
	}
	return s.unacknowledged(), 0
}

// State is the state in TCP_INFO.
func (k *Kernel) State(fd int) (uint8, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockopt", fd)
	if errno != 0 {
		return 0, errno
	}
	return uint8(s.state), 0
}

// Local is getsockname(2).
func (k *Kernel) Local(fd int) (addr netip.AddrPort, family int, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockname", fd)
	if errno != 0 {
		return netip.AddrPort{}, 0, errno
	}
	if !s.local.IsValid() {
		return netip.AddrPortFrom(unspecified(s.family), 0), s.family, 0
	}
	return s.local, s.family, 0
}

// SocketError is getsockopt(2) with SO_ERROR.
func (k *Kernel) SocketError(fd int) (taken, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockopt", fd)
	if errno != 0 {
		return 0, errno
	}
	return s.takeError(), 0
}

// Remote is getpeername(2).
func (k *Kernel) Remote(fd int) (netip.AddrPort, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getpeername", fd)
	switch {
	case errno != 0:
		return netip.AddrPort{}, errno
	case !s.connected():
		return netip.AddrPort{}, syscall.ENOTCONN
	}
	return s.remote, 0
}

// Broken returns the error of a connection that was reset, or 0. Unlike SocketError it leaves
// the error for other calls.
func (k *Kernel) Broken(fd int) (broken, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockopt", fd)
	switch {
	case errno != 0:
		return 0, errno
	case s.err != 0:
		return s.err, 0
	case s.record != nil && s.record.Reset:
		return syscall.ECONNRESET, 0
	}
	return 0, 0
}

// ResetOnClose is setsockopt(2) with SO_LINGER and a time of 0.
func (k *Kernel) ResetOnClose(fd int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("setsockopt", fd)
	if errno != 0 {
		return errno
	}
	s.resets = true
	return 0
}

// SetOption is setsockopt(2) of an int. An option that the model does not know panics.
func (k *Kernel) SetOption(fd, level, option, value int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, fault := k.fault(OpOption)
	s, errno := k.socketOf("setsockopt", fd)
	if errno == 0 {
		errno = fault
	}
	if errno != 0 {
		return errno
	}
	switch [2]int{level, option} {
	case [2]int{unix.SOL_SOCKET, unix.SO_RCVBUF}:
		s.recvBuffer = value
	case [2]int{unix.SOL_SOCKET, unix.SO_SNDBUF}:
		s.sendBuffer = value
	case [2]int{unix.SOL_SOCKET, unix.SO_REUSEPORT}:
		s.reusePort = value != 0
	case [2]int{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}:
		switch {
		case s.family != unix.AF_INET6:
			return syscall.ENOPROTOOPT
		case s.local.IsValid():
			return syscall.EINVAL
		}
		s.onlyIPv6 = value != 0
	case [2]int{unix.SOL_SOCKET, unix.SO_REUSEADDR}, [2]int{unix.SOL_SOCKET, unix.SO_KEEPALIVE}, [2]int{unix.IPPROTO_TCP, unix.TCP_NODELAY},
		[2]int{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}, [2]int{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}: // no effect on the model
		s.options = maps.Clone(s.options) // records share the older map
		if s.options == nil {
			s.options = map[[2]int]int{}
		}
		s.options[[2]int{level, option}] = value
	default:
		panic("kernel: a socket option that the model does not have")
	}
	return 0
}
