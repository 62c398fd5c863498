package tcp_test

import (
	"context"
	"errors"
	"log/slog"
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

// TestDialErrors checks the error of every way in which a dial fails, and that no method
// of the handler is called.
func TestDialErrors(t *testing.T) {
	cause := errors.New("enough")
	ended, end := context.WithCancelCause(context.Background())
	end(cause)
	executors, err := core.NewExecutorGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer executors.Close()
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
		{"bad address", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), g, "no port", h)
		}, nil},
		{"bad port", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), g, "127.0.0.1:99999", h)
		}, nil},
		{"nil context", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			var none context.Context
			return dialErr(none, g, "127.0.0.1:1", h)
		}, nil},
		{"nil group", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), nil, "127.0.0.1:1", h)
		}, nil},
		{"group without I/O", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), executors, "127.0.0.1:1", h)
		}, nil},
		{"nil handler", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return dialErr(context.Background(), g, "127.0.0.1:1", nil)
		}, nil},
		{"nil handler, async", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			return coretest.AwaitErr(t, "the dial", tcp.DialAsync(context.Background(), g, "127.0.0.1:1", nil))
		}, nil},
		{"bad option", func(t *testing.T, g *core.Group, h tcp.Handler) error {
			_, err := tcp.Dial(context.Background(), g, "127.0.0.1:1", h, tcp.WithWriteSpin(0))
			return err
		}, nil},
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
	executors, err := core.NewExecutorGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer executors.Close()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, f := range map[string]func() error{
		"nil boss":           func() error { _, err := tcp.Listen(nil, g, "127.0.0.1:0", newEcho); return err },
		"nil worker":         func() error { _, err := tcp.Listen(g, nil, "127.0.0.1:0", newEcho); return err },
		"boss without I/O":   func() error { _, err := tcp.Listen(executors, g, "127.0.0.1:0", newEcho); return err },
		"worker without I/O": func() error { _, err := tcp.Listen(g, executors, "127.0.0.1:0", newEcho); return err },
		"nil loop":           func() error { _, err := tcp.ListenOn(nil, "127.0.0.1:0", newEcho); return err },
		"nil newHandler":     func() error { _, err := tcp.Listen(g, g, "127.0.0.1:0", nil); return err },
		"bad address":        func() error { _, err := tcp.Listen(g, g, "nowhere", newEcho); return err },
		"not our address":    func() error { _, err := tcp.Listen(g, g, "192.0.2.1:0", newEcho); return err },
		"address in use":     func() error { _, err := tcp.Listen(g, g, taken.Addr().String(), newEcho); return err },
		"bad option":         func() error { _, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithBacklog(0)); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: got no error", name)
		} else if errors.Is(err, core.ErrRejected) {
			t.Errorf("%s: %v is ErrRejected, want a plain error", name, err)
		}
	}
}

// TestOptions is a table of good and bad values.
func TestOptions(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	cases := []struct {
		name string
		opt  tcp.Option
		ok   bool
	}{
		{"nil", nil, true},
		{"marks", tcp.WithWriteBufferWaterMarks(1, 1), true},
		{"marks: low 0", tcp.WithWriteBufferWaterMarks(0, 1), false},
		{"marks: low > high", tcp.WithWriteBufferWaterMarks(2, 1), false},
		{"spin 1", tcp.WithWriteSpin(1), true},
		{"spin 0", tcp.WithWriteSpin(0), false},
		{"read buffer 1", tcp.WithReadBuffer(1), true},
		{"read buffer 0", tcp.WithReadBuffer(0), false},
		{"buffers", tcp.WithSocketBuffers(0, 0), true},
		{"buffers: negative", tcp.WithSocketBuffers(0, -1), false},
		{"linger 0", tcp.WithLinger(0), true},
		{"linger negative", tcp.WithLinger(-1), false},
		{"no delay", tcp.WithNoDelay(false), true},
		{"half closure", tcp.WithHalfClosure(true), true},
		{"keep alive 0", tcp.WithKeepAlive(0), true},
		{"keep alive negative", tcp.WithKeepAlive(-1), false},
		{"backlog 1", tcp.WithBacklog(1), true},
		{"backlog 0", tcp.WithBacklog(0), false},
		{"reuse address", tcp.WithReuseAddr(false), true},
		{"reuse port", tcp.WithReusePort(true), true},
		{"nil logger", tcp.WithLogger(nil), true},
		{"logger", tcp.WithLogger(slog.Default()), true},
	}
	for _, c := range cases {
		l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, c.opt)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want ok %v", c.name, err, c.ok)
		}
		if err == nil {
			conn := mustDial(t, l.Addr())
			mustEcho(t, conn)
			_ = conn.Close()
			coretest.AwaitErr(t, "the close", l.Close())
		}
	}
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
