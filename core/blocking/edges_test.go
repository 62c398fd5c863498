package blocking_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// Every method of a handler, and the listener of a write, runs on the executor.
func TestHandlerRunsOnItsExecutor(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	var outside sync.Map
	check := func(what string) func(*blocking.Channel) {
		return func(ch *blocking.Channel) {
			if !ch.EventLoop().InEventLoop() {
				outside.Store(what, true)
			}
		}
	}
	over := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{
		active: check("Active"), readComplete: check("ReadComplete"), inputShutdown: check("InputShutdown"), inactive: check("Inactive"),
		read:         func(ch *blocking.Channel, _ []byte) { check("Read")(ch) },
		unregistered: func(ch *blocking.Channel) { check("Unregistered")(ch); close(over) },
	}, blocking.WithHalfClosure(true))
	ch.WriteAndFlush([]byte("x")).OnDone(func(int, error) { check("listener")(ch) })
	_, _ = theirs.Write([]byte("x"))
	_, err := io.ReadFull(theirs, make([]byte, 1))
	coretest.Must(t, err)
	ch.Close()
	coretest.Await(t, "Unregistered", over)
	outside.Range(func(what, _ any) bool { t.Errorf("%v ran outside the executor", what); return true })
}

// silentShake is a connection whose handshake ends with its context.
type silentShake struct{ net.Conn }

func (silentShake) HandshakeContext(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A channel without options has the documented values, in virtual time.
func TestDefaults(t *testing.T) {
	coretest.Want(t, "the constants", [3]time.Duration{blocking.DefaultReadBuffer, blocking.DefaultHandshakeTimeout, blocking.DefaultCloseTimeout},
		[3]time.Duration{16 << 10, 10 * time.Second, 5 * time.Second})
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		closeAtEnd(t, theirs)
		begun := time.Now()
		shaking := mustRegister(t, g, silentShake{ours}, &handler{})
		coretest.Await(t, "the end of the handshake", shaking.CloseFuture().Done())
		coretest.Want(t, "the handshake timeout", time.Since(begun), 10*time.Second)

		ours, theirs = net.Pipe()
		closeAtEnd(t, theirs)
		begun = time.Now()
		ch := mustRegister(t, g, ours, &handler{})
		ch.WriteAndFlush([]byte("nobody reads it"))
		coretest.Await(t, "the close", ch.Close().Done())
		coretest.Want(t, "the close timeout", time.Since(begun), 5*time.Second)

		ours, theirs = net.Pipe()
		closeAtEnd(t, theirs)
		most := 0
		ch = mustRegister(t, g, ours, &handler{read: func(_ *blocking.Channel, p []byte) { most = max(most, len(p)) }})
		_, err := theirs.Write(make([]byte, 1<<20))
		coretest.Must(t, err)
		onLoop(t, ch, func() { coretest.Want(t, "bytes of the largest Read", most, 16<<10) })
	})
}

// A logger that panics changes nothing.
func TestLoggerThatPanics(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	logger := slog.New(panickyHandler{slog.DiscardHandler})
	over := make(chan struct{})
	panics := 0
	ch := mustRegister(t, g, ours, &handler{
		read:         func(*blocking.Channel, []byte) { panic("boom") },
		unregistered: func(*blocking.Channel) { close(over) },
	}, blocking.WithLogger(logger))
	_, _ = theirs.Write([]byte("x"))
	coretest.Await(t, "Unregistered", over)
	g.Shutdown()
	coretest.AwaitDone(t, g)
	panics = int(ch.EventLoop().Stats().Panicked)
	coretest.Want(t, "panics, of the handler alone", panics, 1)
}

type panickyHandler struct{ slog.Handler }

func (panickyHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (panickyHandler) Handle(context.Context, slog.Record) error { panic("the logger") }

// All executors have the name of WithName.
func TestNamesOfExecutors(t *testing.T) {
	g := newGroup(t, 0, core.WithName("connections"))
	for range 2 {
		ours, _ := tcpPair(t)
		coretest.Want(t, "name", mustRegister(t, g, ours, echo()).EventLoop().Name(), "connections")
	}
}

// All yields the executors in the order made, and stops with the loop.
func TestAllIsInTheOrderMade(t *testing.T) {
	g := newGroup(t, 0)
	var want []core.EventExecutor
	for range 4 {
		ours, _ := tcpPair(t)
		want = append(want, mustRegister(t, g, ours, echo()).EventLoop())
	}
	if got := slices.Collect(g.All()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for n := 1; n < len(want); n++ {
		var got []core.EventExecutor
		for ex := range g.All() {
			if got = append(got, ex); len(got) == n {
				break // All yields nothing after this, or the loop panics
			}
		}
		if !slices.Equal(got, want[:n]) {
			t.Errorf("a loop that stops after %d executors got %v, want %v", n, got, want[:n])
		}
	}
}

// AwaitTermination begins no shutdown; Close begins one and waits.
func TestAwaitTermination(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	mustRegister(t, g, ours, echo())
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	coretest.WantErr(t, "AwaitTermination", g.AwaitTermination(ctx), cause)
	coretest.Want(t, "the state", g.State(), core.StateStarted)
	_ = theirs.Close()
	coretest.Must(t, g.Close())
	coretest.Want(t, "the state after Close", g.State(), core.StateTerminated)
	coretest.Must(t, g.AwaitTermination(t.Context()))
}

func TestStringOfAGroup(t *testing.T) {
	g := newGroup(t, 0)
	coretest.Want(t, "String", g.String(), "blocking group (NotStarted, 0 channels)")
	ours, _ := tcpPair(t)
	first := mustRegister(t, g, ours, echo())
	coretest.Await(t, "the close", first.Close().Done())
	coretest.Want(t, "String of a group with an idle executor", g.String(), "blocking group (Started, 0 channels)")
}

func TestAddresses(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	coretest.Want(t, "LocalAddr", ch.LocalAddr().String(), theirs.RemoteAddr().String())
	coretest.Want(t, "RemoteAddr", ch.RemoteAddr().String(), theirs.LocalAddr().String())
}

// wontClose is a connection whose Close fails.
type wontClose struct{ net.Conn }

func (w wontClose) Close() error { _ = w.Conn.Close(); return errBroken }

// Close fails with the error of the connection's Close, and CloseFuture does not.
func TestCloseThatFails(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, wontClose{ours}, echo())
	onLoop(t, ch, func() {})
	coretest.WantErr(t, "Close", coretest.AwaitErr(t, "it", ch.Close()), errBroken)
	closed := ch.CloseFuture()
	coretest.WantErr(t, "CloseFuture", coretest.AwaitErr(t, "it", closed), nil)
	coretest.Want(t, "CloseFuture is the same every time", ch.CloseFuture() == closed, true)
}

func TestCloseGracefullyTwice(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	first := ch.CloseGracefully(time.Time{})
	coretest.Want(t, "the second call returns the same future", ch.CloseGracefully(time.Time{}) == first, true)
	_ = theirs.Close()
	coretest.AwaitErr(t, "the close", first)
}

// Wait returns the cause of its context.
func TestWaitWhoseContextEnds(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := ch.Write([]byte("x")).Wait(ctx)
	coretest.WantErr(t, "Wait", err, cause)
}

// A listener that is added after the end of the executor has run when OnDone returns. A nil one is
// ignored.
func TestListenerAfterTheExecutor(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	f := ch.WriteAndFlush([]byte("abc"))
	coretest.Await(t, "the write", f.Done())
	f.OnDone(nil)
	onLoop(t, ch, func() {})
	g.Shutdown()
	coretest.AwaitDone(t, g)
	coretest.Want(t, "panics of the executor", ch.EventLoop().Stats().Panicked, 0)
	f.OnDone(nil)
	got := 0
	f.OnDone(func(n int, err error) { got = n; coretest.WantErr(t, "the write", err, nil) })
	coretest.Want(t, "bytes that the listener was called with", got, 3)
}

// CloseCause has the cause in Inactive.
func TestCauseInInactive(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	causes := make(chan error, 1)
	mustRegister(t, g, ours, &handler{inactive: func(ch *blocking.Channel) { causes <- ch.CloseCause() }})
	_ = theirs.Close()
	coretest.WantErr(t, "the cause", <-causes, io.EOF)
}
