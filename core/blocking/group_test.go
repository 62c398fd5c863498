package blocking_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// Register, Close and the shutdown calls concurrently: the handler of every accepted connection
// is notified of its end, every refused connection is closed, and the termination completes
// once.
func TestG21RegisterAgainstShutdown(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for round := range rounds {
		random := rand.New(rand.NewPCG(seed, uint64(round)))
		quiet, hard := time.Duration(random.IntN(2))*time.Millisecond, random.IntN(2) == 0
		g, err := blocking.NewGroup(0)
		if err != nil {
			t.Fatal(err)
		}
		var completed, unregistered, active atomic.Int64
		g.Termination().OnDone(func(core.Report, error) { completed.Add(1) })
		h := &handler{
			active:       func(*blocking.Channel) { active.Add(1) },
			unregistered: func(*blocking.Channel) { unregistered.Add(1) },
		}
		var accepted, refused []net.Conn
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 5 {
					ours, theirs := net.Pipe()
					ch, err := g.Register(ours, h)
					mu.Lock()
					if err == nil {
						accepted = append(accepted, ours)
					} else {
						refused = append(refused, ours)
						if !errors.Is(err, core.ErrRejected) {
							t.Errorf("Register: %v, want ErrRejected", err)
						}
					}
					mu.Unlock()
					if err == nil && i == 0 {
						ch.Close()
					}
					defer func() { _ = theirs.Close() }()
				}
			})
		}
		for range 3 {
			wg.Go(func() {
				if hard {
					g.Shutdown()
				}
				_, _ = g.ShutdownGracefully(quiet, 5*time.Millisecond)
			})
		}
		wg.Wait()
		report := coretest.AwaitDone(t, g)
		coretest.Until(t, "the listener of the termination", func() bool { return completed.Load() > 0 }) // it comes after Done
		for _, conn := range append(accepted, refused...) {
			if _, err := conn.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("G24: a connection is left open: %v", err)
			}
		}
		if active.Load() != unregistered.Load() {
			t.Errorf("G22: %d channels became active, Unregistered was called for %d", active.Load(), unregistered.Load())
		}
		if completed.Load() != 1 || g.State() != core.StateTerminated {
			t.Errorf("G21: the termination completed %d times, state %v, want once and Terminated", completed.Load(), g.State())
		}
		if s := g.Stats(); s.Channels != 0 || s.Executors != 0 || s.Registrations != 0 || report.ChannelsAborted > int64(len(accepted)) {
			t.Errorf("G20: after done %+v, report %+v, accepted %d", s, report, len(accepted))
		}
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, seed)
		}
	}
}

// G21: a group without executors terminates at once, whatever the quiet period.
func TestG21EmptyGroup(t *testing.T) {
	for name, shutDown := range map[string]func(*blocking.Group){
		"Shutdown":           func(g *blocking.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *blocking.Group) { _, _ = g.ShutdownGracefully(time.Hour, time.Hour) },
	} {
		g := newGroup(t, 0)
		if s := g.State(); s != core.StateNotStarted {
			t.Errorf("%s: state %v before, want NotStarted", name, s)
		}
		shutDown(g)
		select {
		case <-g.Termination().Done():
		default:
			t.Errorf("G21: %s of an empty group has not terminated it", name)
		}
		if g.State() != core.StateTerminated || g.Termination().Err() != nil {
			t.Errorf("%s: state %v, %v, want Terminated, nil", name, g.State(), g.Termination().Err())
		}
	}
}

func TestG16ShutdownArguments(t *testing.T) {
	g := newGroup(t, 0)
	for _, row := range []struct{ quiet, timeout time.Duration }{{-1, 0}, {0, -1}, {2, 1}} {
		if term, err := g.ShutdownGracefully(row.quiet, row.timeout); err == nil || term != nil || errors.Is(err, core.ErrRejected) {
			t.Errorf("G16: (%v, %v): got %v, %v", row.quiet, row.timeout, term, err)
		}
	}
	conn, _ := tcpPair(t)
	mustRegister(t, g, conn, echo()) // nothing has changed
	if s := g.State(); s != core.StateStarted {
		t.Errorf("state %v, want Started", s)
	}
	if g.Termination() != coretest.MustShutdownGracefully(t, g, 0, time.Hour) || g.Termination() != g.Shutdown() {
		t.Errorf("G15: not the same *Termination every time")
	}
}

// G18: a call that would wait for itself returns an error.
func TestG18InsideAnExecutor(t *testing.T) {
	g := newGroup(t, 0)
	conn, _ := tcpPair(t)
	ch := mustRegister(t, g, conn, echo())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	onLoop(t, ch, func() {
		if !g.InEventLoop() {
			t.Errorf("G2: InEventLoop is false inside")
		}
		if _, err := g.Termination().Wait(t.Context()); !errors.Is(err, core.ErrInEventLoop) {
			t.Errorf("G18: Wait: %v", err)
		}
		if err := g.Serve(ln, func() blocking.Handler { return echo() }); !errors.Is(err, core.ErrInEventLoop) {
			t.Errorf("G18: Serve: %v", err)
		}
		if _, err := ch.CloseFuture().Wait(t.Context()); !errors.Is(err, core.ErrInEventLoop) {
			t.Errorf("G18: CloseFuture: %v", err)
		}
		if err := g.Close(); !errors.Is(err, core.ErrInEventLoop) {
			t.Errorf("G18: Close: %v", err)
		}
	})
	if g.InEventLoop() {
		t.Errorf("G2: InEventLoop is true outside")
	}
	if s := g.State(); s < core.StateShuttingDown {
		t.Errorf("G18: Close has not begun the shutdown: %v", s)
	}
}

// An executor that was shut down by itself is replaced, and its report kept.
func TestG21ExecutorShutDownAlone(t *testing.T) {
	g := newGroup(t, 0)
	conn, _ := tcpPair(t)
	ch := mustRegister(t, g, conn, echo())
	onLoop(t, ch, func() {})
	ch.EventLoop().Shutdown()
	coretest.Await(t, "the executor", ch.EventLoop().Termination().Done())
	coretest.Until(t, "the group to forget it", func() bool { return g.Stats().Executors == 0 })
	coretest.Want(t, "G20: tasks in Stats, of the executor that has ended", int64(g.Stats().Ran), 1)
	if g.State() != core.StateStarted {
		t.Errorf("G1: state %v, want Started", g.State())
	}
	next, _ := tcpPair(t)
	if second := mustRegister(t, g, next, echo()); second.EventLoop() == ch.EventLoop() {
		t.Errorf("a terminated executor was used again")
	}
	// One that is idle and has a long shutdown of its own before it is not used.
	idle, _ := tcpPair(t)
	third := mustRegister(t, g, idle, echo())
	third.Close()
	coretest.Until(t, "an idle executor", func() bool { return g.Stats().Idle == 1 })
	if _, err := third.EventLoop().ShutdownGracefully(time.Hour, time.Hour); err != nil {
		t.Fatal(err)
	}
	last, _ := tcpPair(t)
	if fourth := mustRegister(t, g, last, echo()); fourth.EventLoop() == third.EventLoop() {
		t.Errorf("an executor that is shutting down was used again")
	} else {
		fourth.Close()
		// Its registration ends after its CloseFuture (G22), and must have before the shutdown.
		coretest.Until(t, "its executor to be idle", func() bool { return g.Stats().Idle == 1 })
	}
	g.Shutdown()
	if report := coretest.AwaitDone(t, g); report.Accepted != 1 || report.ChannelsAborted != 2 {
		t.Errorf("G20: report %+v, want 1 task and 2 aborted channels", report)
	}
}

// G17: a spawner that refuses fails the registration, and the next one is tried
// again.
func TestG17SpawnerRefuses(t *testing.T) {
	none := errors.New("no goroutine today")
	var allow atomic.Bool
	g := newGroup(t, 1, core.WithSpawner(func(loop func()) error {
		if !allow.Load() {
			return none
		}
		go loop()
		return nil
	}))
	ours, _ := tcpPair(t)
	if _, err := g.Register(ours, echo()); !errors.Is(err, none) || !errors.Is(err, core.ErrRejected) {
		t.Errorf("G17: got %v, want the spawner's error", err)
	}
	if err := ours.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the refused connection is open")
	}
	allow.Store(true)
	next, _ := tcpPair(t)
	mustRegister(t, g, next, echo())
	if s := g.Stats(); s.Executors != 1 || s.Channels != 1 {
		t.Errorf("got %d executors, %d channels, want 1, 1", s.Executors, s.Channels)
	}
}

// A descriptor cannot be watched by an executor of a connection.
func TestRegisterDescriptor(t *testing.T) {
	g := newGroup(t, 0)
	conn, peer := tcpPair(t)
	ch := mustRegister(t, g, conn, echo())
	if _, err := ch.EventLoop().Register(0, core.Readable, func(core.Readiness) {}); err == nil {
		t.Errorf("Register(0) was accepted by an executor that cannot watch it")
	}
	_, _ = peer.Write([]byte("x"))
	if _, err := io.ReadFull(peer, make([]byte, 1)); err != nil {
		t.Errorf("the channel has suffered: %v", err)
	}
}
