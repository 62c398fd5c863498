package sockets

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
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

// ends of the connection of a script.
const (
	client = iota
	server
)

// script is a connection on one system. Results are text, so that they compare.
type script struct {
	calls
	listener int
	at       netip.AddrPort
	fds      [2]int // of the ends; -1: there is none
	broken   bool   // an end was closed
	interest [2]uint32
	seen     [2]uint32 // by the step that looks for readiness
	full     [2]bool   // the end has no room, until the other end has read all: how much it has then depends on the kernel
}

func newScript(c calls, backlog int) *script {
	s := &script{calls: c, fds: [2]int{-1, -1}}
	s.listener, s.at = c.listen(backlog)
	return s
}

// fillLimit is more than any send buffer holds that a test may have.
const fillLimit = 256 << 20

// step makes a step at one end, and returns what it showed.
func (s *script) step(what string, end int) string {
	fd := s.fds[end]
	switch what {
	case "connect":
		if s.fds[client] >= 0 {
			return "skipped"
		}
		var errno syscall.Errno
		s.fds[client], errno = s.connect(s.at)
		return fmt.Sprint(errno)
	case "accept":
		if s.fds[server] >= 0 {
			return "skipped"
		}
		conn, errno := s.accept(s.listener)
		if errno == 0 {
			s.fds[server] = conn
		}
		return fmt.Sprint(errno)
	case "stop listening":
		if s.listener < 0 {
			return "skipped"
		}
		errno := s.close(s.listener, false)
		s.listener = -1
		return fmt.Sprint(errno)
	case "ready":
		if s.full[client] || s.full[server] {
			return "skipped" // when there is room, and when bytes arrive, depends on the sizes of the buffers
		}
		s.seen = [2]uint32{}
		return s.events()
	}
	if fd < 0 || what == "send" && s.full[end] {
		return "skipped"
	}
	var n int
	var errno syscall.Errno
	switch what {
	case "send":
		n, errno = s.send(fd, make([]byte, 700))
	case "fill":
		errno = s.fill(fd)
		s.full[end] = true
	case "read":
		n, errno = s.read(fd, make([]byte, 300))
	case "read all":
		n, errno = s.readAll(fd, s.fds[1-end])
		s.hasRoom(1 - end)
	case "shutdown":
		errno = s.shutdown(fd)
	case "close", "reset":
		errno = s.close(fd, what == "reset")
		s.fds[end] = -1
		s.broken = true
	case "unacknowledged":
		if s.broken {
			return "skipped" // Linux delays acknowledgements, and a reset may come before one
		}
		n = min(s.unacknowledged(fd), 1)
	case "state":
		n = int(s.state(fd))
	case "error":
		errno = s.socketError(fd)
	case "watch edges":
		errno = s.watchFor(unix.EPOLL_CTL_ADD, end, edges)
	case "watch levels":
		errno = s.watchFor(unix.EPOLL_CTL_ADD, end, unix.EPOLLIN|unix.EPOLLRDHUP)
	case "watch again":
		errno = s.watchFor(unix.EPOLL_CTL_MOD, end, edges)
	case "watch no more":
		errno = s.watch(unix.EPOLL_CTL_DEL, fd, 0)
	}
	return fmt.Sprintf("%d %v", n, errno)
}

const edges = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET

func (s *script) watchFor(op, end int, events uint32) syscall.Errno {
	errno := s.watch(op, s.fds[end], events)
	if errno == 0 {
		s.interest[end] = events
	}
	return errno
}

// hasRoom ends the time in which an end was full. What was reported meanwhile differs: all is
// reported again.
func (s *script) hasRoom(end int) {
	if s.full[end] {
		for i, fd := range s.fds {
			if fd >= 0 {
				s.watch(unix.EPOLL_CTL_MOD, fd, s.interest[i])
			}
		}
	}
	s.full[end] = false
}

// fill sends until there is no room.
func (s *script) fill(fd int) syscall.Errno {
	p := make([]byte, 64<<10)
	for sent := 0; sent < fillLimit; {
		n, errno := s.send(fd, p)
		if errno != 0 {
			return errno
		}
		sent += n
	}
	return 0
}

// readAll reads until there is nothing, and the other end has nothing left to send.
func (s *script) readAll(fd, from int) (int, syscall.Errno) {
	p := make([]byte, 64<<10)
	some := 0
	for tries := 0; ; {
		n, errno := s.read(fd, p)
		some = max(some, min(n, 1))
		switch {
		case n > 0:
			tries = 0
		case errno != syscall.EAGAIN || from < 0 || s.unacknowledged(from) == 0 || tries > mostTries:
			return some, errno
		default:
			tries++
			time.Sleep(time.Millisecond)
		}
	}
}

// events are what the set has reported for each end since the step began.
func (s *script) events() string {
	for _, ev := range s.ready() {
		for end, fd := range s.fds {
			if int(ev.Fd) == fd {
				s.seen[end] |= ev.Events
			}
		}
	}
	return fmt.Sprintf("client %s, server %s", names(s.seen[client]), names(s.seen[server]))
}

func names(events uint32) string {
	var all []string
	for _, e := range []struct {
		bit  uint32
		name string
	}{
		{unix.EPOLLIN, "IN"}, {unix.EPOLLOUT, "OUT"}, {unix.EPOLLRDHUP, "RDHUP"}, {unix.EPOLLHUP, "HUP"}, {unix.EPOLLERR, "ERR"}, {unix.EPOLLPRI, "PRI"},
	} {
		if events&e.bit != 0 {
			all = append(all, e.name)
		}
	}
	return "(" + strings.Join(all, " ") + ")"
}

// mostTries is how often a step of Linux is looked at again, a millisecond apart: segments
// and acknowledgements of loopback may be a moment late, and an acknowledgement may be
// delayed by the kernel on purpose.
const mostTries = 5000

// again are the steps that only look, so that they can be repeated.
var again = map[string]bool{"ready": true, "unacknowledged": true, "state": true, "accept": true}

// agree makes the same step on both, and returns what differs.
func agree(model, linux *script, what string, end int) (want, got string) {
	want, got = model.step(what, end), linux.step(what, end)
	// A read is repeated as long as it finds nothing and has to find something.
	repeats := again[what] || what == "read" && got == fmt.Sprintf("0 %v", syscall.EAGAIN)
	for tries := 0; repeats && got != want && tries < mostTries; tries++ {
		time.Sleep(time.Millisecond)
		if what == "ready" { // an edge is reported once
			got = linux.events()
		} else {
			got = linux.step(what, end)
		}
	}
	return want, got
}

var steps = []string{
	"connect", "accept", "send", "send", "fill", "read", "read all", "shutdown", "close", "reset", "unacknowledged", "state", "error",
	"watch edges", "watch levels", "watch again", "watch no more", "ready", "ready", "ready", "stop listening",
}

// TestSameAsLinux: scripts of two ends have the same results on the model and on loopback:
// return values, errors, states, and readiness for edges and for levels.
func TestSameAsLinux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := newLinuxCalls()
		if err != nil {
			t.Fatal(err)
		}
		defer c.end()
		model, linux := newScript(newModelCalls(), 4), newScript(c, 4)
		program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, len(steps)-1).Draw(t, "step"), rapid.IntRange(client, server).Draw(t, "end")}
		}), 1, 24).Draw(t, "program")
		head := [][2]int{{0, 0}, {1, 0}}
		if rapid.Bool().Draw(t, "watched") {
			head = append(head, [2]int{13, client}, [2]int{13, server}, [2]int{17, 0})
		}
		var done []string
		for _, p := range append(head, program...) {
			want, got := agree(model, linux, steps[p[0]], p[1])
			done = append(done, fmt.Sprintf("%s at %s: %s", steps[p[0]], [...]string{"client", "server"}[p[1]], got))
			if want != got {
				t.Fatalf("the model has %s\n%s", want, strings.Join(done, "\n"))
			}
		}
	})
}
