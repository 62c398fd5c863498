package tcp_test

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// badLogger does not return from a line.
type badLogger struct {
	slog.Handler
	lines *atomic.Int32
	leave func()
}

func (b badLogger) Handle(context.Context, slog.Record) error {
	b.lines.Add(1)
	b.leave()
	return nil
}

// TestG24LoggerThatDoesNotReturn: a listener finishes its work even if each of its log
// messages ends the goroutine. No descriptor is left open, and no caller waits in vain.
func TestG24LoggerThatDoesNotReturn(t *testing.T) {
	cases := map[string]func(t *testing.T, logger tcp.Option){
		"no handler":           refusedByHandler,
		"the worker is down":   refusedByWorker,
		"a pause":              pausesAndGoesOn,
		"an abort":             abortsWithOneInHand,
		"a broken listener":    breaks,
		"an accept that fails": failsAtTheEnd,
	}
	for how, leave := range map[string]func(){"panic": func() { panic("the logger") }, "Goexit": runtime.Goexit} {
		for name, run := range cases {
			t.Run(name+", "+how, func(t *testing.T) {
				coretest.CheckLeaks(t)
				var lines atomic.Int32
				t.Cleanup(func() { // after the loops: a line may come after the future of the close
					if lines.Load() == 0 {
						t.Error("nothing was logged: this test has tested nothing")
					}
				})
				run(t, tcp.WithLogger(slog.New(badLogger{slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}), &lines, leave})))
			})
		}
	}
}

func refusedByHandler(t *testing.T, logger tcp.Option) {
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler { return nil }, logger)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		wantEnd(t, mustDial(t, l.Addr()))
	}
	coretest.AwaitErr(t, "the close", l.Close())
	awaitGroupDown(t, g)
}

// refusedByWorker ends the listener in order: the logger leaves accept in the midst.
func refusedByWorker(t *testing.T, logger tcp.Option) {
	const peers = 4 // the last refusal is logged, and no readiness follows
	conns, l, worker, release := heldListenerOf(t, peers, logger)
	worker.Shutdown()
	coretest.AwaitDone(t, worker)
	l.Close()
	release()
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	for _, c := range conns {
		wantEnd(t, c)
	}
	if s := l.Stats(); s.Accepted != peers || s.Refused != peers {
		t.Errorf("G22: %+v, want %d accepted and refused", s, peers)
	}
}

func pausesAndGoesOn(t *testing.T, logger tcp.Option) {
	l, _, conns, release := fullWorkers(t, false, manyPeers, logger)
	release()
	for _, c := range conns {
		mustEcho(t, c)
	}
	coretest.AwaitErr(t, "the close", l.Close())
}

func abortsWithOneInHand(t *testing.T, logger tcp.Option) {
	l, boss, _, release := fullWorkers(t, false, oneMore, logger)
	boss.Shutdown()
	coretest.AwaitDone(t, boss)
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	if s := l.Stats(); s.Refused != 1 {
		t.Errorf("G22: %+v, want the one in hand refused", s)
	}
	release()
}

func breaks(t *testing.T, logger tcp.Option) {
	g := coretest.NewGroup(t, 1)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, logger, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "accept" {
			return n, syscall.EINVAL
		}
		return n, 0
	}))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil { // the listener may have ended already
		defer c.Close()
	}
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	coretest.WantErr(t, "the cause", l.CloseCause(), syscall.EINVAL)
}

func failsAtTheEnd(t *testing.T, logger tcp.Option) {
	_, l, _, release := heldListenerOf(t, 1, logger, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "accept" {
			return n, syscall.EMFILE
		}
		return n, 0
	}))
	l.Close()
	release()
	coretest.AwaitErr(t, "the close", l.CloseFuture())
}

// awaitGroupDown shuts g down in order.
func awaitGroupDown(t *testing.T, g *core.Group) {
	t.Helper()
	_, _ = g.ShutdownGracefully(0, coretest.HangGuard)
	coretest.AwaitDone(t, g)
}

func wantEnd(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(coretest.HangGuard))
	if n, err := readAll(c); n != 0 || err != nil {
		t.Errorf("G24: got %d bytes and %v, want the end", n, err)
	}
}
