package tcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// echo answers.
type echo struct{ tcp.HandlerBase }

func (echo) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

func newEcho() tcp.Handler { return echo{} }

// mustEcho sends a message and wants it back.
func mustEcho(t testing.TB, c net.Conn) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(hangGuard))
	if _, err := c.Write([]byte("message")); err != nil {
		t.Fatal(err)
	}
	var b [7]byte
	if _, err := io.ReadFull(c, b[:]); err != nil || string(b[:]) != "message" {
		t.Fatalf("echo: got %q, %v", b, err)
	}
}

func mustDial(t testing.TB, addr net.Addr) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestListen serves on addresses of all kinds, with one group, two, or one loop.
func TestListen(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", ":0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			checkLeaks(t)
			g := newGroup(t, 2)
			l, err := tcp.Listen(g, g, addr, newEcho, tcp.WithReusePort(true), tcp.WithBacklog(10), tcp.WithSocketBuffers(1<<16, 1<<16))
			if err != nil && strings.Contains(addr, "::1") {
				t.Skip("no IPv6 here:", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, port, _ := net.SplitHostPort(l.Addr().String())
				host, _, _ := net.SplitHostPort(addr)
				mustEcho(t, mustDial(t, addrOf(net.JoinHostPort(host, port))))
			}
			if s := l.Stats(); s.Accepted != 3 || s.Refused != 0 || s.Paused != 0 {
				t.Errorf("got %+v, want 3 accepted", s)
			}
		})
	}
}

type addrOf string

func (addrOf) Network() string  { return "tcp" }
func (a addrOf) String() string { return string(a) }

func TestListenOn(t *testing.T) {
	checkLeaks(t)
	loop, err := core.NewEventLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	h := &recorder{log: newLog()}
	ch, err := tcp.DialOn(context.Background(), loop, l.Addr().String(), h)
	if err != nil {
		t.Fatal(err)
	}
	if ch.EventLoop() != loop || l.EventLoop() != loop {
		t.Error("not on the loop that was given")
	}
	ch.WriteAndFlush([]byte("x"))
	h.await(t, "Read")
	ch.Close()
	h.await(t, "Unregistered")
}

// TestListenerClose: the address is free when the future completes, channels go on,
// and a second call returns the same future.
func TestListenerClose(t *testing.T) {
	checkLeaks(t)
	g := newGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	c := mustDial(t, l.Addr())
	mustEcho(t, c)
	if l.CloseCause() != nil {
		t.Error("a cause before the close")
	}
	f := l.Close()
	if l.Close() != f {
		t.Error("the second Close returned another future")
	}
	wantErr(t, "Close", awaitErr(t, "the close", f), nil)
	wantErr(t, "CloseFuture", awaitErr(t, "the close", l.CloseFuture()), nil)
	wantErr(t, "the cause", l.CloseCause(), tcp.ErrListenerClosed)
	wantErr(t, "Close again", awaitErr(t, "the close", l.Close()), nil)
	if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after the close: got %v, want ECONNREFUSED", err)
	}
	mustEcho(t, c)
	again, err := tcp.Listen(g, g, l.Addr().String(), newEcho)
	if err != nil {
		t.Fatal(err)
	}
	on(t, again.EventLoop(), func() { again.Close() })
	awaitErr(t, "the close", again.CloseFuture())
}

// TestG23ListenerEndsAtShutdown: at once, uncounted, by either kind of shutdown.
func TestG23ListenerEndsAtShutdown(t *testing.T) {
	for name, end := range map[string]func(*core.Group){
		"graceful":      func(g *core.Group) { _, _ = g.ShutdownGracefully(0, hangGuard) },
		"Shutdown":      func(g *core.Group) { g.Shutdown() },
		"CloseChannels": func(g *core.Group) { _, _ = g.ShutdownGracefully(0, hangGuard) },
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			var opts []core.Option
			if name == "CloseChannels" {
				opts = append(opts, core.WithDrain(core.CloseChannels))
			}
			g := newGroup(t, 1, opts...)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
			if err != nil {
				t.Fatal(err)
			}
			end(g)
			if r := awaitGroup(t, g); r.ChannelsDrained+r.ChannelsAborted != 0 || r.TimedOut {
				t.Errorf("G23: %+v, want no channel", r)
			}
			wantErr(t, "the cause", l.CloseCause(), core.ErrShutdown)
			awaitErr(t, "the close", l.Close())
			_, err = tcp.Listen(g, g, "127.0.0.1:0", newEcho)
			wantErr(t, "Listen after the end", err, core.ErrRejected)
		})
	}
}

// TestG23BacklogIsTaken: connections that the kernel has accepted when the listener
// ends in order are served; an abort resets them.
func TestG23BacklogIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(boss *core.Group, l *tcp.Listener)
		served bool
	}{
		"Close":              {func(_ *core.Group, l *tcp.Listener) { l.Close() }, true},
		"ShutdownGracefully": {func(boss *core.Group, _ *tcp.Listener) { _, _ = boss.ShutdownGracefully(0, hangGuard) }, true},
		"Shutdown":           {func(boss *core.Group, _ *tcp.Listener) { boss.Shutdown() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			boss, worker := newGroup(t, 1), newGroup(t, 1)
			l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho)
			if err != nil {
				t.Fatal(err)
			}
			held, release := make(chan struct{}), make(chan struct{})
			if err := boss.Execute(func() { close(held); <-release }); err != nil {
				t.Fatal(err)
			}
			await(t, "the task", held)
			var conns [10]net.Conn
			for i := range conns {
				conns[i] = mustDial(t, l.Addr())
			}
			c.end(boss, l)
			close(release)
			awaitErr(t, "the close", l.CloseFuture())
			for _, conn := range conns {
				if c.served {
					mustEcho(t, conn)
				} else if n, err := readAll(conn); n != 0 || err == nil {
					t.Errorf("got %d bytes and %v, want a reset", n, err)
				}
			}
		})
	}
}

// TestG23TheWholeBacklogIsTaken fills the backlog: Linux queues one connection more
// than listen(2) was asked for, and that one is served too.
func TestG23TheWholeBacklogIsTaken(t *testing.T) {
	for _, backlog := range []int{1, 4} {
		t.Run(fmt.Sprint(backlog), func(t *testing.T) {
			checkLeaks(t)
			conns, l, release := heldListener(t, backlog+1, tcp.WithBacklog(backlog))
			l.Close()
			release()
			awaitErr(t, "the close", l.CloseFuture())
			if s := l.Stats(); s.Accepted != int64(backlog)+1 {
				t.Errorf("G23: accepted %d connections of a backlog of %d, want %d", s.Accepted, backlog, backlog+1)
			}
			for _, conn := range conns {
				mustEcho(t, conn)
			}
		})
	}
}

// TestG23BacklogWithFaults ends a listener whose accept fails meanwhile: an error of one
// connection does not cost the others, and the lack of descriptors is logged.
func TestG23BacklogWithFaults(t *testing.T) {
	for _, c := range []struct {
		errno  syscall.Errno
		served bool
	}{
		{syscall.ECONNABORTED, true}, {syscall.EPROTO, true}, {syscall.ENETDOWN, true}, {syscall.EINTR, true},
		{syscall.EMFILE, false}, {syscall.ENOBUFS, false},
	} {
		t.Run(c.errno.Error(), func(t *testing.T) {
			checkLeaks(t)
			var failed atomic.Bool
			var logged atomic.Int32
			conns, l, release := heldListener(t, 3, tcp.WithLogger(slog.New(countingHandler{&logged})),
				tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
					if op == "accept" && failed.CompareAndSwap(false, true) {
						return n, c.errno
					}
					return n, 0
				}))
			l.Close()
			release()
			awaitErr(t, "the close", l.CloseFuture())
			for _, conn := range conns {
				if c.served {
					mustEcho(t, conn)
				} else if n, err := readAll(conn); n != 0 || err == nil {
					t.Errorf("got %d bytes and %v, want a reset", n, err)
				}
			}
			if n := logged.Load(); (n == 0) != c.served {
				t.Errorf("G23: %d lines logged, want some if and only if connections are reset", n)
			}
		})
	}
}

// heldListener returns n connections that the kernel has accepted, and their listener,
// whose loop does nothing until release. Workers are of another loop.
func heldListener(t *testing.T, n int, opts ...tcp.Option) (conns []net.Conn, l *tcp.Listener, release func()) {
	t.Helper()
	boss, worker := newGroup(t, 1), newGroup(t, 1)
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho, opts...)
	if err != nil {
		t.Fatal(err)
	}
	held, gate := make(chan struct{}), make(chan struct{})
	if err := boss.Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	await(t, "the task", held)
	for range n {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	return conns, l, release
}

// TestG22RefusedByWorker: a connection that no worker takes is closed, counted and
// logged, and no handler hears of it.
func TestG22RefusedByWorker(t *testing.T) {
	for name, c := range map[string]struct {
		handler func() tcp.Handler
		down    bool
	}{
		"worker is down":    {newEcho, true},
		"newHandler is nil": {func() tcp.Handler { return nil }, false},
		"newHandler panics": {func() tcp.Handler { panic("boom") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			boss, worker := newGroup(t, 1), newGroup(t, 1)
			var logged atomic.Int32
			logger := slog.New(countingHandler{&logged})
			l, err := tcp.Listen(boss, worker, "127.0.0.1:0", c.handler, tcp.WithLogger(logger))
			if err != nil {
				t.Fatal(err)
			}
			if c.down {
				worker.Shutdown()
				awaitGroup(t, worker)
			}
			for range 5 {
				if n, _ := readAll(mustDial(t, l.Addr())); n != 0 {
					t.Errorf("got %d bytes from a connection that nobody took", n)
				}
			}
			awaitErr(t, "the close", l.Close())
			if s := l.Stats(); s.Accepted != 5 || s.Refused != 5 {
				t.Errorf("got %+v, want 5 accepted and refused", s)
			}
			if logged.Load() != 3 {
				t.Errorf("logged %d times, want 3 (at 1, 2 and 4)", logged.Load())
			}
		})
	}
}

type countingHandler struct{ n *atomic.Int32 }

func (countingHandler) Enabled(context.Context, slog.Level) bool    { return true }
func (h countingHandler) Handle(context.Context, slog.Record) error { h.n.Add(1); return nil }
func (h countingHandler) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h countingHandler) WithGroup(string) slog.Handler             { return h }

// TestG22AcceptAgainstShutdown has clients connect while the workers are shut down:
// each connection becomes a channel that ends in order, or is closed by the listener.
func TestG22AcceptAgainstShutdown(t *testing.T) {
	checkLeaks(t)
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		boss, worker := newGroup(t, 1), newGroup(t, 2)
		var active, gone atomic.Int64
		l, err := tcp.Listen(boss, worker, "127.0.0.1:0", func() tcp.Handler {
			return &recorder{log: newLog(), then: func(at string, _ *tcp.Channel, _ []byte) {
				switch at {
				case "Active":
					active.Add(1)
				case "Unregistered":
					gone.Add(1)
				}
			}}
		})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 20 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					return
				}
				_, _ = readAll(c)
				_ = c.Close()
			}()
		}
		for l.Stats().Accepted < 5 {
			time.Sleep(10 * time.Microsecond)
		}
		_, _ = worker.ShutdownGracefully(0, hangGuard)
		awaitGroup(t, worker)
		_, _ = boss.ShutdownGracefully(0, hangGuard)
		awaitGroup(t, boss)
		wg.Wait()
		s := l.Stats()
		if active.Load() != gone.Load() || s.Accepted != active.Load()+s.Refused {
			t.Errorf("G22: %+v, %d active, %d unregistered: want accepted = active + refused, active = unregistered", s, active.Load(), gone.Load())
		}
	}
}

func init() { children["descriptors"] = childWithoutDescriptors }

// TestAcceptWithoutDescriptors: a listener that has run out of descriptors pauses
// instead of spinning, and goes on when there are some.
func TestAcceptWithoutDescriptors(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EVENTIDE_TCP_CHILD=descriptors")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func childWithoutDescriptors() {
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	g, err := core.NewGroup(1)
	check(err)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(slog.DiscardHandler)))
	check(err)
	c, err := net.Dial("tcp", l.Addr().String())
	check(err)
	var b [1]byte
	echoOnce := func(c net.Conn) {
		_, err := c.Write([]byte("x"))
		check(err)
		_, err = io.ReadFull(c, b[:])
		check(err)
	}
	echoOnce(c)
	// A socket for one more connection, and then no descriptor more.
	second, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(err)
	var hoard []*os.File
	var limit syscall.Rlimit
	check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = 64
	check(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			break
		}
		hoard = append(hoard, f)
	}
	addr := l.Addr().(*net.TCPAddr)
	began := time.Now()
	check(syscall.Connect(second, &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}))
	for l.Stats().Paused < 6 {
		time.Sleep(time.Millisecond)
	}
	// It paused 5, 10, 20, 40 and 80 ms, and timers are never early.
	if took := time.Since(began); took < 155*time.Millisecond {
		fmt.Println("the listener spins without descriptors: 6 attempts in", took)
		os.Exit(1)
	}
	echoOnce(c) // others go on
	for _, f := range hoard {
		_ = f.Close()
	}
	_, err = syscall.Write(second, []byte("x"))
	check(err)
	_, err = syscall.Read(second, b[:]) // blocks until the listener has recovered
	check(err)
	check(c.Close())
	check(syscall.Close(second))
	check(g.Close())
	fmt.Println("ok")
}
