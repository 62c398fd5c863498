package blocking

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// One waker, one wake at a time: no other wake-up repairs a lost one.
// (Many producers would hide it.) Jitter moves the wake over the whole of Wait.
func TestG12LoneWaker(t *testing.T) {
	rounds := 60_000
	if testing.Short() {
		rounds = 5_000
	}
	for name, connect := range map[string]func(testing.TB) net.Conn{
		"parked": nil,
		"tcp":    func(t testing.TB) net.Conn { return idleTCP(t) },
		"pipe": func(t testing.TB) net.Conn {
			a, b := net.Pipe()
			t.Cleanup(func() { _ = b.Close() })
			return a
		},
	} {
		for _, far := range []time.Duration{0, time.Hour} { // with and without a timer that must not overwrite
			t.Run(name+" "+far.String(), func(t *testing.T) {
				p := newConnPoller()
				if connect != nil {
					conn := connect(t)
					defer func() { _ = conn.Close() }()
					p.attach(newConnection(conn), 16)
					if err := p.Add(connFD, core.Readable, 1<<32); err != nil {
						t.Fatal(err)
					}
				}
				var asked, seen atomic.Int64
				loopEnded := make(chan struct{})
				go func() {
					defer close(loopEnded)
					for n := int64(0); n < int64(rounds); {
						var deadline core.Deadline
						if far > 0 && n&1 == 0 {
							deadline = time.Now().Add(far)
						}
						_ = p.Wait(deadline)
						n = asked.Load()
						seen.Store(n)
					}
				}()
				random := rand.New(rand.NewPCG(1, 2))
				for n := int64(1); n <= int64(rounds); n++ {
					for range random.IntN(300) {
						_ = seen.Load()
					}
					asked.Store(n)
					p.Wake()
					for end := time.Now().Add(20 * time.Second); seen.Load() < n; {
						if time.Now().After(end) {
							t.Fatalf("G12: wake-up %d was lost; sleep state %d", n, p.sleep.Load())
						}
						runtime.Gosched()
					}
				}
				<-loopEnded
			})
		}
	}
}

func idleTCP(t testing.TB) net.Conn {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	peer, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// G24: an alarm that could not be called off has ended when end returns.
func TestG24AlarmIsWaitedFor(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	for name, start := range map[string]func(func()) alarm{
		"whenPassed": func(f func()) alarm { return whenPassed(0, f) },
		"whenEnded":  func(f func()) alarm { cancel(); return whenEnded(ctx, f) },
	} {
		begun := make(chan struct{})
		var over atomic.Bool
		a := start(func() {
			close(begun)
			for range 1000 {
				runtime.Gosched()
			}
			over.Store(true)
		})
		<-begun
		if a.end(); !over.Load() {
			t.Errorf("G24: %s: end returned while the call was running", name)
		}
	}
	a := whenPassed(time.Hour, func() { t.Error("called though it was called off") })
	a.end()
}

// G24: an alarm of Close that fires as the executor leaves the connection has ended when the channel has.
func TestG24RungAlarmIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := NewGroup(0)
		coretest.Must(t, err)
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		ch, err := g.Register(ours, HandlerBase{})
		coretest.Must(t, err)
		begun, gate := make(chan struct{}), make(chan struct{})
		coretest.OnLoop(t, ch.EventLoop(), func() {
			ch.mu.Lock()
			defer ch.mu.Unlock()
			coretest.Must(t, ch.enter())
			ch.closeLimit.since = time.Now()
			ch.closeLimit.alarm = whenPassed(0, func() { close(begun); <-gate })
			<-begun
			ch.leave()
		})
		closed := ch.Close()
		synctest.Wait()
		select {
		case <-closed.Done():
			t.Error("G24: the channel ended while its alarm was running")
		default:
		}
		close(gate)
		coretest.Must(t, coretest.AwaitErr(t, "Close", closed))
		coretest.Must(t, g.Close())
	})
}

// The script that every poller passes: sticky, coalesced, spurious, timed, closed.
func TestG12PollerScript(t *testing.T) {
	p := newConnPoller()
	p.Wake()
	p.Wake()
	_ = p.Wait(core.Deadline{}) // sticky: returns
	began := time.Now()
	_ = p.Wait(began.Add(20 * time.Millisecond)) // coalesced: the second wake is not left
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("G12: Wait returned after %v: two wakes were not one", took)
	}
	_ = p.Wait(time.Now().Add(-time.Second))

	ours, theirs := net.Pipe()
	p.attach(newConnection(ours), 4)
	if err := p.Add(7, core.Readable, 1); err == nil {
		t.Errorf("Add of a descriptor: got nil, want an error")
	}
	if err := p.Add(connFD, core.Readable, 9<<32); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = theirs.Write([]byte("abcdef")); _ = theirs.Close() })
	waitReady := func() core.PollEvent {
		for {
			_ = p.Wait(core.Deadline{})
			if ready := p.Ready(); len(ready) == 1 {
				return ready[0]
			}
		}
	}
	for range 3 { // a level: until it is taken, without another read
		if ev := waitReady(); ev.Token != 9<<32 || !ev.Readiness.Readable() {
			t.Fatalf("got event %+v", ev)
		}
	}
	if b, err := p.take(); string(b) != "abcd" || err != nil {
		t.Errorf("took %q, %v", b, err)
	}
	_ = p.Modify(connFD, 0, 9<<32) // paused: nothing is read
	p.Wake()
	_ = p.Wait(core.Deadline{})
	if len(p.Ready()) != 0 {
		t.Errorf("a paused connection has events")
	}
	_ = p.Modify(connFD, core.Readable, 9<<32)
	waitReady()
	if b, err := p.take(); string(b) != "ef" || err != nil {
		t.Errorf("took %q, %v", b, err)
	}
	if ev := waitReady(); !ev.Readiness.HungUp() {
		t.Errorf("got %v at the end of the stream, want hung up", ev.Readiness)
	}
	if _, err := p.take(); err != io.EOF {
		t.Errorf("took %v, want io.EOF", err)
	}
	wg.Wait()
	_ = p.Remove(connFD)
	p.detach()
	_ = ours.Close()
	p.Wake()
	_ = p.Wait(core.Deadline{})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.Wake() // after Close: nothing
}

// A stream of wake-ups does not keep input from being looked for.
func TestG13InputUnderWakes(t *testing.T) {
	ours, theirs := net.Pipe()
	p := newConnPoller()
	p.attach(newConnection(ours), 16)
	if err := p.Add(connFD, core.Readable, 1<<32); err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = theirs.Write([]byte("x"))
	}()
	end := time.Now().Add(20 * time.Second)
	for len(p.Ready()) == 0 {
		p.Wake() // pending at the beginning of every Wait
		_ = p.Wait(core.Deadline{})
		if time.Now().After(end) {
			t.Fatal("G13: the poller never polled for input")
		}
	}
	<-written
	_, _ = ours.Close(), theirs.Close()
}

// The memory of a burst is released, and a queue that is never empty does not grow
// with the bytes that have passed through it.
func TestG24OutboundMemory(t *testing.T) {
	var o outbound
	o.push(make([]byte, 10<<20))
	for o.pending() > 0 {
		o.sent(len(o.next(o.accepted)))
	}
	if cap(o.queue) > mostKept {
		t.Errorf("G24: an empty queue keeps %d bytes, want at most %d", cap(o.queue), mostKept)
	}
	sent := byte(0)
	o.push(make([]byte, 1000))
	for i := range 100_000 {
		o.push([]byte{byte(i)})
		b := o.next(o.flushed + 1)
		if i >= 1000 && b[0] != sent {
			t.Fatalf("byte %d: got %d, want %d", i, b[0], sent)
		}
		if i >= 1000 {
			sent++
		}
		o.sent(1)
	}
	if cap(o.queue) > 16<<10 {
		t.Errorf("G24: a queue of 1000 bytes has grown to %d", cap(o.queue))
	}
}

// A flush reads its piece without the lock: later writes do not change or move the
// piece.
func TestG23PieceInFlightIsNotMoved(t *testing.T) {
	for size := range 200 {
		var o outbound
		o.push([]byte("abcdefgh"))
		o.sent(4)
		piece := o.next(o.accepted)
		o.push(make([]byte, size)) // for some sizes there is room only after the front has gone
		o.push([]byte("ijkl"))
		if string(piece) != "efgh" {
			t.Fatalf("after a write of %d bytes the piece in flight is %q, want efgh", size, piece)
		}
		o.sent(4 + size)
		if got := o.next(o.accepted); string(got) != "ijkl" {
			t.Fatalf("after a write of %d bytes the rest is %q, want ijkl", size, got)
		}
	}
}

// unruly is a connection that breaks the rules of net.Conn.
type unruly struct {
	net.Conn
	read  func([]byte) (int, error)
	write func([]byte) (int, error)
	close func() error
}

func (u unruly) Read(p []byte) (int, error) {
	if u.read != nil {
		return u.read(p)
	}
	return u.Conn.Read(p)
}

func (u unruly) Write(p []byte) (int, error) {
	if u.write != nil {
		return u.write(p)
	}
	return u.Conn.Write(p)
}

func (u unruly) Close() error {
	_ = u.Conn.Close()
	if u.close != nil {
		return u.close()
	}
	return nil
}

// Whatever a connection of the user's does, its channel ends.
func TestG14UnrulyConnections(t *testing.T) {
	failed := errors.New("cannot close")
	for _, row := range []struct {
		name     string
		conn     unruly
		closeErr bool
		says     string
	}{
		{"Read panics", unruly{read: func([]byte) (int, error) { panic("planted") }}, false, "core: panic: planted"},
		{"Read returns too much", unruly{read: func(p []byte) (int, error) { return len(p) + 1, nil }}, false, "blocking: Read of a blocking.unruly returned 9 for 8 bytes"},
		{"Read returns a negative number", unruly{read: func([]byte) (int, error) { return -1, nil }}, false, "blocking: Read of a blocking.unruly returned -1 for 8 bytes"},
		{"Write panics", unruly{write: func([]byte) (int, error) { panic("planted") }}, false, "core: panic: planted"},
		{"Write returns too much", unruly{write: func(p []byte) (int, error) { return len(p) + 1, nil }}, false, "blocking: Write of a blocking.unruly returned 4 for 3 bytes"},
		{"Write returns too little", unruly{write: func(p []byte) (int, error) { return len(p) - 1, nil }}, false, "short write"},
		{"Write returns a negative number", unruly{write: func([]byte) (int, error) { return -1, nil }}, false, "blocking: Write of a blocking.unruly returned -1 for 3 bytes"},
		{"Close panics", unruly{close: func() error { panic("planted") }}, true, ""},
		{"Close fails", unruly{close: func() error { return failed }}, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g, err := NewGroup(0)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			row.conn.Conn = ours
			ch, err := g.Register(row.conn, HandlerBase{}, WithReadBuffer(8))
			if err != nil {
				t.Fatal(err)
			}
			w := ch.Write([]byte("abc"))
			switch {
			case row.conn.write != nil:
				ch.Flush()
			case row.conn.close != nil:
				ch.Close()
			}
			<-ch.CloseFuture().Done()
			<-w.Done()
			if w.Err() == nil || errors.Is(w.Err(), ErrHandlerFailed) {
				t.Errorf("the write: got %v, want the error of the connection", w.Err())
			}
			if cause := ch.CloseCause(); row.says != "" && (cause == nil || cause.Error() != row.says) {
				t.Errorf("the cause is %v, want %s", cause, row.says)
			}
			_, err = ch.Close().Wait(t.Context())
			if (err != nil) != row.closeErr {
				t.Errorf("R213: Close: got %v, want an error: %v", err, row.closeErr)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
