package tcp_test

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestDefaults: a channel without options has the documented values, and the constants say the
// same.
func TestDefaults(t *testing.T) {
	coretest.CheckLeaks(t)
	coretest.Want(t, "DefaultKeepAlive", tcp.DefaultKeepAlive, 15*time.Second) // TestSocketOptions reads it back
	var inRead atomic.Int64
	p := newPair(t, func(at string, _ *tcp.Channel, b []byte) {
		if at == "Read" {
			inRead.Store(max(inRead.Load(), int64(len(b))))
		}
	}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" {
			return 1, 0
		}
		return n, 0
	}))
	coretest.OnLoop(t, p.group, func() {
		coretest.Want(t, "bytes before unwritable", p.ch.BytesBeforeUnwritable(), 64<<10+1)
		p.ch.Write(make([]byte, 64<<10+1))
		coretest.Want(t, "bytes before writable", p.ch.BytesBeforeWritable(), 64<<10+1-32<<10+1)
		p.ch.Flush()
		coretest.Want(t, "bytes left by a flush of single bytes", p.ch.PendingBytes(), 64<<10+1-16)
		p.ch.SetAutoRead(false)
	})
	const sent = 256 << 10
	setBuffer(t, p.ch.FD(), unix.SO_RCVBUF, 1<<20)
	go func() { _, _ = p.peer.Write(make([]byte, sent)) }()
	coretest.Until(t, "more input than one read takes", func() bool {
		n, err := unix.IoctlGetInt(p.ch.FD(), unix.SIOCINQ)
		coretest.Must(t, err)
		return n > 128<<10
	})
	p.ch.SetAutoRead(true)
	coretest.Until(t, "a full read", func() bool { return inRead.Load() >= 64<<10 })
	coretest.OnLoop(t, p.group, func() {})
	coretest.Want(t, "bytes of the largest Read", inRead.Load(), 64<<10)
	coretest.Want(t, "the constants", [5]int{tcp.DefaultLowWaterMark, tcp.DefaultHighWaterMark, tcp.DefaultWriteSpin, tcp.DefaultReadBuffer, tcp.DefaultBacklog},
		[5]int{32 << 10, 64 << 10, 16, 64 << 10, 4096})
}

// TestSocketBuffersOfTheKernel: without WithSocketBuffers, and with 0, the buffers are those
// of the kernel.
func TestSocketBuffersOfTheKernel(t *testing.T) {
	coretest.CheckLeaks(t)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	defer unix.Close(fd)
	for _, opts := range [][]tcp.Option{nil, {tcp.WithSocketBuffers(0, 0)}} {
		p := newPair(t, nil, opts...)
		for name, option := range map[string]int{"receive": unix.SO_RCVBUF, "send": unix.SO_SNDBUF} {
			kernel, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
			coretest.Must(t, err)
			got, err := unix.GetsockoptInt(p.ch.FD(), unix.SOL_SOCKET, option)
			coretest.Must(t, err)
			if got < kernel { // the kernel adapts it upwards
				t.Errorf("the %s buffer has %d bytes, want the kernel's %d or more", name, got, kernel)
			}
		}
	}
}

// TestListenerSocketOptions reads the socket options of a listener back, and those of a dialled
// socket, on which they have no effect.
func TestListenerSocketOptions(t *testing.T) {
	somaxconn, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	coretest.Must(t, err)
	limit, err := strconv.Atoi(strings.TrimSpace(string(somaxconn)))
	coretest.Must(t, err)
	for _, c := range []struct {
		name               string
		opts               []tcp.Option
		address, port, log int
	}{
		{"none", nil, 1, 0, min(4096, limit)},
		{"WithReuseAddr(true)", []tcp.Option{tcp.WithReuseAddr(true)}, 1, 0, min(4096, limit)},
		{"WithReuseAddr(false)", []tcp.Option{tcp.WithReuseAddr(false)}, 0, 0, min(4096, limit)},
		{"WithReusePort(true)", []tcp.Option{tcp.WithReusePort(true)}, 1, 1, min(4096, limit)},
		{"WithReusePort(false)", []tcp.Option{tcp.WithReusePort(false)}, 1, 0, min(4096, limit)},
		{"WithBacklog(3)", []tcp.Option{tcp.WithBacklog(3)}, 1, 0, min(3, limit)},
	} {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			before := listening()
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, c.opts...)
			coretest.Must(t, err)
			ours := 0
			for fd, backlog := range listening() {
				if _, old := before[fd]; old {
					continue
				}
				ours++
				coretest.Want(t, "the backlog", int(backlog), c.log)
				coretest.Want(t, "SO_REUSEADDR", option(t, fd, unix.SO_REUSEADDR), c.address)
				coretest.Want(t, "SO_REUSEPORT", option(t, fd, unix.SO_REUSEPORT), c.port)
			}
			coretest.Want(t, "listening sockets", ours, 1)
			ch, err := tcp.Dial(t.Context(), g, l.Addr().String(), tcp.HandlerBase{}, c.opts...)
			coretest.Must(t, err)
			coretest.Want(t, "SO_REUSEADDR of a dial", option(t, ch.FD(), unix.SO_REUSEADDR), 0)
			coretest.Want(t, "SO_REUSEPORT of a dial", option(t, ch.FD(), unix.SO_REUSEPORT), 0)
		})
	}
}

func option(t *testing.T, fd, option int) int {
	t.Helper()
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	coretest.Must(t, err)
	return n
}
