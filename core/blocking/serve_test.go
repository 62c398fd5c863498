package blocking_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func newEcho() blocking.Handler { return echo() }

// Serve keeps to maxChannels by letting connections wait, refuses none, and ends
// with the shutdown.
func TestServe(t *testing.T) {
	const limit, clients = 3, 30
	g := newGroup(t, limit)
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln, newEcho) }()
	var most atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			if _, err := conn.Write([]byte("ping")); err != nil {
				t.Error(err)
			}
			if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
				t.Errorf("a connection that had to wait was refused: %v", err)
			}
			n := int64(g.Stats().Channels)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
		})
	}
	wg.Wait()
	if got := most.Load(); got > limit || got == 0 {
		t.Errorf("R177: %d channels at once, want 1 to %d", got, limit)
	}
	g.Shutdown()
	if err := <-served; err != nil {
		t.Errorf("Serve after the shutdown: %v, want nil", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open: %v", err)
	}
	if err := g.Serve(listen(t), newEcho); err != nil {
		t.Errorf("Serve of a group that is shut down: %v, want nil", err)
	}
}

// The shutdown frees a Serve that waits for room, with a connection in hand.
func TestServeWaitsForRoomAtShutdown(t *testing.T) {
	g := newGroup(t, 1)
	ln := listen(t)
	served := make(chan error, 1)
	made := make(chan struct{}, 4)
	go func() {
		served <- g.Serve(ln, func() blocking.Handler { made <- struct{}{}; return echo() })
	}()
	var conns [2]net.Conn
	for i := range conns {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		closeAtEnd(t, conn)
		conns[i] = conn
		<-made
	}
	coretest.MustShutdownGracefully(t, g, 0, long)
	if err := <-served; err != nil { // while the first channel still drains
		t.Errorf("Serve: %v, want nil", err)
	}
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.ReadAll(conn) // ends
	}
	if report := coretest.AwaitDone(t, g); report.ChannelsDrained != 1 {
		t.Errorf("G23: report %+v, want 1 drained", report)
	}
}

func TestServeErrors(t *testing.T) {
	g := newGroup(t, 0)
	ln := listen(t)
	for name, err := range map[string]error{
		"nil listener":   g.Serve(nil, newEcho),
		"nil newHandler": g.Serve(ln, nil),
		"bad option":     g.Serve(ln, newEcho, blocking.WithCloseTimeout(-1)),
	} {
		if err == nil {
			t.Errorf("%s: got nil, want an error", name)
		}
	}
	broken := errors.New("broken listener")
	if err := g.Serve(&scripted{Listener: ln, errs: []error{syscall.EMFILE, syscall.ECONNABORTED, broken}}, newEcho); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error that does not pass away", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is open after Serve: %v", err)
	}
}

// EMFILE does not make Serve spin, and a shutdown ends its pause.
func TestServeOutOfDescriptors(t *testing.T) {
	g := newGroup(t, 0)
	ln := &scripted{Listener: listen(t), forever: syscall.EMFILE}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln, newEcho) }()
	coretest.Until(t, "three tries", func() bool { return ln.calls.Load() >= 3 })
	g.Shutdown()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v, want nil", err)
	}
	if n := ln.calls.Load(); n > 10 {
		t.Errorf("Accept was called %d times, want a few: it spins", n)
	}
}

// scripted is a listener whose Accept fails.
type scripted struct {
	net.Listener
	errs    []error
	forever error
	calls   atomic.Int64
}

func (s *scripted) Accept() (net.Conn, error) {
	s.calls.Add(1)
	if s.forever != nil {
		return nil, &net.OpError{Op: "accept", Err: s.forever}
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return nil, &net.OpError{Op: "accept", Err: err}
}

// A panic of newHandler is the caller's, and leaves no connection behind.
func TestServeNewHandlerPanics(t *testing.T) {
	g := newGroup(t, 0)
	ln := listen(t)
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, conn)
	func() {
		defer func() {
			if recover() == nil {
				t.Errorf("the panic did not reach the caller of Serve")
			}
		}()
		_ = g.Serve(ln, func() blocking.Handler { panic("planted") })
	}()
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the accepted connection: %v, want that it was closed", err)
	}
	if s := g.Stats(); s.Channels != 0 || s.State != core.StateNotStarted {
		t.Errorf("got %+v, want nothing registered", s)
	}
}
