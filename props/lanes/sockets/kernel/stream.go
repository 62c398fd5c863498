//go:build linux

package kernel

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// send is tcp_sendmsg without a wait: it takes at most short bytes if short is not 0.
func (s *socket) send(p []byte, short int) (int, syscall.Errno) {
	switch {
	case s.state == synSent:
		return 0, syscall.EAGAIN
	case s.err != 0 || s.noOutput || s.state != established && s.state != closeWait:
		if errno := s.takeError(); errno != 0 {
			return 0, errno
		}
		return 0, syscall.EPIPE
	}
	n := min(len(p), s.sendBuffer-len(s.output))
	if n < len(p) {
		s.noSpace = true
	}
	if n <= 0 && len(p) > 0 {
		return 0, syscall.EAGAIN
	}
	if short > 0 {
		n = min(n, short)
	}
	s.output = append(s.output, p[:n]...)
	s.record.sent(s, p[:n])
	s.transmit()
	return n, 0
}

// receive is tcp_recvmsg without a wait.
func (s *socket) receive(p []byte) (int, syscall.Errno) {
	switch {
	case s.state == listening:
		return 0, syscall.ENOTCONN
	case len(s.input) > 0:
		n := copy(p, s.input)
		s.input = s.input[n:]
		s.drained = n < len(p) && !s.toEAGAIN
		if s.record != nil {
			s.record.read(s, n)
		}
		if s.other != nil && s.connected() {
			s.other.transmit()
		}
		return n, 0
	case s.finReceived:
		s.record.readEnd(s)
		return 0, 0
	case s.err != 0:
		return 0, s.takeError()
	case s.noInput:
		return 0, 0
	case s.state == closed:
		return 0, syscall.ENOTCONN
	}
	if s.drained {
		s.needless++
	}
	s.toEAGAIN = false
	return 0, syscall.EAGAIN
}

// shutdownOutput is shutdown(2) with SHUT_WR. It wakes the watchers of the socket, also when
// it fails.
func (s *socket) shutdownOutput() (errno syscall.Errno) {
	if s.state == closed {
		errno = syscall.ENOTCONN
	}
	s.endOutput()
	s.wake(0)
	return errno
}

// transmit brings output to the other end, after the latency.
func (s *socket) transmit() {
	if s.k.cfg.Latency == 0 {
		s.deliver()
		return
	}
	if s.moving {
		return
	}
	s.moving = true
	s.k.after(s.k.cfg.Latency, func() {
		s.moving = false
		s.deliver()
	})
}

// deliver moves output into the receive buffer of the other end, as far as there is room,
// and then the FIN, which needs an open window too.
func (s *socket) deliver() {
	o := s.other
	if o == nil || !s.connected() {
		return
	}
	if len(s.output) > 0 && o.noInput { // the other end was closed, or has failed
		o.state = closed
		o.dropOutput()
		s.receiveReset()
		return
	}
	n := min(len(s.output), o.recvBuffer-len(o.input))
	if n > 0 {
		o.input = append(o.input, s.output[:n]...)
		o.received += uint64(n)
		s.output = s.output[n:]
		s.record.delivered(s, n)
		o.wake(unix.EPOLLIN | unix.EPOLLPRI | unix.EPOLLRDNORM | unix.EPOLLRDBAND)
		s.wakeWriter()
	}
	if s.finPending && len(s.output) == 0 && len(o.input) < o.recvBuffer {
		s.finPending = false
		s.record.ended(s)
		o.receiveFIN()
		s.receiveFINAck()
	}
}

// wakeWriter is sk_stream_write_space.
func (s *socket) wakeWriter() {
	if s.noSpace && s.roomy() {
		s.noSpace = false
		s.wake(unix.EPOLLOUT | unix.EPOLLWRNORM | unix.EPOLLWRBAND)
	}
}

// receiveFIN is tcp_fin.
func (s *socket) receiveFIN() {
	s.noInput, s.finReceived = true, true
	switch s.state {
	case established:
		s.state = closeWait
	case finWait1:
		s.state = closing
	case finWait2:
		s.finish() // TIME_WAIT is not the socket's any more
		return
	}
	s.wake(0)
}

// receiveFINAck is the ACK of our FIN.
func (s *socket) receiveFINAck() {
	switch s.state {
	case finWait1:
		s.state = finWait2
		s.wake(0)
	case closing, lastAck:
		s.finish()
	}
}

// unacknowledged is SIOCOUTQ.
func (s *socket) unacknowledged() int {
	n := s.unsent + len(s.output)
	if s.finPending {
		n++
	}
	return n
}
