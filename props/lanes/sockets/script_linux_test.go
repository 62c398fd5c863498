package sockets

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
