package tcp_test

import (
	"context"
	"errors"
	"math"
	"net"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

const (
	// pinnedBuffer is the size to which a test sets a send buffer.
	pinnedBuffer = 128 << 10

	// peerBuffer is the receive buffer of each peer: the kernel does not adapt it. The size is
	// set before the handshake, as a window that was granted cannot be taken back: segments
	// that no longer fit would be dropped, and sent again after a time-out.
	peerBuffer = 64 << 10

	// mostSegments is more than the kernel puts into the two buffers beyond their sizes: each
	// may be exceeded by one segment of at most 64 KiB and its overhead.
	mostSegments = 512 << 10
)

// listenForPeers returns a listener whose connections have peerBuffer.
func listenForPeers() (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var refused error
		err := raw.Control(func(fd uintptr) {
			refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, peerBuffer)
		})
		return errors.Join(err, refused)
	}}
	return config.Listen(context.Background(), "tcp", "127.0.0.1:0")
}

// noWaterMarks keeps a test from hearing of writability: how many bytes wait depends on
// the socket buffers of the machine.
func noWaterMarks() tcp.Option { return tcp.WithWriteBufferWaterMarks(math.MaxInt32, math.MaxInt32) }

// fill writes and flushes more than the two kernels can buffer. The write is pending until
// the peer reads, with every size of socket buffers.
func (p *pair) fill(t testing.TB) (w tcp.WriteFuture) {
	t.Helper()
	coretest.OnLoop(t, p.ch.EventLoop(), func() { w = p.fillInLoop(t) })
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

// kernelHolds fixes our send buffer, so that the kernel does not adapt it any more, and
// returns more bytes than it and the peer's receive buffer hold.
func (p *pair) kernelHolds(t testing.TB) int {
	t.Helper()
	receive, err := unix.GetsockoptInt(fdOf(t, p.peer), unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		t.Fatal(err)
	}
	return setBuffer(t, p.ch.FD(), unix.SO_SNDBUF, pinnedBuffer) + receive + mostSegments
}

// ourKernelTakes returns how many bytes our kernel takes at once on any machine, though the
// peer does not read: half of a send buffer that is fixed. It is more than the peer's
// kernel acknowledges before the peer reads.
func (p *pair) ourKernelTakes(t testing.TB) int {
	t.Helper()
	return setBuffer(t, p.ch.FD(), unix.SO_SNDBUF, 1<<20) / 2
}

// setBuffer sets a socket buffer and returns the size that the kernel made of it.
func setBuffer(t testing.TB, fd, buffer, size int) int {
	t.Helper()
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, buffer, size); err != nil {
		t.Fatal(err)
	}
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, buffer)
	if err != nil {
		t.Fatal(err)
	}
	return n
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
