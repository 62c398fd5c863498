package tcp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22RefusedByWorker: a connection that no worker accepts is closed, counted and
// logged, and no handler is called.
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
			coretest.CheckLeaks(t)
			boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
			var logged atomic.Int32
			logger := slog.New(countingHandler{&logged})
			l, err := tcp.Listen(boss, worker, "127.0.0.1:0", c.handler, tcp.WithLogger(logger))
			if err != nil {
				t.Fatal(err)
			}
			if c.down {
				worker.Shutdown()
				coretest.AwaitDone(t, worker)
			}
			for range 5 {
				if n, _ := readAll(mustDial(t, l.Addr())); n != 0 {
					t.Errorf("got %d bytes from a connection that nobody took", n)
				}
			}
			coretest.AwaitErr(t, "the close", l.Close())
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
	coretest.CheckLeaks(t)
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 2)
		var active, gone atomic.Int64
		l, err := tcp.Listen(boss, worker, "127.0.0.1:0", func() tcp.Handler {
			return &recorder{then: func(at string, _ *tcp.Channel, _ []byte) {
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
		coretest.Until(t, "5 connections to be accepted", func() bool { return l.Stats().Accepted >= 5 })
		_, _ = worker.ShutdownGracefully(0, coretest.HangGuard)
		coretest.AwaitDone(t, worker)
		_, _ = boss.ShutdownGracefully(0, coretest.HangGuard)
		coretest.AwaitDone(t, boss)
		wg.Wait()
		s := l.Stats()
		if active.Load() != gone.Load() || s.Accepted != active.Load()+s.Refused {
			t.Errorf("G22: %+v, %d active, %d unregistered: want accepted = active + refused, active = unregistered", s, active.Load(), gone.Load())
		}
	}
}

func init() { children["descriptors"] = childWithoutDescriptors }

// TestAcceptWithoutDescriptors: a listener that has run out of descriptors pauses
// instead of spinning, and accepts again when there are some.
func TestAcceptWithoutDescriptors(t *testing.T) {
	runChild(t, "descriptors")
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
		if time.Since(began) > coretest.HangGuard {
			fmt.Printf("the listener does not pause without descriptors: %+v, want 6 pauses\n", l.Stats())
			os.Exit(1)
		}
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
