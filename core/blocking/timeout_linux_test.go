package blocking_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// The kernel gives up a peer that does not acknowledge, with ETIMEDOUT. A drain that gets
// this error is not complete: the kernel has discarded its bytes.
func TestG23ConnectionGivenUpByTheKernelIsNotDrained(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	if err := theirs.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	size := sendBuffer(t, ours.(*net.TCPConn), 1<<20) / 2 // more than the peer's kernel takes, and less than ours
	userTimeout(t, ours.(*net.TCPConn), 300*time.Millisecond)
	ch := mustRegister(t, g, ours, &handler{})
	if n, err := ch.WriteAndFlush(make([]byte, size)).Wait(t.Context()); n != size || err != nil {
		t.Fatalf("our kernel took %d of %d bytes (%v): the test needs it to take all", n, size, err)
	}
	coretest.MustShutdownGracefully(t, g, 0, long) // the peer never reads
	report := coretest.AwaitDone(t, g)
	received, err := io.Copy(io.Discard, theirs)
	if received >= int64(size) {
		t.Fatalf("the peer received all %d bytes (%v): the test needs a connection that dies", received, err)
	}
	if report.ChannelsDrained != 0 || report.ChannelsAborted != 1 || report.TimedOut {
		t.Errorf("G23: report %+v, and the peer received %d of %d bytes; want 1 aborted, before the deadline", report, received, size)
	}
	if cause := ch.CloseCause(); !errors.Is(cause, syscall.ETIMEDOUT) {
		t.Errorf("CloseCause: got %v, want ETIMEDOUT", cause)
	}
}

// sendBuffer sets the send buffer of conn and returns the size that the kernel made of it.
func sendBuffer(t *testing.T, conn *net.TCPConn, size int) (n int) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err = errors.Join(err, conn.SetWriteBuffer(size)); err != nil {
		t.Fatal(err)
	}
	var refused error
	err = raw.Control(func(fd uintptr) { n, refused = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF) })
	if err = errors.Join(err, refused); err != nil {
		t.Fatal(err)
	}
	return n
}

// userTimeout sets for how long the kernel waits for an acknowledgement.
func userTimeout(t *testing.T, conn *net.TCPConn, d time.Duration) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	if err = errors.Join(err, refused); err != nil {
		t.Fatal(err)
	}
}
