package tcp_test

import (
	"math"
	"syscall"
	"testing"

	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

const (
	// pinnedBuffer is the size to which pin sets a socket buffer: more than the largest
	// segment of the loopback device, so that a stream does not wait for delayed
	// acknowledgements.
	pinnedBuffer = 128 << 10

	// mostSegments is more than the kernel puts into the two buffers beyond their sizes: each
	// may be exceeded by one segment of at most 64 KiB and its overhead.
	mostSegments = 512 << 10
)

// noWaterMarks keeps a test from hearing of writability: how many bytes wait depends on
// the socket buffers of the machine.
func noWaterMarks() tcp.Option { return tcp.WithWriteBufferWaterMarks(math.MaxInt32, math.MaxInt32) }

// fill writes and flushes more than the two kernels can hold. The write is pending until
// the peer reads, whatever the socket buffers of the machine.
func (p *pair) fill(t testing.TB) (w tcp.WriteFuture) {
	t.Helper()
	on(t, p.ch.EventLoop(), func() { w = p.fillInLoop(t) })
	return w
}

// fillInLoop is fill. Loop only.
func (p *pair) fillInLoop(t testing.TB) tcp.WriteFuture {
	t.Helper()
	n := p.kernelHolds(t) + 1
	w := p.ch.WriteAndFlush(make([]byte, n))
	if left := p.ch.PendingBytes(); left == 0 {
		t.Fatalf("the kernels took all of %d bytes, want more than they hold", n)
	}
	return w
}

// kernelHolds pins our send buffer and the peer's receive buffer, so that the kernel does
// not adapt them any more, and returns more bytes than the two hold.
func (p *pair) kernelHolds(t testing.TB) int {
	t.Helper()
	return pin(t, p.ch.FD(), unix.SO_SNDBUF) + pin(t, fdOf(t, p.peer), unix.SO_RCVBUF) + mostSegments
}

// pin sets a socket buffer to a fixed size. It returns the most bytes that the buffer
// holds from then on: a window that was granted before is not taken back.
func pin(t testing.TB, fd, buffer int) int {
	t.Helper()
	before, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, buffer)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, buffer, pinnedBuffer); err != nil {
		t.Fatal(err)
	}
	after, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, buffer)
	if err != nil {
		t.Fatal(err)
	}
	return before + after
}

// fdOf returns the descriptor of c, which must stay open while it is used.
func fdOf(t testing.TB, c syscall.Conn) (fd int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(f uintptr) { fd = int(f) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}
