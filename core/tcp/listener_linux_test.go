package tcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// echo answers.
type echo struct{ tcp.HandlerBase }

func (echo) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

func newEcho() tcp.Handler { return echo{} }

// mustEcho sends a message and wants it back.
func mustEcho(t testing.TB, c net.Conn) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(coretest.HangGuard))
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
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0", "[::]:0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 2)
			l, err := tcp.Listen(g, g, addr, newEcho, tcp.WithReusePort(true), tcp.WithBacklog(10), tcp.WithSocketBuffers(1<<16, 1<<16))
			noIPv6 := errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
			if strings.Contains(addr, "::") && noIPv6 { // any other refusal is a failure
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
	coretest.CheckLeaks(t)
	loop, err := core.NewEventLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	l, err := tcp.ListenOn(loop, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	h := &recorder{}
	ch, err := tcp.DialOn(context.Background(), loop, l.Addr().String(), h)
	if err != nil {
		t.Fatal(err)
	}
	if ch.EventLoop() != loop || l.EventLoop() != loop {
		t.Error("not on the loop that was given")
	}
	ch.WriteAndFlush([]byte("x"))
	h.Await(t, 1, "Read")
	ch.Close()
	h.Await(t, 1, "Unregistered")
}

// TestListenerClose: the address is free when the future completes, channels stay open,
// and a second call returns the same future.
func TestListenerClose(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
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
	coretest.WantErr(t, "Close", coretest.AwaitErr(t, "the close", f), nil)
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "the close", l.CloseFuture()), nil)
	coretest.WantErr(t, "the cause", l.CloseCause(), tcp.ErrListenerClosed)
	coretest.WantErr(t, "Close again", coretest.AwaitErr(t, "the close", l.Close()), nil)
	if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after the close: got %v, want ECONNREFUSED", err)
	}
	mustEcho(t, c)
	again, err := tcp.Listen(g, g, l.Addr().String(), newEcho)
	if err != nil {
		t.Fatal(err)
	}
	coretest.OnLoop(t, again.EventLoop(), func() { again.Close() })
	coretest.AwaitErr(t, "the close", again.CloseFuture())
}

// TestG23ListenerEndsAtShutdown: at once, uncounted, by either kind of shutdown.
func TestG23ListenerEndsAtShutdown(t *testing.T) {
	for name, end := range map[string]func(*core.Group){
		"graceful":      func(g *core.Group) { _, _ = g.ShutdownGracefully(0, coretest.HangGuard) },
		"Shutdown":      func(g *core.Group) { g.Shutdown() },
		"CloseChannels": func(g *core.Group) { _, _ = g.ShutdownGracefully(0, coretest.HangGuard) },
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			var opts []core.Option
			if name == "CloseChannels" {
				opts = append(opts, core.WithDrain(core.CloseChannels))
			}
			g := coretest.NewGroup(t, 1, opts...)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho)
			if err != nil {
				t.Fatal(err)
			}
			end(g)
			if r := coretest.AwaitDone(t, g); r.ChannelsDrained+r.ChannelsAborted != 0 || r.TimedOut {
				t.Errorf("G23: %+v, want no channel", r)
			}
			coretest.WantErr(t, "the cause", l.CloseCause(), core.ErrShutdown)
			coretest.AwaitErr(t, "the close", l.Close())
			_, err = tcp.Listen(g, g, "127.0.0.1:0", newEcho)
			coretest.WantErr(t, "Listen after the end", err, core.ErrRejected)
		})
	}
}

// TestNextLoops: listeners take the loops of the boss group in turn, and channels those of the
// worker group. newHandler is called on the loop of its channel.
func TestNextLoops(t *testing.T) {
	coretest.CheckLeaks(t)
	boss, workers := coretest.NewGroup(t, 2), coretest.NewGroup(t, 3)
	loops := make(chan core.EventExecutor, 6)
	newHandler := func() tcp.Handler {
		for loop := range workers.All() {
			if loop.InEventLoop() {
				loops <- loop
			}
		}
		return echo{}
	}
	first, err := tcp.Listen(boss, workers, "127.0.0.1:0", newHandler)
	coretest.Must(t, err)
	second, err := tcp.Listen(boss, workers, "127.0.0.1:0", newHandler)
	coretest.Must(t, err)
	coretest.Want(t, "both listeners are on one loop", first.EventLoop() == second.EventLoop(), false)
	counts := map[core.EventExecutor]int{}
	for range cap(loops) {
		mustEcho(t, mustDial(t, first.Addr()))
		counts[<-loops]++
	}
	coretest.Want(t, "loops that have channels", len(counts), 3)
	for _, n := range counts {
		coretest.Want(t, "channels of a loop", n, 2)
	}
}

// TestErrorOfAListenersClose is that of close(2) for Close, and nil for CloseFuture.
func TestErrorOfAListenersClose(t *testing.T) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "close" {
			return n, syscall.EIO
		}
		return n, 0
	}))
	coretest.Must(t, err)
	always := l.CloseFuture()
	coretest.WantErr(t, "Close", coretest.AwaitErr(t, "the close", l.Close()), syscall.EIO)
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "it", always), nil)
	coretest.WantErr(t, "a second Close", coretest.AwaitErr(t, "it", l.Close()), syscall.EIO)
}
