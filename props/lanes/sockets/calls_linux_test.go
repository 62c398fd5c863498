package sockets

import (
	"net/netip"
	"slices"
	"syscall"

	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
)

// calls are the system calls that a script makes: of the model, or of Linux.
type calls interface {
	listen(backlog int) (fd int, at netip.AddrPort)
	connect(to netip.AddrPort) (fd int, errno syscall.Errno)
	accept(fd int) (int, syscall.Errno)
	send(fd int, p []byte) (int, syscall.Errno)
	read(fd int, p []byte) (int, syscall.Errno)
	shutdown(fd int) syscall.Errno
	close(fd int, reset bool) syscall.Errno
	unacknowledged(fd int) int
	state(fd int) uint8
	socketError(fd int) syscall.Errno
	watch(op, fd int, events uint32) syscall.Errno
	ready() []unix.EpollEvent
	end()
}

// errnoOf is the errno in the error of a call of package unix.
func errnoOf(err error) syscall.Errno {
	errno, _ := err.(syscall.Errno)
	return errno
}

// modelCalls are those of the model.
type modelCalls struct {
	k  *kernel.Kernel
	ep int
}

func newModelCalls() *modelCalls {
	m := &modelCalls{k: kernel.New(kernel.Config{})}
	m.ep, _ = m.k.EpollCreate()
	return m
}

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func (m *modelCalls) listen(backlog int) (int, netip.AddrPort) {
	fd, _ := m.k.Socket(unix.AF_INET)
	m.k.Bind(fd, loopback)
	m.k.Listen(fd, backlog)
	at, _, _ := m.k.Local(fd)
	return fd, at
}

func (m *modelCalls) connect(to netip.AddrPort) (int, syscall.Errno) {
	fd, _ := m.k.Socket(unix.AF_INET)
	return fd, m.k.Connect(fd, to)
}

func (m *modelCalls) accept(fd int) (int, syscall.Errno) {
	conn, _, errno := m.k.Accept(fd)
	return conn, errno
}

func (m *modelCalls) send(fd int, p []byte) (int, syscall.Errno) { return m.k.Send(fd, p) }
func (m *modelCalls) read(fd int, p []byte) (int, syscall.Errno) { return m.k.Read(fd, p) }
func (m *modelCalls) shutdown(fd int) syscall.Errno              { return m.k.Shutdown(fd) }

func (m *modelCalls) close(fd int, reset bool) syscall.Errno {
	if reset {
		m.k.ResetOnClose(fd)
	}
	return m.k.Close(fd)
}

func (m *modelCalls) unacknowledged(fd int) int {
	n, _ := m.k.Unacknowledged(fd)
	return n
}

func (m *modelCalls) state(fd int) uint8 {
	s, _ := m.k.State(fd)
	return s
}

func (m *modelCalls) socketError(fd int) syscall.Errno {
	errno, _ := m.k.SocketError(fd)
	return errno
}

func (m *modelCalls) watch(op, fd int, events uint32) syscall.Errno {
	return m.k.EpollControl(m.ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

func (m *modelCalls) ready() []unix.EpollEvent {
	events := make([]unix.EpollEvent, 16)
	n, _ := m.k.EpollWait(m.ep, events, false)
	return events[:n]
}

func (m *modelCalls) end() {}

// linuxCalls are those of the kernel below this test.
type linuxCalls struct {
	ep   int
	open []int
}

func newLinuxCalls() (*linuxCalls, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &linuxCalls{ep: ep, open: []int{ep}}, err
}

func (l *linuxCalls) socket() int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		l.open = append(l.open, fd)
		l.tune(fd)
	}
	return fd
}

// tune makes the sizes of the buffers constant: by default they grow with the connection.
func (l *linuxCalls) tune(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 64<<10)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 64<<10)
}

func (l *linuxCalls) listen(backlog int) (int, netip.AddrPort) {
	fd := l.socket()
	_ = unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback.Addr().As4()})
	_ = unix.Listen(fd, backlog)
	sa, _ := unix.Getsockname(fd)
	at, _ := sa.(*unix.SockaddrInet4)
	return fd, netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port))
}

func (l *linuxCalls) connect(to netip.AddrPort) (int, syscall.Errno) {
	fd := l.socket()
	return fd, errnoOf(unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}))
}

func (l *linuxCalls) accept(fd int) (int, syscall.Errno) {
	conn, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err == nil {
		l.open = append(l.open, conn)
		l.tune(conn)
	}
	return conn, errnoOf(err)
}

func (l *linuxCalls) send(fd int, p []byte) (int, syscall.Errno) {
	n, err := unix.SendmsgN(fd, p, nil, nil, unix.MSG_NOSIGNAL)
	return max(n, 0), errnoOf(err)
}

func (l *linuxCalls) read(fd int, p []byte) (int, syscall.Errno) {
	n, err := unix.Read(fd, p)
	return max(n, 0), errnoOf(err)
}

func (l *linuxCalls) shutdown(fd int) syscall.Errno { return errnoOf(unix.Shutdown(fd, unix.SHUT_WR)) }

func (l *linuxCalls) close(fd int, reset bool) syscall.Errno {
	if reset {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	l.open = slices.DeleteFunc(l.open, func(other int) bool { return other == fd })
	return errnoOf(unix.Close(fd))
}

func (l *linuxCalls) unacknowledged(fd int) int {
	n, _ := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return n
}

func (l *linuxCalls) state(fd int) uint8 {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return info.State
}

func (l *linuxCalls) socketError(fd int) syscall.Errno {
	v, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	return syscall.Errno(v)
}

func (l *linuxCalls) watch(op, fd int, events uint32) syscall.Errno {
	return errnoOf(unix.EpollCtl(l.ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}))
}

func (l *linuxCalls) ready() []unix.EpollEvent {
	events := make([]unix.EpollEvent, 16)
	n, err := unix.EpollWait(l.ep, events, 0)
	if err != nil {
		return nil
	}
	return events[:n]
}

func (l *linuxCalls) end() {
	for _, fd := range l.open {
		_ = unix.Close(fd)
	}
}
