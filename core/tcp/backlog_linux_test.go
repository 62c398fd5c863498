package tcp_test

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG23BacklogIsTaken: connections that the kernel has accepted when the listener
// ends in order are served; an abort resets them.
func TestG23BacklogIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(boss *core.Group, l *tcp.Listener)
		served bool
	}{
		"Close":              {func(_ *core.Group, l *tcp.Listener) { l.Close() }, true},
		"ShutdownGracefully": {func(boss *core.Group, _ *tcp.Listener) { _, _ = boss.ShutdownGracefully(0, coretest.HangGuard) }, true},
		"Shutdown":           {func(boss *core.Group, _ *tcp.Listener) { boss.Shutdown() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
			l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho)
			if err != nil {
				t.Fatal(err)
			}
			conns := endWithBacklog(t, boss, l, func() { c.end(boss, l) })
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

// TestG23BacklogOfOneLoop: the same where the loop of the listener is that of its
// channels. A shutdown drains them as soon as they are open.
func TestG23BacklogOfOneLoop(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(loop *core.EventLoop, l *tcp.Listener)
		served bool
	}{
		"Close":              {func(_ *core.EventLoop, l *tcp.Listener) { l.Close() }, true},
		"ShutdownGracefully": {func(loop *core.EventLoop, _ *tcp.Listener) { _, _ = loop.ShutdownGracefully(0, coretest.HangGuard) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			loop := g.Next().(*core.EventLoop)
			l, err := tcp.ListenOn(loop, "127.0.0.1:0", newEcho)
			if err != nil {
				t.Fatal(err)
			}
			conns := endWithBacklog(t, loop, l, func() { c.end(loop, l) })
			for _, conn := range conns {
				if c.served {
					mustEcho(t, conn)
				} else if n, err := readAll(conn); n != 0 || err != nil {
					t.Errorf("G23: got %d bytes and %v, want the end of the stream", n, err)
				}
				_ = conn.Close()
			}
			if s := l.Stats(); s.Accepted != int64(len(conns)) || s.Refused != 0 {
				t.Errorf("G23: %+v, want %d accepted and none refused", s, len(conns))
			}
			if c.served {
				return
			}
			if r := coretest.AwaitDone(t, g); r.ChannelsDrained != int64(len(conns)) || r.ChannelsAborted != 0 {
				t.Errorf("G23: %+v, want %d drained", r, len(conns))
			}
		})
	}
}

// TestG23TheWholeBacklogIsTaken fills the backlog: Linux queues one connection more
// than the backlog of listen(2), and that one becomes a channel too.
func TestG23TheWholeBacklogIsTaken(t *testing.T) {
	for _, backlog := range []int{1, 4} {
		t.Run(fmt.Sprint(backlog), func(t *testing.T) {
			coretest.CheckLeaks(t)
			conns, l, release := heldListener(t, backlog+1, tcp.WithBacklog(backlog))
			l.Close()
			release()
			coretest.AwaitErr(t, "the close", l.CloseFuture())
			if s := l.Stats(); s.Accepted != int64(backlog)+1 {
				t.Errorf("G23: accepted %d connections of a backlog of %d, want %d", s.Accepted, backlog, backlog+1)
			}
			for _, conn := range conns {
				mustEcho(t, conn)
			}
		})
	}
}

// TestG13CloseTakesOneBacklog: peers that connect while a listener closes, here as many as it can take, do not keep it from
// closing: it takes as many connections as the backlog has, and those that come behind them are reset (G13).
func TestG13CloseTakesOneBacklog(t *testing.T) {
	for backlog := range 5 {
		t.Run(fmt.Sprint(backlog+1), func(t *testing.T) {
			coretest.CheckLeaks(t)
			var attempts atomic.Int64
			_, l, release := heldListener(t, 0, tcp.WithBacklog(backlog+1), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" {
					attempts.Add(1)
					return n, syscall.ECONNABORTED
				}
				return n, 0
			}))
			l.Close()
			release()
			coretest.AwaitErr(t, "the close", l.CloseFuture())
			coretest.Want(t, "attempts to accept", attempts.Load(), int64(backlog+2))
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
			coretest.CheckLeaks(t)
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
			coretest.AwaitErr(t, "the close", l.CloseFuture())
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
	conns, l, _, release = heldListenerOf(t, n, opts...)
	return conns, l, release
}

// heldListenerOf returns the workers too.
func heldListenerOf(t *testing.T, n int, opts ...tcp.Option) (conns []net.Conn, l *tcp.Listener, worker *core.Group, release func()) {
	t.Helper()
	boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
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
	coretest.Await(t, "the task", held)
	for range n {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	return conns, l, worker, release
}

// endWithBacklog has connections wait in the kernel while the listener's loop is held,
// ends the listener, lets the loop go, and returns them when the listener is closed.
func endWithBacklog(t *testing.T, loop core.EventExecutor, l *tcp.Listener, end func()) []net.Conn {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	if err := loop.Execute(func() { close(held); <-release }); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the task", held)
	conns := make([]net.Conn, 10)
	for i := range conns {
		conns[i] = mustDial(t, l.Addr())
	}
	end()
	close(release)
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	return conns
}
