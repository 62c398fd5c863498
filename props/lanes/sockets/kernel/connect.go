//go:build linux

package kernel

import (
	"net/netip"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	firstEphemeral = 32768
	lastEphemeral  = 60999

	firstRetry     = time.Second // of a SYN that was not answered, then twice as long each time
	mostHandshakes = 7           // the last of them waits for 64 s
)

// silentNetwork is a network whose machines never answer (TEST-NET-1).
var silentNetwork = netip.MustParsePrefix("192.0.2.0/24")

// port returns a free ephemeral port.
func (k *Kernel) port() uint16 {
	for {
		p := k.ephemeral
		k.ephemeral++
		if k.ephemeral > lastEphemeral {
			k.ephemeral = firstEphemeral
		}
		if !slices.ContainsFunc(k.listeners, func(l *socket) bool { return l.local.Port() == p }) {
			return p
		}
	}
}

// bind is bind(2).
func (s *socket) bind(to netip.AddrPort) syscall.Errno {
	if s.local.IsValid() || s.state != closed {
		return syscall.EINVAL
	}
	if to.Port() == 0 {
		to = netip.AddrPortFrom(to.Addr(), s.k.port())
	}
	for _, l := range s.k.listeners {
		if l.local.Port() == to.Port() && !(l.reusePort && s.reusePort) && (l.acceptsFor(to.Addr()) || s.covers(to.Addr(), l.local.Addr())) {
			return syscall.EADDRINUSE
		}
	}
	s.local = to
	if to.Addr().Is6() && !to.Addr().IsUnspecified() {
		s.onlyIPv6 = true // inet6_bind
	}
	return 0
}

// acceptsFor reports whether a listener takes connections to ip.
func (s *socket) acceptsFor(ip netip.Addr) bool { return s.covers(s.local.Addr(), ip) }

// covers reports whether a socket that is bound to at receives what is sent to ip.
func (s *socket) covers(at, ip netip.Addr) bool {
	switch {
	case at == ip:
		return true
	case !at.IsUnspecified():
		return false
	}
	return at.Is6() == ip.Is6() || at.Is6() && !s.onlyIPv6
}

// listen is listen(2).
func (s *socket) listen(backlog int) syscall.Errno {
	switch s.state {
	case closed:
	case listening: // changes the backlog
		s.backlog = backlog
		return 0
	default:
		return syscall.EINVAL
	}
	if !s.local.IsValid() {
		if errno := s.bind(netip.AddrPortFrom(unspecified(s.family), 0)); errno != 0 {
			return errno
		}
	}
	s.state, s.backlog = listening, backlog
	s.k.listeners = append(s.k.listeners, s)
	if s.ours {
		s.k.listened = append(s.k.listened, s)
	}
	return 0
}

func unspecified(family int) netip.Addr {
	if family == unix.AF_INET6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// stopListening closes a listener and resets the connections that wait to be accepted.
func (s *socket) stopListening() {
	s.k.listeners = slices.DeleteFunc(s.k.listeners, func(l *socket) bool { return l == s })
	s.state = closed
	for _, child := range s.queue {
		child.dead = true
		child.record.neverAccepted()
		child.sendReset()
		child.finish()
	}
	s.queue = nil
}

// connect is connect(2) of a non-blocking socket. The handshake continues after connect
// has returned.
func (s *socket) connect(to netip.AddrPort) syscall.Errno {
	switch {
	case s.state == synSent:
		return syscall.EALREADY
	case s.state != closed || s.other != nil:
		return syscall.EISCONN
	}
	ip := to.Addr().Unmap()
	switch {
	case ip.IsUnspecified() && ip.Is4():
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case ip.IsUnspecified():
		ip = netip.IPv6Loopback()
	}
	if !ip.IsLoopback() && !silentNetwork.Contains(ip) {
		return syscall.ENETUNREACH
	}
	s.remote = netip.AddrPortFrom(ip, to.Port())
	from := ip
	if silentNetwork.Contains(ip) {
		from = netip.AddrFrom4([4]byte{192, 0, 2, 1})
	}
	s.local = netip.AddrPortFrom(from, s.k.port())
	s.state = synSent
	s.neverAnswers = silentNetwork.Contains(ip)
	s.k.made = append(s.k.made, newConnection(s))
	s.record = s.k.made[len(s.k.made)-1]
	if s.k.cfg.Latency == 0 {
		s.sendSYN()
	} else {
		s.k.after(s.k.cfg.Latency, s.sendSYN)
	}
	return syscall.EINPROGRESS
}

// sendSYN sends a SYN.
func (s *socket) sendSYN() {
	if s.state != synSent {
		return
	}
	if s.handshake == mostHandshakes {
		s.err = syscall.ETIMEDOUT
		s.finish()
		s.wake(unix.EPOLLERR)
		return
	}
	at := slices.IndexFunc(s.k.listeners, func(l *socket) bool {
		return l.local.Port() == s.remote.Port() && l.acceptsFor(s.remote.Addr())
	})
	if at < 0 && !s.neverAnswers {
		s.receiveReset()
		return
	}
	if s.neverAnswers || s.k.listeners[at].dropsSYN || len(s.k.listeners[at].queue) > s.k.listeners[at].backlog { // the SYN is dropped
		delay := firstRetry << s.handshake
		s.handshake++
		s.k.after(delay, s.sendSYN)
		return
	}
	s.completeHandshake(s.k.listeners[at])
}

// completeHandshake connects s to a new socket in the queue of a listener.
func (s *socket) completeHandshake(l *socket) {
	child := s.k.newSocket(l.family, l.ours)
	child.sendBuffer, child.recvBuffer = l.sendBuffer, l.recvBuffer
	child.local, child.remote, child.state = s.remote, s.local, established
	child.other, s.other = s, child
	child.record = s.record
	s.record.accepts(child)
	s.state = established
	l.queue = append(l.queue, child)
	l.wake(unix.EPOLLIN | unix.EPOLLPRI | unix.EPOLLRDNORM | unix.EPOLLRDBAND)
	s.wake(0)
}

// accept is accept4(2) without a wait.
func (s *socket) accept() (*socket, syscall.Errno) {
	switch {
	case s.state != listening:
		return nil, syscall.EINVAL
	case len(s.queue) == 0:
		return nil, syscall.EAGAIN
	}
	child := s.queue[0]
	s.queue = s.queue[1:]
	return child, 0
}
