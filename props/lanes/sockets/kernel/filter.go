//go:build linux

package kernel

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags of a TCP segment.
const (
	flagSYN = 0x02
	flagACK = 0x10
)

const (
	flagsAt        = 13      // where the flags are in a TCP header
	longestSegment = 1 << 16 // no segment has more bytes
)

// AttachFilter is setsockopt(2) with SO_ATTACH_FILTER, of a listener. A socket of MPTCP has no
// filter. A SYN that the program drops is sent again later.
func (k *Kernel) AttachFilter(fd int, program []unix.SockFilter) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("setsockopt", fd)
	if errno != 0 {
		return errno
	}
	if s.multipath {
		return syscall.ENOPROTOOPT
	}
	dropsSYN := true
	for flags := range 256 {
		kept, ok := runFilter(program, byte(flags))
		if !ok {
			return syscall.EINVAL
		}
		begins := flags&flagSYN != 0 && flags&flagACK == 0
		dropsSYN = dropsSYN && (!begins || kept == 0)
		if !begins && kept < longestSegment {
			k.misuse = append(k.misuse, fmt.Sprintf("a filter of a listener keeps %d bytes of a segment with the flags %#x, want all: it cuts handshakes that have begun", kept, flags))
		}
	}
	s.dropsSYN, s.droppedSYN = dropsSYN, s.droppedSYN || dropsSYN
	return 0
}

// DetachFilter is setsockopt(2) with SO_DETACH_FILTER, of a listener whose filter turns new connections away.
func (k *Kernel) DetachFilter(fd int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("setsockopt", fd)
	if errno == 0 && !s.dropsSYN {
		errno = syscall.ENOENT
	}
	if errno == 0 {
		s.dropsSYN = false
	}
	return errno
}

// runFilter runs a classic BPF program on a segment with some flags, and returns how many bytes of
// the segment it keeps. The model has the few instructions that core uses.
func runFilter(program []unix.SockFilter, flags byte) (kept uint32, ok bool) {
	a := uint32(0)
	for at := 0; at < len(program); at++ {
		switch in := program[at]; in.Code {
		case unix.BPF_LD | unix.BPF_B | unix.BPF_ABS:
			if a = 0; in.K == flagsAt {
				a = uint32(flags)
			}
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if a == in.K {
				at += int(in.Jt)
			} else {
				at += int(in.Jf)
			}
		case unix.BPF_RET | unix.BPF_K:
			return in.K, true
		default:
			return 0, false
		}
	}
	return 0, false // Linux refuses a program that does not return
}

// Info is what TCP_INFO says of a socket.
type Info struct {
	State    uint8
	Queued   uint32 // of a listener, tcpi_unacked: the connections that wait to be accepted
	Received uint64 // tcpi_bytes_received
	Acked    uint64 // tcpi_bytes_acked
}

// Info is getsockopt(2) with TCP_INFO.
func (k *Kernel) Info(fd int) (Info, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockopt", fd)
	if errno != 0 {
		return Info{}, errno
	}
	info := Info{State: uint8(s.state), Queued: uint32(len(s.queue)), Received: s.received}
	if s.record != nil {
		info.Acked = uint64(s.record.end(s).Delivered)
	}
	return info, 0
}

// IsMultipath reports whether a socket is one of MPTCP (SO_PROTOCOL).
func (k *Kernel) IsMultipath(fd int) (bool, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, errno := k.socketOf("getsockopt", fd)
	if errno != 0 {
		return false, errno
	}
	return s.multipath, 0
}

// SetMultipath makes a listener one of MPTCP.
func (l *Listener) SetMultipath() {
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	l.s.multipath = true
}

// DropsSYN reports whether a filter turns new connections away, and whether one has.
func (l *Listener) DropsSYN() (now, ever bool) {
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	return l.s.dropsSYN, l.s.droppedSYN
}
