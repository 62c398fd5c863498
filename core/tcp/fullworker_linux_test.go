package tcp_test

import (
	"context"
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

// The least room that a bounded queue can have, and more connections than that.
const (
	fewTasks  = 16
	manyPeers = 40
	oneMore   = fewTasks + 1 // the last one is in the listener's hand, and the backlog is empty
)

// fullWorkers returns peers of a listener, connected while all loops were held: more
// than the queue of a worker has room for. held is of the workers alone, or of the boss
// too where they are the same.
func fullWorkers(t *testing.T, oneLoop bool, peers int, opts ...tcp.Option) (l *tcp.Listener, boss *core.Group, conns []net.Conn, release func()) {
	t.Helper()
	worker := coretest.NewGroup(t, 1, core.WithMaxPendingTasks(fewTasks))
	boss = worker
	if !oneLoop {
		boss = coretest.NewGroup(t, 1)
	}
	l, conns, release = heldWorkers(t, boss, worker, peers, opts...)
	if !oneLoop {
		coretest.Until(t, "the listener to pause", func() bool { return l.Stats().Paused > 0 })
		if s := l.Stats(); s.Accepted > fewTasks+1 || s.Refused > 0 {
			t.Errorf("G19: %+v with a worker that has room for %d: the rest belongs into the backlog", s, fewTasks)
		}
	}
	return l, boss, conns, release
}

// heldWorkers returns peers of a listener, connected while the worker was held.
func heldWorkers(t *testing.T, boss, worker *core.Group, peers int, opts ...tcp.Option) (l *tcp.Listener, conns []net.Conn, release func()) {
	t.Helper()
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho, opts...)
	if err != nil {
		t.Fatal(err)
	}
	held, gate := make(chan struct{}), make(chan struct{})
	if err := worker.Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	coretest.Await(t, "the task", held)
	for range peers {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	return l, conns, release
}

// TestAbortCountsTheRefusalFirst: the abort of a listener counts the waiting connection in Refused
// before it closes the connection, and logs the refusal once the listener is closed: the logger may take long.
func TestAbortCountsTheRefusalFirst(t *testing.T) {
	coretest.CheckLeaks(t)
	var closing atomic.Pointer[tcp.Listener]
	refused := make(chan int64, 2*oneMore) // the other connections are closed at the end of the test
	logged := make(chan error, 1)
	log := coretest.OnMessage(func() {
		if l := closing.Load(); l != nil && l.Stats().Refused == 1 { // else a pause
			select {
			case logged <- l.CloseCause():
			default:
			}
		}
	})
	l, boss, _, _ := fullWorkers(t, false, oneMore, tcp.WithLogger(log), tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if l := closing.Load(); op == "close" && l != nil {
			refused <- l.Stats().Refused
		}
		return n, 0
	}))
	closing.Store(l)
	boss.Shutdown()
	coretest.Want(t, "Refused when the connection is closed", <-refused, 1)
	coretest.Want(t, "Refused when the listener is closed", <-refused, 1)
	coretest.WantErr(t, "CloseCause when the refusal is logged", <-logged, core.ErrShutdown)
}

// TestG19BurstOnABoundedLoop: more connections at once than the queue of a worker has
// room for are served all the same, be the listener on the same loop or on another.
func TestG19BurstOnABoundedLoop(t *testing.T) {
	for name, oneLoop := range map[string]bool{"one loop": true, "boss and worker": false} {
		for _, peers := range []int{oneMore, manyPeers} {
			t.Run(fmt.Sprintf("%s, %d peers", name, peers), func(t *testing.T) {
				coretest.CheckLeaks(t)
				l, _, conns, release := fullWorkers(t, oneLoop, peers)
				release()
				for _, c := range conns {
					mustEcho(t, c)
				}
				if s := l.Stats(); s.Accepted != int64(peers) || s.Refused != 0 || oneLoop && s.Paused != 0 {
					t.Errorf("G19: %+v, want %d accepted and none refused; no pause on one loop", s, peers)
				}
			})
		}
	}
}

// TestG23EndWithAFullWorker: a listener that ends in order while a worker's queue is full
// waits for room; an abort does not, and leaves no descriptor behind.
func TestG23EndWithAFullWorker(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(boss *core.Group, l *tcp.Listener)
		served bool
	}{
		"Close":              {func(_ *core.Group, l *tcp.Listener) { l.Close() }, true},
		"Close twice":        {func(_ *core.Group, l *tcp.Listener) { l.Close(); l.Close() }, true},
		"ShutdownGracefully": {func(boss *core.Group, _ *tcp.Listener) { _, _ = boss.ShutdownGracefully(0, coretest.HangGuard) }, true},
		"Close and then ShutdownGracefully": {func(boss *core.Group, l *tcp.Listener) {
			l.Close()
			_, _ = boss.ShutdownGracefully(0, coretest.HangGuard)
		}, true},
		"Shutdown": {func(boss *core.Group, _ *tcp.Listener) { boss.Shutdown() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			l, boss, conns, release := fullWorkers(t, false, manyPeers)
			c.end(boss, l)
			if c.served {
				on := make(chan struct{}) // the boss has come to it, and waits
				if boss.Execute(func() { close(on) }) == nil {
					coretest.Await(t, "a task", on)
				}
				if l.CloseCause() != nil {
					t.Errorf("G23: the listener closed with connections in hand: %v", l.CloseCause())
				}
				release()
				for _, conn := range conns {
					mustEcho(t, conn)
				}
				coretest.AwaitErr(t, "the close", l.CloseFuture())
				if s := l.Stats(); s.Accepted != manyPeers || s.Refused != 0 {
					t.Errorf("G23: %+v, want %d accepted and none refused", s, manyPeers)
				}
				return
			}
			coretest.AwaitErr(t, "the close", l.CloseFuture())
			if s := l.Stats(); s.Accepted != fewTasks+1 || s.Refused != 1 {
				t.Errorf("G22: %+v, want the one that was in hand refused, and no other", s)
			}
			release()
		})
	}
}

// closingHandler closes the listener, and counts the errors.
type closingHandler struct {
	countingHandler
	listener *atomic.Pointer[tcp.Listener]
}

func (h closingHandler) Handle(ctx context.Context, r slog.Record) error {
	if l := h.listener.Load(); l != nil {
		l.Close()
	}
	if r.Level < slog.LevelError {
		return nil
	}
	return h.countingHandler.Handle(ctx, r)
}

// TestG23CloseInsideAccept: the logger is called on the loop of the listener, inside
// accept, and may close the listener: that ends in order all the same.
func TestG23CloseInsideAccept(t *testing.T) {
	coretest.CheckLeaks(t)
	var listener atomic.Pointer[tcp.Listener]
	var failures atomic.Int32
	boss, worker := coretest.NewGroup(t, 1), coretest.NewGroup(t, 1)
	l, err := tcp.Listen(boss, worker, "127.0.0.1:0", newEcho,
		tcp.WithLogger(slog.New(closingHandler{countingHandler{&failures}, &listener})))
	if err != nil {
		t.Fatal(err)
	}
	listener.Store(l)
	worker.Shutdown()
	coretest.AwaitDone(t, worker)
	held, gate := make(chan struct{}), make(chan struct{})
	if err := boss.Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the task", held)
	for range manyPeers {
		mustDial(t, l.Addr())
	}
	close(gate)
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	coretest.OnLoop(t, boss, func() {}) // what has closed it has returned
	coretest.WantErr(t, "the cause", l.CloseCause(), tcp.ErrListenerClosed)
	if s := l.Stats(); s.Accepted != manyPeers || s.Refused != manyPeers || failures.Load() != 0 {
		t.Errorf("G23: %+v and %d errors logged, want %d accepted and refused, and no errors", s, failures.Load(), manyPeers)
	}
}

// TestG23CloseInsideTheEnd: the logger closes a listener that ends, and whose accept
// fails. It ends once.
func TestG23CloseInsideTheEnd(t *testing.T) {
	coretest.CheckLeaks(t)
	var listener atomic.Pointer[tcp.Listener]
	var failures atomic.Int32
	_, l, release := heldListener(t, 1, tcp.WithLogger(slog.New(closingHandler{countingHandler{&failures}, &listener})),
		tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
			if op == "accept" {
				return n, syscall.EMFILE
			}
			return n, 0
		}))
	listener.Store(l)
	l.Close()
	release()
	coretest.WantErr(t, "the close", coretest.AwaitErr(t, "the close", l.CloseFuture()), nil)
	coretest.WantErr(t, "the cause", l.CloseCause(), tcp.ErrListenerClosed)
}

// TestG23CloseInsideAPause: the logger closes a listener that pauses, again and again.
// That waits for room.
func TestG23CloseInsideAPause(t *testing.T) {
	coretest.CheckLeaks(t)
	var listener atomic.Pointer[tcp.Listener]
	var failures atomic.Int32
	l, boss, conns, release := fullWorkers(t, false, manyPeers, tcp.WithLogger(slog.New(closingHandler{countingHandler{&failures}, &listener})))
	listener.Store(l)
	paused := l.Stats().Paused
	coretest.Until(t, "two more pauses", func() bool { return l.Stats().Paused >= paused+2 })
	coretest.OnLoop(t, boss, func() {}) // the loop goes on meanwhile
	release()
	for _, c := range conns {
		mustEcho(t, c)
	}
	coretest.AwaitErr(t, "the close", l.CloseFuture())
	if s := l.Stats(); s.Accepted != manyPeers || s.Refused != 0 || failures.Load() != 0 {
		t.Errorf("G23: %+v and %d errors logged, want %d accepted, none refused, and no errors", s, failures.Load(), manyPeers)
	}
}

// TestG23WorkerThatIsDown: the turn of a worker that was shut down is another's.
func TestG23WorkerThatIsDown(t *testing.T) {
	coretest.CheckLeaks(t)
	boss, workers := coretest.NewGroup(t, 1), coretest.NewGroup(t, 3)
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", newEcho)
	if err != nil {
		t.Fatal(err)
	}
	const peers = 12
	left := peers
	for child := range workers.All() {
		for range peers / 3 {
			mustEcho(t, mustDial(t, l.Addr()))
			left--
		}
		if left > 0 {
			child.Shutdown()
			coretest.Await(t, "the worker", child.Termination().Done())
		}
	}
	coretest.AwaitErr(t, "the close", l.Close())
	if s := l.Stats(); s.Accepted != peers || s.Refused != 0 {
		t.Errorf("G23: %+v, want %d accepted and none refused", s, peers)
	}
}

// TestG23BacklogOfOneGroup shuts down a group that is boss and worker: its idle loop ends
// first, and the connections that the kernel had accepted are all served by the other,
// also if others take turns of the group meanwhile.
func TestG23BacklogOfOneGroup(t *testing.T) {
	for name, others := range map[string]bool{"alone": false, "with others": true} {
		t.Run(name, func(t *testing.T) { backlogOfOneGroup(t, others) })
	}
}

func backlogOfOneGroup(t *testing.T, others bool) {
	coretest.CheckLeaks(t)
	g := coretest.NewGroup(t, 2)
	l, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler {
		return &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
			if at == "Active" {
				ch.WriteAndFlush([]byte("hello"))
			}
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	held, gate := make(chan struct{}), make(chan struct{})
	if err := l.EventLoop().Execute(func() { close(held); <-gate }); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the task", held)
	const peers = 60
	var conns []net.Conn
	for range peers {
		conns = append(conns, mustDial(t, l.Addr()))
	}
	_, _ = g.ShutdownGracefully(0, coretest.HangGuard)
	for child := range g.All() {
		if child != core.EventExecutor(l.EventLoop()) {
			coretest.Await(t, "the idle loop", child.Termination().Done())
		}
	}
	if others {
		var wg sync.WaitGroup
		var over atomic.Bool
		wg.Go(func() {
			for !over.Load() {
				g.Next()
			}
		})
		defer wg.Wait()
		defer over.Store(true)
	}
	close(gate)
	for _, c := range conns {
		if n, err := readAll(c); n != int64(len("hello")) || err != nil {
			t.Errorf("G23: received %d bytes and %v, want what the handler wrote, and the end", n, err)
		}
		_ = c.Close()
	}
	r := coretest.AwaitDone(t, g)
	if s := l.Stats(); s.Accepted != peers || s.Refused != 0 || r.ChannelsDrained != peers {
		t.Errorf("G23: %+v, %d drained, want %d accepted and drained, none refused", s, r.ChannelsDrained, peers)
	}
}
