package process

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settleTime is how long stopArrivals waits for handshakes in progress after the last
// connection arrived. It covers a round trip to a nearby client.
const settleTime = 100 * time.Millisecond

// settlePolls is the number of polls in settleTime.
const settlePolls = 20

// stopArrivals turns new connections away and waits until every accept queue is empty and
// unread returns false. Both must hold throughout settleTime, or in one poll if no
// listener can turn connections away. stopArrivals also returns when ctx ends. The caller
// closes the listeners, and then calls resume.
//
// The tempting wrong version closes the listener at once: the kernel resets the connections
// in its accept queue, though their clients are connected and have perhaps sent a request. A
// filter on the listener drops new SYN segments instead and lets handshakes that have begun
// complete. A client that is turned away repeats its SYN a second later and is refused, or
// reaches another instance.
//
// The filter belongs to the socket, and other processes may have the socket too. So resume
// detaches the filter, through a descriptor that outlives the listener. Between the detachment
// and the close of that descriptor, the kernel may accept a connection, and then reset it if no
// other process has the socket: about a microsecond, against the lasting loss of a shared
// socket.
//
// A socket from Listeners gets no filter: the service manager has it too, and so its queue
// outlives the listener. There the server only stops accepting.
//
// stopArrivals counts polls and does not measure time: a process that is not scheduled
// for settleTime accepts nothing in that time.
//
// The kernel has no such filter for MPTCP, with which package net listens by default. There
// stopArrivals waits for an empty queue alone, and a connection that arrives just before the
// listener closes is reset. So it does if no descriptor is free. A listener that is no TCP
// socket is left as it is.
func stopArrivals(ctx context.Context, listeners []net.Listener, unread func() bool) (resume func()) {
	var sockets []syscall.RawConn
	var filtered []int
	polls := 0
	for _, l := range listeners {
		if is, _ := isInherited(l); is {
			if stopAccepting(l) == nil {
				polls = settlePolls
			}
			continue
		}
		raw, ok := rawOf(l)
		if !ok {
			continue
		}
		sockets = append(sockets, raw)
		if fd, err := dropSYN(raw); err == nil {
			filtered = append(filtered, fd)
			polls = settlePolls
		}
	}
	settle(ctx, polls, func() bool { return waiting(sockets) || unread() })
	return func() { acceptSYN(filtered) }
}

// settle returns when busy has returned false in so many polls after the first one, or when ctx ends.
func settle(ctx context.Context, polls int, busy func() bool) {
	ticks := time.NewTicker(settleTime / settlePolls)
	defer ticks.Stop()
	for quiet := 0; ; quiet++ {
		if busy() {
			quiet = -1
		}
		if quiet == polls {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// received returns how many bytes have arrived on c: -1 if the kernel does not say.
func received(c net.Conn) int64 {
	raw, ok := rawOf(belowTLS(c))
	if !ok {
		return -1
	}
	bytes := int64(-1)
	_ = control(raw, func(fd int) error { // an error leaves it at -1
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			bytes = int64(info.Bytes_received)
		}
		return err
	})
	return bytes
}

// writtenTo returns how many of the bytes written to c its peer has acknowledged, and how many
// it has not: -1, -1 if the kernel does not say.
func writtenTo(c net.Conn) (acked, unacked int64) {
	acked, unacked = -1, -1
	raw, ok := rawOf(c)
	if !ok {
		return acked, unacked
	}
	_ = control(raw, func(fd int) error { // an error leaves both at -1
		for range 100 { // a peer that reads fast must not delay the exit
			queued, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
			if err != nil {
				return err
			}
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil {
				return err
			}
			before := acked
			acked, unacked = int64(info.Bytes_acked), int64(queued)
			// An acknowledgement between the two calls counts its bytes twice. There was none if the number is that of the round before.
			if acked == before {
				break
			}
		}
		return nil
	})
	return acked, unacked
}

// rawOf returns the raw socket of a listener or connection. Types of package tls do not
// expose theirs.
func rawOf(socket any) (syscall.RawConn, bool) {
	c, ok := socket.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := c.SyscallConn()
	return raw, err == nil
}

// The instructions of a classic BPF program that sees a segment from its TCP header on:
// drop those with SYN and without ACK, keep the others whole.
var onlyBegun = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},                  // A = flags
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},               // A &= SYN|ACK
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jt: 0, Jf: 1}, // if A == SYN
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},                                 // drop
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},                        // keep
}

// dropSYN attaches the filter to a TCP socket. It returns another descriptor of the socket, for
// acceptSYN.
func dropSYN(raw syscall.RawConn) (another int, err error) {
	program := unix.SockFprog{Len: uint16(len(onlyBegun)), Filter: &onlyBegun[0]}
	err = control(raw, func(fd int) error {
		protocol, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PROTOCOL) // 0 after an error
		if protocol != unix.IPPROTO_TCP {
			return unix.EPROTONOSUPPORT
		}
		if another, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return err
		}
		if err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
			_ = unix.Close(another) // err says more
		}
		return err
	})
	return another, err
}

// acceptSYN detaches the filters of sockets, and closes these descriptors of them.
func acceptSYN(sockets []int) {
	for _, fd := range sockets {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) // a socket that was filtered twice has no filter
		_ = unix.Close(fd)                                                    // of a descriptor that dropSYN has opened
	}
}

// waiting reports whether an accept queue is not empty. For a listener, tcpi_unacked is the
// length of its accept queue.
func waiting(sockets []syscall.RawConn) bool {
	for _, raw := range sockets {
		queued := uint32(0)
		err := control(raw, func(fd int) error {
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err == nil {
				queued = info.Unacked
			}
			return err
		})
		if err == nil && queued > 0 {
			return true
		}
	}
	return false
}

// control calls f with the descriptor. It returns the error of f, or the error of raw if
// the socket is closed.
func control(raw syscall.RawConn, f func(fd int) error) error {
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
