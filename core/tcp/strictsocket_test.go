package tcp_test

import (
	"fmt"
	"net/netip"
	"syscall"

	"eventide/core/pollertest"
)

// strictSocket is a Socket in memory that finds calls which a socket must not get. All calls come on the loop.
type strictSocket struct {
	d                   *pollertest.Descriptor
	input               int // bytes that were not read
	ended, endRead      bool
	broken, full, unack bool
	refused             bool // bytes, for an error
	sent                int  // bytes
	flushed             int  // bytes that may be sent
	shuts, closes       int
	wrong               []string
}

// gets records a call.
func (s *strictSocket) gets(call string) {
	if s.closes > 0 {
		s.wrong = append(s.wrong, call+" after Close")
	}
}

func (s *strictSocket) FD() int                             { return s.d.FD() }
func (s *strictSocket) Addrs() (local, peer netip.AddrPort) { return local, peer }

func (s *strictSocket) Read(p []byte) (int, syscall.Errno) {
	s.gets("Read")
	switch {
	case s.broken && s.input == 0:
		return 0, syscall.ECONNRESET
	case s.input > 0:
		n := min(len(p), s.input)
		if s.input -= n; s.input == 0 && !s.ended && !s.broken {
			_ = s.d.Drain()
		}
		return n, 0
	case !s.ended:
		return 0, syscall.EAGAIN
	case s.endRead:
		s.wrong = append(s.wrong, "Read after the end of the stream")
	}
	s.endRead = true
	return 0, 0
}

func (s *strictSocket) Send(p []byte) (int, syscall.Errno) {
	s.gets("Send")
	switch {
	case s.shuts > 0:
		s.wrong = append(s.wrong, "Send after the end of the output")
	case s.broken:
		s.refused = true
		return 0, syscall.ECONNRESET
	case s.full:
		_ = s.d.Fill()
		return 0, syscall.EAGAIN
	}
	n := min(2, len(p))
	for i, b := range p[:n] {
		if b != byte(s.sent+i) {
			s.wrong = append(s.wrong, fmt.Sprintf("byte %d is %d", s.sent+i, b))
		}
	}
	if s.sent += n; s.sent > s.flushed {
		s.wrong = append(s.wrong, fmt.Sprintf("%d bytes are sent, and %d were flushed", s.sent, s.flushed))
	}
	return n, 0
}

func (s *strictSocket) ShutdownWrite() error {
	s.gets("ShutdownWrite")
	if s.broken {
		return syscall.ENOTCONN
	}
	s.shuts++
	return nil
}

func (s *strictSocket) Close(bool) error {
	s.gets("Close")
	s.closes++
	return s.d.Close()
}

func (s *strictSocket) Unacknowledged() int {
	s.gets("Unacknowledged")
	if s.unack {
		return 1
	}
	return 0
}

func (s *strictSocket) Err() syscall.Errno {
	s.gets("Err")
	if s.broken {
		return syscall.ECONNRESET
	}
	return 0
}
