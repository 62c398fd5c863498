package blocking_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// An echo over every kind of connection, with tasks and timers that interrupt the
// reads all the while: nothing is lost, doubled or reordered.
func TestG12EchoWhileInterrupted(t *testing.T) {
	const size = 1 << 20
	for _, tr := range interruptible {
		t.Run(tr.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := tr.pair(t)
			ch := mustRegister(t, g, ours, echo())
			var ran atomic.Int64
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						done := make(chan struct{})
						if ch.EventLoop().Execute(func() { ran.Add(1); close(done) }) == nil {
							<-done
						}
					}
				}
			}()
			timer, err := ch.EventLoop().ScheduleAtFixedRate(0, time.Millisecond, func() {})
			if err != nil {
				t.Fatal(err)
			}
			sent := make([]byte, size)
			for i := range sent {
				sent[i] = byte(i * i >> 8)
			}
			coretest.Until(t, "G13: a task to run during an echo", func() bool {
				before := ran.Load()
				writeErr := make(chan error, 1)
				go func() { _, err := theirs.Write(sent); writeErr <- err }()
				got := make([]byte, size)
				if _, err := io.ReadFull(theirs, got); err != nil {
					t.Fatalf("read of the echo: %v", err)
				}
				if err := <-writeErr; err != nil {
					t.Fatalf("write: %v", err)
				}
				if !bytes.Equal(got, sent) {
					t.Fatalf("the echo differs from what was sent")
				}
				return ran.Load() > before
			})
			close(stop)
			<-stopped
			timer.Cancel()
			_ = theirs.Close()
			coretest.Await(t, "the close", ch.CloseFuture().Done())
		})
	}
}

// G22: the order of the steps of a close, for every way and every cause.
func TestG22CloseOrder(t *testing.T) {
	const sentFirst = "end of the peer's side"
	rows := []struct {
		name  string
		close func(g *blocking.Group, ch *blocking.Channel, ours, peer net.Conn)
		want  string
		cause error
	}{
		{"Close", func(_ *blocking.Group, ch *blocking.Channel, _, _ net.Conn) { ch.Close() },
			"active closeFuture write1 write2 inactive unregistered", nil},
		{"Close on the loop", func(_ *blocking.Group, ch *blocking.Channel, _, _ net.Conn) {
			_ = ch.EventLoop().Execute(func() { ch.Close(); ch.Close() })
		}, "active closeFuture write1 write2 inactive unregistered", nil},
		{sentFirst, func(_ *blocking.Group, _ *blocking.Channel, _, peer net.Conn) { _ = peer.(*net.TCPConn).CloseWrite() },
			"active write1 write2 closeFuture inactive unregistered", io.EOF},
		{"reset by the peer", func(_ *blocking.Group, _ *blocking.Channel, _, peer net.Conn) {
			_ = peer.(*net.TCPConn).SetLinger(0)
			_ = peer.Close()
		}, "active closeFuture write1 write2 error inactive unregistered", nil},
		{"Shutdown", func(g *blocking.Group, _ *blocking.Channel, _, _ net.Conn) { g.Shutdown() },
			"active closeFuture write1 write2 log inactive unregistered", core.ErrShutdown},
		{"Shutdown of the executor", func(_ *blocking.Group, ch *blocking.Channel, _, _ net.Conn) { ch.EventLoop().Shutdown() },
			"active closeFuture write1 write2 log inactive unregistered", core.ErrShutdown},
		{"reset by the peer in a shutdown", func(g *blocking.Group, ch *blocking.Channel, ours, peer net.Conn) {
			runs, held := make(chan struct{}), make(chan struct{})
			_ = ch.EventLoop().Execute(func() { close(runs); <-held })
			coretest.Await(t, "the task that holds the executor", runs) // else the executor may drain the channel before it
			_, _ = g.ShutdownGracefully(0, core.DefaultShutdownTimeout)
			_ = peer.(*net.TCPConn).SetLinger(0)
			_ = peer.Close()
			awaitReset(t, ours)
			close(held)
		}, "active closeFuture write1 write2 error log inactive unregistered", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := tcpPair(t)
			var j coretest.Journal
			over := make(chan struct{})
			ch := mustRegister(t, g, ours, &handler{
				active:       func(*blocking.Channel) { j.Add("active") },
				failed:       func(*blocking.Channel, error) { j.Add("error") },
				inactive:     func(*blocking.Channel) { j.Add("inactive") },
				unregistered: func(*blocking.Channel) { j.Add("unregistered"); close(over) },
			}, blocking.WithLogger(coretest.OnMessage(func() { j.Add("log") })))
			ch.CloseFuture().OnDone(func(struct{}, error) {
				j.Add("closeFuture")
				if _, err := ours.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
					t.Errorf("G22: a write to the connection at CloseFuture: %v, want that it is closed", err)
				}
			})
			var writes [2]blocking.WriteFuture
			onLoop(t, ch, func() {
				for i, name := range []string{"write1", "write2"} {
					writes[i] = ch.Write([]byte("never flushed"))
					writes[i].OnDone(func(int, error) { j.Add(name) })
				}
			})
			row.close(g, ch, ours, theirs)
			coretest.Await(t, "Unregistered", over)
			if got := j.String(); got != row.want {
				t.Errorf("G22: got order %q, want %q", got, row.want)
			}
			for i, w := range writes {
				var closed *blocking.ClosedError
				if n, err := w.Wait(context.Background()); row.name == sentFirst {
					if n != len("never flushed") || err != nil {
						t.Errorf("R220: write %d: got %d, %v, want all of it", i, n, err)
					}
				} else if n != 0 || !errors.As(err, &closed) || !errors.Is(err, blocking.ErrChannelClosed) {
					t.Errorf("G22: write %d: got %d, %v, want 0 and a *ClosedError", i, n, err)
				}
			}
			if row.cause != nil && !errors.Is(ch.CloseCause(), row.cause) {
				t.Errorf("CloseCause: got %v, want %v", ch.CloseCause(), row.cause)
			}
			if err := ch.Write([]byte("x")).Err(); !errors.Is(err, blocking.ErrChannelClosed) {
				t.Errorf("a write after the close: got %v, want ErrChannelClosed", err)
			}
		})
	}
}

// G22: the promise of Close is between CloseFuture and the writes.
func TestG22ClosePromiseOrder(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	var j coretest.Journal
	over := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{unregistered: func(*blocking.Channel) { close(over) }})
	onLoop(t, ch, func() { // what Close returns is not complete before this task has ended
		ch.Write([]byte("x")).OnDone(func(int, error) { j.Add("write") })
	})
	begun, gate := make(chan struct{}), make(chan struct{})
	if err := ch.EventLoop().Execute(func() { close(begun); <-gate }); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the task", begun) // a close comes before a task that has not begun
	first := ch.Close()
	first.OnDone(func(struct{}, error) { j.Add("promise") })
	ch.CloseFuture().OnDone(func(struct{}, error) { j.Add("future") })
	if second := ch.Close(); second != first {
		t.Errorf("R211: a second Close returned another future")
	}
	if first.Cancel() || ch.CloseFuture().Cancel() {
		t.Errorf("G22: the future of Close was cancelled")
	}
	close(gate)
	coretest.Await(t, "Unregistered", over)
	if got, want := j.String(), "future promise write"; got != want {
		t.Errorf("G22: got order %q, want %q", got, want)
	}
}

// G22: write futures complete once each, in order: those whose bytes the connection
// took with success, the others with the error.
func TestG22WriteFuturesInOrder(t *testing.T) {
	const flushed, lost = 50, 30
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	over := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{unregistered: func(*blocking.Channel) { close(over) }})
	var order []int
	var outcomes []error
	note := func(i int) func(int, error) {
		return func(n int, err error) {
			if (err == nil) != (n == 3) && i%10 != 0 {
				t.Errorf("write %d: n = %d with error %v", i, n, err)
			}
			order, outcomes = append(order, i), append(outcomes, err)
		}
	}
	onLoop(t, ch, func() {
		var futures []blocking.WriteFuture
		for i := range flushed + lost {
			p := []byte("abc")
			if i%10 == 0 {
				p = nil // an empty write has its turn like any other
			}
			futures = append(futures, ch.Write(p))
			if i == flushed-1 {
				for k := len(futures) - 1; k >= 0; k-- { // asked in another order
					futures[k].OnDone(note(k))
				}
				ch.Flush()
				for k, f := range futures {
					if n, err := f.Wait(context.Background()); err != nil || k%10 != 0 && n != 3 {
						t.Errorf("write %d after the flush on the loop: got %d, %v", k, n, err)
					}
				}
			}
			if i >= flushed {
				futures[i].OnDone(note(i))
			}
		}
		if _, err := futures[flushed+1].Wait(context.Background()); !errors.Is(err, core.ErrInEventLoop) {
			t.Errorf("G18: Wait on the loop: got %v, want ErrInEventLoop", err)
		}
	})
	ch.Close()
	coretest.Await(t, "Unregistered", over)
	if len(order) != flushed+lost {
		t.Fatalf("G22: %d futures completed, want %d", len(order), flushed+lost)
	}
	for k, i := range order {
		if k != i {
			t.Fatalf("G22: got order %v, want that of the writes", order)
		}
		if want := i > flushed; (outcomes[k] != nil) != want && i != flushed {
			t.Errorf("G22: write %d: got %v, want failure %v", i, outcomes[k], want)
		}
	}
	got, err := io.ReadAll(theirs)
	if want := (flushed - flushed/10) * 3; err != nil || len(got) != want {
		t.Errorf("the peer got %d bytes, %v, want %d", len(got), err, want)
	}
}

// G13: a task that always resubmits itself does not keep the connection from being
// read.
func TestG13BusyLoopReads(t *testing.T) {
	for _, tr := range interruptible {
		t.Run(tr.name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := tr.pair(t)
			ch := mustRegister(t, g, ours, echo())
			var stop atomic.Bool
			var again func()
			again = func() {
				if !stop.Load() {
					_ = ch.EventLoop().Execute(again)
				}
			}
			defer stop.Store(true)
			_ = ch.EventLoop().Execute(again)
			for range 20 {
				if _, err := theirs.Write([]byte("ping")); err != nil {
					t.Fatal(err)
				}
				_ = theirs.SetReadDeadline(time.Now().Add(coretest.HangGuard))
				if _, err := io.ReadFull(theirs, make([]byte, 4)); err != nil {
					t.Fatalf("G13: no echo from a busy executor: %v", err)
				}
			}
		})
	}
}

// G7: a timer is not early because of a read, nor forgotten in one.
func TestG7TimersWhileReading(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	for _, delay := range []time.Duration{0, time.Microsecond, time.Millisecond, 20 * time.Millisecond} {
		began, ended := time.Now(), make(chan time.Time, 1)
		timer, err := ch.EventLoop().Schedule(delay, func() { ended <- time.Now() })
		if err != nil {
			t.Fatal(err)
		}
		coretest.Await(t, "the timer", timer.Done())
		if took := (<-ended).Sub(began); took < delay {
			t.Errorf("G7: a timer of %v ran after %v", delay, took)
		}
	}
}

// G14: a method of the handler that does not return closes the channel and nothing
// else; the rest of the order still happens.
func TestG14HandlerFails(t *testing.T) {
	fail := map[string]func(){
		"panic":  func() { panic("planted") },
		"goexit": runtime.Goexit,
	}
	for how, f := range fail {
		for _, where := range []string{"active", "read", "readComplete", "inputShutdown", "inactive", "unregistered", "error", "write listener"} {
			t.Run(how+" in "+where, func(t *testing.T) {
				panics := make(chan *core.PanicError, 8)
				g := newGroup(t, 0, core.WithPanicHandler(func(p *core.PanicError) { panics <- p }))
				ours, theirs := tcpPair(t)
				at := func(place string) {
					if place == where {
						f()
					}
				}
				var j coretest.Journal
				over := make(chan struct{})
				h := &handler{
					active:        func(*blocking.Channel) { at("active") },
					read:          func(ch *blocking.Channel, _ []byte) { at("read") },
					readComplete:  func(*blocking.Channel) { at("readComplete") },
					inputShutdown: func(*blocking.Channel) { at("inputShutdown") },
					failed:        func(*blocking.Channel, error) { at("error") },
					inactive:      func(*blocking.Channel) { j.Add("inactive"); at("inactive") },
					unregistered:  func(*blocking.Channel) { j.Add("unregistered"); defer close(over); at("unregistered") },
				}
				ch := mustRegister(t, g, ours, h, blocking.WithHalfClosure(where == "inputShutdown"))
				w := ch.Write([]byte("x"))
				w.OnDone(func(int, error) { at("write listener") })
				_, _ = theirs.Write([]byte("x"))
				if where == "error" {
					onLoop(t, ch, func() {})
					_ = theirs.(*net.TCPConn).SetLinger(0)
				}
				_ = theirs.Close()
				coretest.Await(t, "the close", ch.CloseFuture().Done())
				coretest.Await(t, "Unregistered", over)
				if got := j.String(); got != "inactive unregistered" {
					t.Errorf("G14: got %q, want inactive unregistered", got)
				}
				coretest.Await(t, "the write future", w.Done())
				switch where {
				case "active", "read", "readComplete", "inputShutdown":
					if err := ch.CloseCause(); !errors.Is(err, blocking.ErrHandlerFailed) {
						t.Errorf("CloseCause: got %v, want ErrHandlerFailed", err)
					}
				}
				// The executor is as good as new.
				coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
				conn, peer := tcpPair(t)
				next := mustRegister(t, g, conn, echo())
				if next.EventLoop() != ch.EventLoop() {
					t.Errorf("R177: the executor was not used again")
				}
				_, _ = peer.Write([]byte("pong"))
				if _, err := io.ReadFull(peer, make([]byte, 4)); err != nil {
					t.Errorf("G14: the executor does not serve any more: %v", err)
				}
				if how == "panic" {
					if p := <-panics; p.Value != "planted" || !strings.Contains(string(p.Stack), "TestG14HandlerFails") {
						t.Errorf("G14: got a panic of %v with stack\n%s", p.Value, p.Stack)
					}
				}
			})
		}
	}
}
