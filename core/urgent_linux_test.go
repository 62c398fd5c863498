package core_test

import (
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// TestR204UrgentDataIsReportedForEdgesOnly: an edge-triggered registration is called for urgent
// data, in front of which a read stops. A level-triggered one is called for input only: it
// would be called for the urgent byte in every turn, until the handler reads that byte.
func TestR204UrgentDataIsReportedForEdgesOnly(t *testing.T) {
	const turns, mostCalls = 100, 5 // a call per turn is a spin; the kernel may make two edges of one segment
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		for _, interest := range []core.Interest{core.Readable | core.EdgeTriggered, core.Readable} {
			fd, peer := tcpPair(t)
			var calls int // of the loop, as the following
			var all core.Readiness
			var got []byte
			read := make(chan struct{})
			r := mustRegister(t, l, fd, interest, func(r core.Readiness) {
				calls++
				all |= r
				var b [16]byte
				if len(got) > 0 {
					return // whatever else there is stays
				}
				if n, _ := unix.Read(fd, b[:]); n > 0 {
					got = append(got, b[:n]...)
					close(read)
				}
			})
			coretest.Must(t, unix.Sendto(peer, []byte("abc!"), unix.MSG_OOB, nil))
			coretest.Await(t, "input", read)
			for range turns {
				coretest.OnLoop(t, l, func() {})
			}
			coretest.OnLoop(t, l, func() {
				if edges := interest&core.EdgeTriggered != 0; string(got) != "abc" || !all.Readable() || all.Urgent() != edges {
					t.Errorf("R204: %v: read %q with the readiness %v, want \"abc\", readable, and urgent: %v", interest, got, all, edges)
				}
				if calls > mostCalls {
					t.Errorf("R204: %v: %d calls in %d turns for one message", interest, calls, turns)
				}
			})
			coretest.Must(t, r.Close())
		}
	})
}

// tcpPair returns the two ends of a connection: a non-blocking one, and its peer.
func tcpPair(t *testing.T) (fd, peer int) {
	t.Helper()
	socket := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		coretest.Must(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	listener, peer := socket(), socket()
	coretest.Must(t, unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	coretest.Must(t, unix.Listen(listener, 1))
	addr, err := unix.Getsockname(listener)
	coretest.Must(t, err)
	coretest.Must(t, unix.Connect(peer, addr))
	fd, _, err = unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	coretest.Must(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd, peer
}
