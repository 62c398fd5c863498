package tcp_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// doingHandler is the handler of a logger that does something in each record.
type doingHandler struct {
	countingHandler
	do *atomic.Pointer[func()]
}

func (h doingHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.countingHandler.Handle(ctx, r)
	if do := h.do.Load(); do != nil {
		(*do)()
	}
	return err
}

// TestPropFullWorker: while the queue of a worker is full, its listener has taken one connection more than the queue
// has room for (G19); it pauses, and the rest waits. An end in order waits for room, and loses none (G23); an abort does not,
// and refuses the one in hand only. The same holds whatever the logger does while it logs a pause.
func TestPropFullWorker(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		f := newFullWorker(t, r)
		defer f.close(t)
		f.fill(t, r)
		f.end(t, r)
	})
}

// fullWorker is a listener with a worker whose loop is held.
type fullWorker struct {
	boss, worker *core.Group
	l            *tcp.Listener
	records      atomic.Int32
	conns        []net.Conn
	release      func()
	free         int    // the room for connections in the queue of the worker
	logger       string // what the logger does
	ending       string // how the listener ends while the loop is held
	full         bool
}

func newFullWorker(t *testing.T, r *rapid.T) *fullWorker {
	f := &fullWorker{
		logger: rapid.SampledFrom([]string{"", "close", "panic", "goexit"}).Draw(r, "what the logger does"),
		ending: rapid.SampledFrom([]string{"", "Close", "Close twice", "ShutdownGracefully", "Shutdown"}).Draw(r, "the end"),
	}
	bound := rapid.SampledFrom([]int{1, 16, 17, 20}).Draw(r, "bound")
	others := rapid.IntRange(0, 15).Draw(r, "other tasks")
	f.free = max(fewTasks, bound) - others
	var err error
	f.worker, err = core.NewGroup(1, core.WithMaxPendingTasks(bound))
	coretest.Must(t, err)
	f.boss, err = core.NewGroup(1)
	coretest.Must(t, err)
	do, listener := map[string]func(){
		"close": func() { f.l.Close() }, "panic": func() { panic("a logger of the test") }, "goexit": runtime.Goexit,
	}[f.logger], &atomic.Pointer[func()]{}
	f.l, err = tcp.Listen(f.boss, f.worker, "127.0.0.1:0", newEcho, tcp.WithLogger(slog.New(doingHandler{countingHandler{&f.records}, listener})))
	coretest.Must(t, err)
	if do != nil {
		listener.Store(&do)
	}
	held, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, f.worker, func() { close(held); <-gate })
	f.release = sync.OnceFunc(func() { close(gate) })
	coretest.Await(t, "the task", held)
	for range others {
		coretest.MustExecute(t, f.worker, func() {})
	}
	return f
}

// fill connects peers, and checks what the listener has taken.
func (f *fullWorker) fill(t *testing.T, r *rapid.T) {
	peers := rapid.SampledFrom([]int{f.free + 1, f.free + 2, f.free, f.free + 20, 1}).Draw(r, "peers")
	f.full = peers > f.free
	for range peers {
		c, err := net.Dial("tcp", f.l.Addr().String())
		coretest.Must(t, err)
		f.conns = append(f.conns, c)
	}
	taken := int64(min(peers, f.free+1))
	coretest.Until(t, "the listener to take connections", func() bool {
		s := f.l.Stats()
		return s.Accepted >= taken && (s.Paused > 0 || !f.full)
	})
	coretest.OnLoop(t, f.boss, func() {})
	if s := f.l.Stats(); s.Accepted != taken || s.Refused != 0 || (s.Paused > 0) != f.full {
		r.Fatalf("G19: %+v, want %d accepted of %d, none refused, and pauses: %v", s, taken, peers, f.full)
	}
}

// end ends the listener, makes room, and checks what has become of each connection.
func (f *fullWorker) end(t *testing.T, r *rapid.T) {
	var cause error
	if f.full && f.logger == "close" {
		cause = tcp.ErrListenerClosed
	}
	first := func(c error) {
		if cause == nil {
			cause = c
		}
	}
	switch f.ending {
	case "Close", "Close twice":
		f.l.Close()
		if first(tcp.ErrListenerClosed); f.ending == "Close twice" {
			f.l.Close()
		}
	case "ShutdownGracefully":
		_, _ = f.boss.ShutdownGracefully(0, coretest.HangGuard)
		first(core.ErrShutdown)
	case "Shutdown":
		f.boss.Shutdown()
	}
	aborted := f.ending == "Shutdown"
	if f.full && !aborted {
		if err := f.l.CloseCause(); err != nil {
			r.Fatalf("G23: the listener has closed with %v, and a connection in its hand", err)
		}
	} else if cause != nil || aborted {
		coretest.Await(t, "the close", f.l.CloseFuture().Done())
	}
	f.release()
	accepted, refused := int64(len(f.conns)), int64(0)
	served := f.conns
	if aborted && f.full {
		accepted, refused, served = int64(f.free+1), 1, f.conns[:f.free]
	}
	for _, c := range served {
		mustEcho(t, c)
	}
	for _, c := range f.conns[len(served):] {
		coretest.Must(t, c.SetDeadline(time.Now().Add(coretest.HangGuard)))
		if n, _ := readAll(c); n != 0 {
			r.Fatalf("G23: a connection that no worker has got sends %d bytes", n)
		}
	}
	if cause == nil && !aborted {
		f.l.Close()
		cause = tcp.ErrListenerClosed
	}
	if err := coretest.AwaitErr(t, "the close", f.l.CloseFuture()); err != nil {
		r.Fatalf("CloseFuture: %v", err)
	}
	if s := f.l.Stats(); s.Accepted != accepted || s.Refused != refused {
		r.Fatalf("G23: %+v of %d peers, want %d accepted and %d refused", s, len(f.conns), accepted, refused)
	}
	if got := f.l.CloseCause(); got == nil || !aborted && !errors.Is(got, cause) {
		r.Fatalf("the cause is %v, want %v", got, cause)
	}
	if f.full == (f.records.Load() == 0) {
		r.Fatalf("%d records of the logger, pauses: %v", f.records.Load(), f.full)
	}
}

// close ends all that is left.
func (f *fullWorker) close(t *testing.T) {
	f.release()
	for _, c := range f.conns {
		_ = c.Close()
	}
	for _, g := range []*core.Group{f.boss, f.worker} {
		g.Shutdown()
		coretest.AwaitDone(t, g)
	}
}
