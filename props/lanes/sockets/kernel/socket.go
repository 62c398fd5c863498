//go:build linux

package kernel

import (
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// state is the TCP state of a socket, with the numbers of Linux.
type state uint8

const (
	established state = 1
	synSent     state = 2
	finWait1    state = 4
	finWait2    state = 5
	closed      state = 7
	closeWait   state = 8
	lastAck     state = 9
	listening   state = 10
	closing     state = 11
)

// socket is a TCP socket. Guarded by Kernel.mu.
type socket struct {
	node
	k      *Kernel
	family int
	state  state
	ours   bool // of the process under test; else of a peer

	local, remote netip.AddrPort
	other         *socket // the other end, from the handshake on
	record        *Connection

	err         syscall.Errno // until a call returns it
	dead        bool          // no descriptor is left (SOCK_DEAD)
	finReceived bool          // the FIN of the other end has come
	noInput     bool          // RCV_SHUTDOWN
	noOutput    bool          // SEND_SHUTDOWN
	noSpace     bool          // a writer waits for room (SOCK_NOSPACE)
	resets      bool          // SO_LINGER of 0: close is a reset

	input        []byte // received, not read
	output       []byte // accepted, not acknowledged
	finPending   bool   // our FIN follows output
	unsent       int    // of output and the FIN when the connection broke
	moving       bool   // bytes are on their way
	sendBuffer   int
	recvBuffer   int
	options      map[[2]int]int // without effect on the model, by level and name
	reusePort    bool
	onlyIPv6     bool // as if net.ipv6.bindv6only were set, so that a listener for both families must say so
	backlog      int
	queue        []*socket // established, not accepted
	multipath    bool      // of a listener: it is a socket of MPTCP
	dropsSYN     bool      // of a listener: a filter drops segments that begin a connection
	droppedSYN   bool      // of a listener: dropsSYN was set once
	received     uint64    // bytes that have arrived
	drained      bool      // the last read has emptied the socket, and epoll has reported nothing since
	toEAGAIN     bool      // epoll has reported an end, an error or urgent data, and no read has returned EAGAIN since
	needless     int       // reads that returned EAGAIN while drained was set
	handshake    int       // attempts
	neverAnswers bool
	blocked      int // writes of a Conn that wait for room
	closeErr     syscall.Errno
	linger       int // of a Conn: the last SetLinger
}

func (k *Kernel) newSocket(family int, ours bool) *socket {
	return &socket{k: k, family: family, ours: ours, state: closed, sendBuffer: k.cfg.Send, recvBuffer: k.cfg.Receive, onlyIPv6: family == unix.AF_INET6}
}

// connected reports whether the handshake has ended and the connection has not.
func (s *socket) connected() bool {
	switch s.state {
	case established, finWait1, finWait2, closeWait, lastAck, closing:
		return true
	}
	return false
}

// roomy is sk_stream_is_writeable: a third of the buffer is free.
func (s *socket) roomy() bool {
	room := s.sendBuffer - len(s.output)
	return room > 0 && room >= len(s.output)/2
}

// poll is tcp_poll.
func (s *socket) poll() (events uint32) {
	if s.state == listening {
		if len(s.queue) > 0 {
			return unix.EPOLLIN | unix.EPOLLRDNORM
		}
		return 0
	}
	if s.noInput && s.noOutput || s.state == closed {
		events |= unix.EPOLLHUP
	}
	if s.noInput {
		events |= unix.EPOLLIN | unix.EPOLLRDNORM | unix.EPOLLRDHUP
	}
	if s.state != synSent {
		if len(s.input) > 0 {
			events |= unix.EPOLLIN | unix.EPOLLRDNORM
		}
		switch {
		case s.noOutput, s.roomy():
			events |= unix.EPOLLOUT | unix.EPOLLWRNORM
		default:
			s.noSpace = true
		}
	}
	if s.err != 0 {
		events |= unix.EPOLLERR
	}
	return events
}

// takeError is sock_error.
func (s *socket) takeError() syscall.Errno {
	errno := s.err
	s.err = 0
	return errno
}

// finish is tcp_done: the connection is over.
func (s *socket) finish() {
	s.state = closed
	s.noInput, s.noOutput = true, true
	s.wake(0)
}

// receiveReset is tcp_reset: a RST has come.
func (s *socket) receiveReset() {
	switch s.state {
	case closed:
		return
	case synSent:
		s.err = syscall.ECONNREFUSED
		s.unsent = 1 // the SYN
	case closeWait:
		s.err = syscall.EPIPE
	default:
		s.err = syscall.ECONNRESET
	}
	s.dropOutput()
	if s.record != nil {
		s.record.broken()
		s.record.wasReset(s)
	}
	s.finish()
	s.wake(unix.EPOLLERR)
}

// dropOutput drops the bytes that were not acknowledged; SIOCOUTQ still counts them.
func (s *socket) dropOutput() {
	s.unsent += len(s.output)
	if s.finPending {
		s.unsent++
	}
	s.output, s.finPending = nil, false
}

// sendReset sends a RST.
func (s *socket) sendReset() {
	s.dropOutput()
	if s.record != nil {
		s.record.broken()
	}
	if s.other != nil {
		s.other.receiveReset()
	}
}

// closed is tcp_close.
func (s *socket) closed() {
	s.dead = true
	switch {
	case s.state == listening:
		s.stopListening()
	case s.state == synSent:
		s.finish()
	case !s.connected():
		s.state = closed
	case s.resets || len(s.input) > 0:
		s.sendReset()
		s.finish()
	default:
		s.endOutput()
		s.noInput = true
	}
	s.noInput, s.noOutput = true, true
}

// endOutput is the part of shutdown(2) and close(2) that sends a FIN.
func (s *socket) endOutput() {
	s.noOutput = true
	switch s.state {
	case established:
		s.state = finWait1
	case closeWait:
		s.state = lastAck
	default:
		return
	}
	s.finPending = true
	s.transmit()
}
