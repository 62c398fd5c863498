package tcp_test

import (
	"io"
	"maps"
	"math"
	"net"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// mostKeepAlive is the maximum of the kernel: MAX_TCP_KEEPIDLE and MAX_TCP_KEEPINTVL.
const mostKeepAlive = 32767 * time.Second

// TestOptionsBeyondBounds: for a value that the kernel would refuse or cut, or that would
// overflow, the call returns an error that names the call and the expected value.
func TestOptionsBeyondBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  tcp.Option
		want string
	}{
		{"marks: high overflows", tcp.WithWriteBufferWaterMarks(1, math.MaxInt),
			"WithWriteBufferWaterMarks: low is 1 and high is 9223372036854775807, want 1 <= low <= high <= 9223372036854775806"},
		{"read buffer + 1", tcp.WithReadBuffer(tcp.MaxReadBuffer + 1),
			"WithReadBuffer: size is 1073741825, want 1 to 1073741824"},
		{"read buffer of no slice", tcp.WithReadBuffer(math.MaxInt),
			"WithReadBuffer: size is 9223372036854775807, want 1 to 1073741824"},
		{"receive buffer + 1", tcp.WithSocketBuffers(math.MaxInt32/2+1, 0),
			"WithSocketBuffers: receive is 1073741824 and send is 0, want 0 to 1073741823"},
		{"send buffer + 1", tcp.WithSocketBuffers(0, math.MaxInt32/2+1),
			"WithSocketBuffers: receive is 0 and send is 1073741824, want 0 to 1073741823"},
		{"receive buffer beyond 32 bits", tcp.WithSocketBuffers(1<<32+1, 0),
			"WithSocketBuffers: receive is 4294967297 and send is 0, want 0 to 1073741823"},
		{"send buffer beyond 32 bits", tcp.WithSocketBuffers(0, 1<<32+1),
			"WithSocketBuffers: receive is 0 and send is 4294967297, want 0 to 1073741823"},
		{"idle before the beginning", tcp.WithIdleTimeouts(0, -1, 0),
			"WithIdleTimeouts: read is 0s, write is -1ns and all is 0s, want 0 or more"},
		{"keep alive + 1 ns", tcp.WithKeepAlive(mostKeepAlive + 1),
			"WithKeepAlive: period is 9h6m7.000000001s, want 0 to 9h6m7s"},
		{"keep alive of a day", tcp.WithKeepAlive(24 * time.Hour),
			"WithKeepAlive: period is 24h0m0s, want 0 to 9h6m7s"},
		{"keep alive overflows", tcp.WithKeepAlive(math.MaxInt64),
			"WithKeepAlive: period is 2562047h47m16.854775807s, want 0 to 9h6m7s"},
		{"backlog + 1", tcp.WithBacklog(math.MaxInt32),
			"WithBacklog: n is 2147483647, want 1 to 2147483646"},
		{"backlog beyond 32 bits", tcp.WithBacklog(1 << 32),
			"WithBacklog: n is 4294967296, want 1 to 2147483646"},
		{"backlog overflows", tcp.WithBacklog(math.MaxInt),
			"WithBacklog: n is 9223372036854775807, want 1 to 2147483646"},
	} {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			peer, err := net.Listen("tcp", "127.0.0.1:0")
			coretest.Must(t, err)
			defer peer.Close()

			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, c.opt)
			coretest.WantText(t, "Listen", err, "tcp: "+c.want)
			coretest.Want(t, "Listen", l, nil)
			ch, err := tcp.Dial(t.Context(), g, peer.Addr().String(), tcp.HandlerBase{}, c.opt)
			coretest.WantText(t, "Dial", err, "tcp: "+c.want)
			coretest.Want(t, "Dial", ch, nil)
			f := tcp.DialAsync(t.Context(), g, peer.Addr().String(), tcp.HandlerBase{}, c.opt)
			coretest.WantText(t, "DialAsync", coretest.AwaitErr(t, "the dial", f), "tcp: "+c.want)
		})
	}
}

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
