package blocking_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// R177: which connections are registered, which are refused, with what error, and whether
// they are closed.
func TestR177Register(t *testing.T) {
	closed := net.Conn(nil)
	open := func(conn net.Conn, _ net.Conn) bool { return conn.SetDeadline(time.Time{}) == nil }
	for _, row := range []struct {
		name     string
		before   func(*testing.T, *blocking.Group)
		conn     func(net.Conn) net.Conn
		h        blocking.Handler
		opts     []blocking.Option
		want     error // nil: any error if wantErr
		wantErr  bool
		wantOpen bool
	}{
		{name: "accepted", h: echo(), wantOpen: true},
		{name: "nil connection", conn: func(net.Conn) net.Conn { return closed }, h: echo(), wantErr: true, wantOpen: true},
		{name: "nil handler", wantErr: true, wantOpen: true},
		{name: "bad option", h: echo(), opts: []blocking.Option{blocking.WithReadBuffer(0)}, wantErr: true, wantOpen: true},
		{name: "no deadlines", conn: func(c net.Conn) net.Conn { return timeless{c} }, h: echo(), wantErr: true, wantOpen: true},
		{name: "too many", before: func(t *testing.T, g *blocking.Group) {
			conn, _ := tcpPair(t)
			mustRegister(t, g, conn, echo())
		}, h: echo(), want: blocking.ErrTooManyChannels, wantErr: true},
		{name: "as many as may be", before: func(t *testing.T, g *blocking.Group) {
			conn, _ := tcpPair(t)
			ch := mustRegister(t, g, conn, echo())
			coretest.Await(t, "the close", ch.Close().Done())
		}, h: echo(), wantOpen: true},
		{name: "after Shutdown", before: func(_ *testing.T, g *blocking.Group) { g.Shutdown() },
			h: echo(), want: core.ErrRejected, wantErr: true},
		{name: "after the shutdown of a full group", before: func(t *testing.T, g *blocking.Group) {
			conn, _ := tcpPair(t)
			mustRegister(t, g, conn, echo())
			coretest.MustShutdownGracefully(t, g, 0, long)
		}, h: echo(), want: core.ErrRejected, wantErr: true},
		{name: "after ShutdownGracefully", before: func(t *testing.T, g *blocking.Group) { coretest.MustShutdownGracefully(t, g, 0, time.Second) },
			h: echo(), want: core.ErrRejected, wantErr: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 1)
			if row.before != nil {
				row.before(t, g)
			}
			before := g.Stats().Channels
			ours, theirs := tcpPair(t)
			defer func() { _ = ours.Close() }()
			conn := ours
			if row.conn != nil {
				conn = row.conn(ours)
			}
			ch, err := g.Register(conn, row.h, row.opts...)
			if (err != nil) != row.wantErr || row.want != nil && !errors.Is(err, row.want) || (ch == nil) != row.wantErr {
				t.Errorf("R177: got %v, %v, want error %v (%v)", ch, err, row.wantErr, row.want)
			}
			var tooMany *blocking.TooManyChannelsError
			if errors.Is(row.want, blocking.ErrTooManyChannels) && (!errors.As(err, &tooMany) || tooMany.Max != 1) {
				t.Errorf("R177: got %#v, want *TooManyChannelsError{1}", err)
			}
			if got := open(ours, theirs); got != row.wantOpen {
				t.Errorf("the connection is open: %v, want %v", got, row.wantOpen)
			}
			if got := g.Stats().Channels - before; row.wantErr && got != 0 {
				t.Errorf("a refusal changed the count of channels by %d", got)
			}
		})
	}
}

// G21: no executor is made after the shutdown call, however late in a registration that
// comes: the group would end without it.
func TestG21ShutdownInsideRegister(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	if _, err := g.Register(&meddling{Conn: ours, meddle: func() { g.Shutdown() }}, echo()); !errors.Is(err, core.ErrRejected) {
		t.Errorf("G5: got %v, want ErrRejected", err)
	}
	if s := g.Stats(); s.State != core.StateTerminated || s.Executors != 0 || s.Channels != 0 {
		t.Errorf("G21: got %+v, want Terminated and nothing left", s)
	}
	if err := ours.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the refused connection is open")
	}
}

// A brokenConn panics as it is closed.
type brokenConn struct{ net.Conn }

func (c brokenConn) Close() error {
	_ = c.Conn.Close()
	panic("broken")
}

// TestG14APanicOfARefusedConnection: it does not reach the caller of Register, who gets the refusal.
func TestG14APanicOfARefusedConnection(t *testing.T) {
	g := newGroup(t, 0)
	g.Shutdown()
	ours, peer := net.Pipe()
	_, err := g.Register(brokenConn{ours}, echo())
	coretest.WantErr(t, "Register", err, core.ErrRejected)
	if _, err := peer.Read(make([]byte, 1)); err == nil {
		t.Error("the refused connection is open")
	}
}

// meddling does something when its deadline is set, which Register does in the middle.
type meddling struct {
	net.Conn
	meddle func()
}

func (m *meddling) SetDeadline(at time.Time) error {
	m.meddle()
	return m.Conn.SetDeadline(at)
}

// timeless is a connection without deadlines.
type timeless struct{ net.Conn }

func (timeless) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// R177: an executor whose channel has ended serves the next one, and not before the
// tasks that it had accepted have run.
func TestR177Reuse(t *testing.T) {
	g := newGroup(t, 0)
	var loops []*core.EventLoop
	for range 20 {
		conn, _ := tcpPair(t)
		ch := mustRegister(t, g, conn, echo())
		loops = append(loops, ch.EventLoop())
		ch.Close()
		coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
	}
	for i, loop := range loops {
		if loop != loops[0] {
			t.Fatalf("R177: channel %d got executor %v, want the first, which was idle", i, loop)
		}
	}
	if n := g.Stats().Executors; n != 1 {
		t.Errorf("R177: %d executors, want 1", n)
	}

	conn, _ := tcpPair(t)
	ch := mustRegister(t, g, conn, echo())
	gate, second := make(chan struct{}), make(chan struct{})
	onLoop(t, ch, func() {
		ch.Close()
		for range 10 { // each is a turn, in which the executor could go idle too early
			coretest.MustExecute(t, ch.EventLoop(), func() {})
		}
		coretest.MustExecute(t, ch.EventLoop(), func() { close(second); <-gate })
	})
	coretest.Await(t, "the tasks after the close", second)
	other, _ := tcpPair(t)
	next := mustRegister(t, g, other, echo())
	if next.EventLoop() == ch.EventLoop() {
		t.Errorf("R177: an executor with tasks left got the next channel")
	}
	close(gate)
	coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
	if s := ch.EventLoop().Stats(); s.Pending != 0 {
		t.Errorf("R177: an idle executor has %d tasks", s.Pending)
	}
}

// R177: if an executor is shut down on its own while Register starts it, Register tries another one,
// also while the first has not terminated yet.
func TestR177ExecutorShutDownInsideRegister(t *testing.T) {
	var g *blocking.Group
	var first core.EventExecutor
	held := make(chan struct{})
	g = newGroup(t, 0, core.WithSpawner(func(loop func()) error {
		if first != nil {
			go loop()
			return nil
		}
		for ex := range g.All() {
			first = ex
		}
		first.Shutdown()
		go func() { <-held; loop() }()
		return nil
	}))
	defer close(held)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	coretest.Want(t, "the state of the first executor", first.State(), core.StateShutdown)
	if ch.EventLoop() == first {
		t.Errorf("R177: the channel got an executor that was shut down")
	}
	onLoop(t, ch, func() {})
	if s := g.Stats(); s.Executors != 2 || s.Idle != 0 || s.Channels != 1 {
		t.Errorf("R177: got %+v, want 2 executors, none of them idle, and 1 channel", s)
	}
}

// A channel counts while its connection is being closed, and no longer when Close has returned on
// the executor.
func TestR177ChannelCountsUntilItsConnectionIsClosed(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	counted := int64(-1)
	ch := mustRegister(t, g, &watchedClose{Conn: ours, closing: func() { counted = int64(g.Stats().Channels) }}, echo())
	onLoop(t, ch, func() {
		ch.Close()
		coretest.Want(t, "R177: channels while the connection is closed", counted, 1)
		coretest.Want(t, "R177: channels after Close", int64(g.Stats().Channels), 0)
	})
}

// watchedClose is a connection that calls closing before it closes.
type watchedClose struct {
	net.Conn
	closing func()
}

func (w *watchedClose) Close() error {
	w.closing()
	return w.Conn.Close()
}

// maxChannels holds exactly, and every slot comes back, however many register and
// close at once.
func TestR177MaxChannelsExact(t *testing.T) {
	const limit, workers, rounds = 4, 16, 100
	g := newGroup(t, limit)
	var open, most, refused atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				ours, theirs := net.Pipe()
				ch, err := g.Register(ours, echo())
				if err != nil {
					if !errors.Is(err, blocking.ErrTooManyChannels) {
						t.Errorf("Register: %v", err)
					}
					refused.Add(1)
					continue
				}
				// From the return of Register to the call of Close the group counts the
				// channel.
				n := open.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				// The first ones stay until all slots are taken and counted, and a call
				// has been refused. A refusal alone can come before the last one is counted.
				coretest.Until(t, "all slots and a refusal", func() bool { return most.Load() >= limit && refused.Load() > 0 })
				_, _ = theirs.Write([]byte("x"))
				_, _ = io.ReadFull(theirs, make([]byte, 1))
				open.Add(-1)
				coretest.Await(t, "the close", ch.Close().Done())
				_ = theirs.Close()
			}
		})
	}
	wg.Wait()
	if got := most.Load(); got != limit {
		t.Errorf("R177: %d channels were open at once, want %d", got, limit)
	}
	if s := g.Stats(); s.Channels != 0 {
		t.Errorf("R177: %d slots did not come back", s.Channels)
	}
	// The full number can be had again, and no more.
	for i := range limit + 1 {
		ours, _ := net.Pipe()
		if _, err := g.Register(ours, echo()); (err != nil) != (i == limit) {
			t.Errorf("R177: channel %d: %v", i, err)
		}
	}
	t.Logf("most at once %d, refused %d of %d", most.Load(), refused.Load(), workers*rounds)
}
