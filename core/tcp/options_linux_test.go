package tcp_test

import (
	"io"
	"maps"
	"math"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// mostKeepAlive is the maximum of the kernel: MAX_TCP_KEEPIDLE and MAX_TCP_KEEPINTVL.
const mostKeepAlive = 32767 * time.Second

// TestOptionsAtBounds reads back the kernel's values for the greatest option values, and for
// a period that is not whole seconds, on both sides of a connection.
func TestOptionsAtBounds(t *testing.T) {
	for _, c := range []struct {
		name          string
		opt           tcp.Option
		level, option int
		want          int
	}{
		{"keep alive: idle", tcp.WithKeepAlive(mostKeepAlive), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 32767},
		{"keep alive: interval", tcp.WithKeepAlive(mostKeepAlive), unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 32767},
		{"keep alive: rounded up to the bound", tcp.WithKeepAlive(mostKeepAlive - 1), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 32767},
		{"keep alive: 1 ns", tcp.WithKeepAlive(1), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 1},
		{"keep alive: 1 s", tcp.WithKeepAlive(time.Second), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 1},
		{"keep alive: 1 s and 1 ns", tcp.WithKeepAlive(time.Second + 1), unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 2},
		{"receive buffer", tcp.WithSocketBuffers(math.MaxInt32/2, 0), unix.SOL_SOCKET, unix.SO_RCVBUF, most(t, unix.SO_RCVBUF)},
		{"send buffer", tcp.WithSocketBuffers(0, math.MaxInt32/2), unix.SOL_SOCKET, unix.SO_SNDBUF, most(t, unix.SO_SNDBUF)},
	} {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			accepted := make(chan *tcp.Channel, 1)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler {
				return &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
					if at == "Active" {
						accepted <- ch
					}
				}}
			}, c.opt)
			coretest.Must(t, err)
			dialled, err := tcp.Dial(t.Context(), g, l.Addr().String(), tcp.HandlerBase{}, c.opt)
			coretest.Must(t, err)
			for side, ch := range map[string]*tcp.Channel{"accepted": <-accepted, "dialled": dialled} {
				got, err := unix.GetsockoptInt(ch.FD(), c.level, c.option)
				coretest.Must(t, err)
				coretest.Want(t, side, got, c.want)
			}
		})
	}
}

// most is the greatest buffer that the kernel gives.
func most(t *testing.T, option int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	defer unix.Close(fd)
	coretest.Must(t, unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, math.MaxInt32))
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	coretest.Must(t, err)
	return n
}

// TestReadBufferAtBound: it is not allocated before there is something to read.
func TestReadBufferAtBound(t *testing.T) {
	coretest.CheckLeaks(t)
	l, err := tcp.Listen(coretest.NewGroup(t, 1), coretest.NewGroup(t, 1), "127.0.0.1:0", newEcho, tcp.WithReadBuffer(tcp.MaxReadBuffer))
	coretest.Must(t, err)
	coretest.Must(t, coretest.AwaitErr(t, "the close", l.Close()))
}

// TestG23BacklogAtBound: the greatest backlog is that of the kernel, and Close serves it.
func TestG23BacklogAtBound(t *testing.T) {
	coretest.CheckLeaks(t)
	before := listening()
	conns, l, release := heldListener(t, 10, tcp.WithBacklog(math.MaxInt32-1))
	ours := listening()
	maps.DeleteFunc(ours, func(fd int, _ uint32) bool { _, old := before[fd]; return old })
	coretest.Want(t, "listening descriptors", len(ours), 1)
	for _, backlog := range ours {
		if backlog < 10 {
			t.Errorf("the kernel's backlog is %d, want at least 10", backlog)
		}
	}
	l.Close()
	release()
	coretest.Must(t, coretest.AwaitErr(t, "the close", l.CloseFuture()))
	for _, conn := range conns {
		mustEcho(t, conn)
	}
	coretest.Want(t, "G23: accepted", l.Stats().Accepted, 10)
}

// listening returns the backlog of each listening socket of this process.
func listening() map[int]uint32 {
	backlogs := map[int]uint32{}
	for fd := range 1 << 10 {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.State == unix.BPF_TCP_LISTEN {
			backlogs[fd] = info.Sacked // of a listener it means this
		}
	}
	return backlogs
}

// TestHugeWaterMarks: BytesBeforeUnwritable is exact for the greatest mark.
func TestHugeWaterMarks(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithWriteBufferWaterMarks(math.MaxInt-1, math.MaxInt-1))
	coretest.Want(t, "writable", p.ch.IsWritable(), true)
	coretest.Want(t, "bytes before unwritable", p.ch.BytesBeforeUnwritable(), math.MaxInt)
	p.ch.Write([]byte("x"))
	coretest.Want(t, "writable after a write", p.ch.IsWritable(), true)
	coretest.Want(t, "bytes before unwritable after a write", p.ch.BytesBeforeUnwritable(), math.MaxInt-1)
}

// TestHugeSpinAndLinger: the greatest values are as good as any. The close waits for the
// peer, and no longer.
func TestHugeSpinAndLinger(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithWriteSpin(math.MaxInt), tcp.WithLinger(math.MaxInt64))
	p.fill(t)
	f := p.ch.Close()
	coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	select {
	case <-f.Done():
		t.Fatal("closed before the peer had read")
	default:
	}
	n, err := io.Copy(io.Discard, p.peer)
	coretest.Must(t, err)
	if n == 0 {
		t.Error("the peer read nothing")
	}
	coretest.Must(t, coretest.AwaitErr(t, "the close", f))
}
