package tcp_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestDialErrors checks the error of every way in which a dial with good arguments fails, and that
// no method of the handler is called.
func TestDialErrors(t *testing.T) {
	cause := errors.New("enough")
	ended, end := context.WithCancelCause(context.Background())
	end(cause)
	cases := []struct {
		name  string
		dial  func(t *testing.T, g *core.Group, h tcp.Handler) error
		wants []error
	}{
		{"refused by the peer", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), g, closedAddr(t), h)
		}, []error{syscall.ECONNREFUSED}},
		{"refused on all addresses", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			_, port, _ := net.SplitHostPort(closedAddr(t))
			return dialErr(context.Background(), g, "localhost:"+port, h)
		}, []error{syscall.ECONNREFUSED}},
		{"context ended before", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(ended, g, "127.0.0.1:1", h)
		}, []error{cause}},
		{"timeout", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			return dialErr(ctx, g, silentAddr(t), h)
		}, []error{context.DeadlineExceeded}},
		{"cancelled while it waits", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			f := tcp.DialAsync(ctx, g, silentAddr(t), h)
			coretest.OnLoop(t, g.Next(), func() {})
			cancel(cause)
			return coretest.AwaitErr(t, "the dial", f)
		}, []error{cause}},
		{"loop is shut down meanwhile", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			f := tcp.DialAsync(context.Background(), g, silentAddr(t), h)
			_, _ = g.ShutdownGracefully(0, coretest.HangGuard)
			return coretest.AwaitErr(t, "the dial", f)
		}, []error{core.ErrShutdown}},
		{"loop is aborted meanwhile", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			f := tcp.DialAsync(context.Background(), g, silentAddr(t), h)
			g.Shutdown()
			return coretest.AwaitErr(t, "the dial", f)
		}, []error{core.ErrShutdown}},
		{"loop has ended", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			g.Shutdown()
			coretest.AwaitDone(t, g)
			return dialErr(context.Background(), g, closedAddr(t), h)
		}, []error{core.ErrRejected, core.ErrShutdown}},
		{"loop has ended, async by name", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			g.Shutdown()
			coretest.AwaitDone(t, g)
			return coretest.AwaitErr(t, "the dial", tcp.DialAsync(context.Background(), g, "localhost:1", h))
		}, []error{core.ErrRejected}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			h := &recorder{}
			err := c.dial(t, g, h)
			if err == nil {
				t.Fatal("got no error")
			}
			coretest.WantErr(t, "Dial", err, c.wants...)
			g.Shutdown()
			coretest.AwaitDone(t, g)
			h.Want(t, "events", "")
		})
	}
}

func dialErr(ctx context.Context, g *core.Group, addr string, h tcp.Handler) error {
	_, err := tcp.Dial(ctx, g, addr, h)
	return err
}

// closedAddr returns an address without a listener.
func closedAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// silentAddr is an address on which a connect gets no answer: its backlog is full.
func silentAddr(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: sa.(*unix.SockaddrInet4).Port}).String()
	for {
		c, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

// TestG22DialAgainstShutdown has dials race with a shutdown of their loop: each future
// completes, with a channel that has ended in order or with an error.
func TestG22DialAgainstShutdown(t *testing.T) {
	coretest.CheckLeaks(t)
	servers := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(servers, servers, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	opened, failed := 0, 0
	for round := range rounds {
		g := coretest.NewGroup(t, 1)
		var logs [4]*recorder
		var futures [4]*core.Future[*tcp.Channel]
		var wg sync.WaitGroup
		for i := range futures {
			logs[i] = &recorder{}
			wg.Add(1)
			go func() {
				defer wg.Done()
				futures[i] = tcp.DialAsync(context.Background(), g, l.Addr().String(), logs[i])
			}()
		}
		for range round % 7 {
			runtime.Gosched()
		}
		if round%2 == 0 {
			g.Shutdown()
		} else {
			_, _ = g.ShutdownGracefully(0, 10*time.Millisecond)
		}
		wg.Wait()
		coretest.AwaitDone(t, g)
		for i, f := range futures {
			want := "Active Inactive Unregistered"
			if err := coretest.AwaitErr(t, "a dial", f); err != nil {
				want = ""
				failed++
			} else {
				opened++
			}
			logs[i].Want(t, "G22: events", want)
		}
	}
	t.Logf("%d opened, %d failed", opened, failed)
}

// TestListenErrors is the same for Listen.
func TestListenErrors(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	coretest.Must(t, err)
	defer taken.Close()
	_, err = tcp.Listen(g, g, "192.0.2.1:0", newEcho)
	coretest.WantErr(t, "not our address", err, syscall.EADDRNOTAVAIL)
	_, err = tcp.Listen(g, g, taken.Addr().String(), newEcho)
	coretest.WantErr(t, "address in use", err, syscall.EADDRINUSE)
}

// TestSocketOptions reads the socket options of a connection back, on both sides.
func TestSocketOptions(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	cases := []struct {
		name          string
		opts          []tcp.Option
		level, option int
		want          int
	}{
		{"no delay", nil, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{"delay", []tcp.Option{tcp.WithNoDelay(false)}, unix.IPPROTO_TCP, unix.TCP_NODELAY, 0},
		{"keep alive", nil, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"keep alive every 15 s", nil, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15},
		{"keep alive in whole seconds", []tcp.Option{tcp.WithKeepAlive(time.Millisecond)}, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 1},
		{"no keep alive", []tcp.Option{tcp.WithKeepAlive(0)}, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0},
		{"send buffer", []tcp.Option{tcp.WithSocketBuffers(0, 50_000)}, unix.SOL_SOCKET, unix.SO_SNDBUF, 100_000},
		{"receive buffer", []tcp.Option{tcp.WithSocketBuffers(50_000, 0)}, unix.SOL_SOCKET, unix.SO_RCVBUF, 100_000},
	}
	for _, c := range cases {
		accepted := make(chan *tcp.Channel, 1)
		l, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler {
			return &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
				if at == "Active" {
					accepted <- ch
				}
			}}
		}, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		dialled, err := tcp.Dial(context.Background(), g, l.Addr().String(), tcp.HandlerBase{}, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		for side, ch := range map[string]*tcp.Channel{"accepted": <-accepted, "dialled": dialled} {
			if got, err := unix.GetsockoptInt(ch.FD(), c.level, c.option); got != c.want || err != nil {
				t.Errorf("%s, %s: got %d, %v, want %d", c.name, side, got, err, c.want)
			}
		}
		coretest.AwaitErr(t, "the close", dialled.Close())
		coretest.AwaitErr(t, "the close", l.Close())
	}
}

// TestLingerOfZeroResets: the peer gets a reset, not an end of the stream.
func TestLingerOfZeroResets(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithLinger(0))
	coretest.AwaitErr(t, "the close", p.ch.Close())
	if _, err := readAll(p.peer); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the peer got %v, want ECONNRESET", err)
	}
}
