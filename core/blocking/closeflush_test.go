package blocking_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// Close does not wait for ever for a write to a peer that does not read.
func TestCloseCutsBlockedWrite(t *testing.T) {
	for _, timeout := range []time.Duration{0, short} {
		g := newGroup(t, 0)
		ours, _ := tcpPair(t)
		ch := mustRegister(t, g, ours, echo(), blocking.WithCloseTimeout(timeout))
		w := ch.WriteAndFlush(make([]byte, 16<<20))
		ch.Close()
		coretest.Await(t, "the close", ch.CloseFuture().Done())
		// It fails after CloseFuture has completed (G22).
		if _, err := w.Wait(t.Context()); !errors.Is(err, blocking.ErrChannelClosed) {
			t.Errorf("the blocked write: got %v, want ErrChannelClosed", err)
		}
	}
}

// What was flushed before a Close from the same goroutine is sent.
func TestCloseAfterFlush(t *testing.T) {
	for range 50 {
		g := newGroup(t, 0)
		ours, theirs := tcpPair(t)
		ch := mustRegister(t, g, ours, echo())
		ch.WriteAndFlush([]byte("last words"))
		ch.Close()
		if got, err := io.ReadAll(theirs); string(got) != "last words" || err != nil {
			t.Fatalf("the peer got %q, %v, want what was flushed before Close", got, err)
		}
	}
}

// The same if the executor itself closes: a Flush from elsewhere has returned, and is
// still on its way.
func TestCloseOnLoopSendsWhatOthersFlushed(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, &handler{})
	var flushed, written blocking.WriteFuture
	onLoop(t, ch, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			flushed = ch.WriteAndFlush([]byte("flushed"))
			written = ch.Write([]byte("only written"))
		}()
		coretest.Await(t, "the other goroutine", done)
		ch.Close()
		if !closed(ch) {
			t.Errorf("Close on the executor has returned, and the channel is open")
		}
	})
	if got, err := io.ReadAll(theirs); string(got) != "flushed" || err != nil {
		t.Errorf("the peer got %q, %v, want what was flushed before Close", got, err)
	}
	if n, err := flushed.Wait(t.Context()); n != 7 || err != nil {
		t.Errorf("the write that was flushed: got %d, %v, want 7, nil", n, err)
	}
	if n, err := written.Wait(t.Context()); n != 0 || !errors.Is(err, blocking.ErrChannelClosed) {
		t.Errorf("the write that was not (R215): got %d, %v, want 0, ErrChannelClosed", n, err)
	}
	if got := ch.PendingBytes(); got != int64(len("only written")) {
		t.Errorf("PendingBytes after the close: got %d, want the %d that the connection never took", got, len("only written"))
	}
}

func closed(ch *blocking.Channel) bool {
	select {
	case <-ch.CloseFuture().Done():
		return true
	default:
		return false
	}
}

// A connection that is registered, written to and closed in one body of its own
// executor has still to begin: it does, and sends.
func TestCloseOnLoopBeforeItBegins(t *testing.T) {
	g := newGroup(t, 0)
	first, _ := tcpPair(t)
	ch := mustRegister(t, g, first, &handler{})
	<-ch.Close().Done()
	coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
	ours, theirs := tlsPair(t)
	onLoop(t, ch, func() {
		next := mustRegister(t, g, ours, &handler{})
		if next.EventLoop() != ch.EventLoop() {
			t.Errorf("R177: another executor: the test needs the same")
		}
		next.WriteAndFlush([]byte("flushed"))
		next.Close()
	})
	if got, err := io.ReadAll(theirs); string(got) != "flushed" || err != nil {
		t.Errorf("the peer got %q, %v, want what was flushed before Close", got, err)
	}
}

// The timeout of Close counts only time blocked in the connection. An executor that runs a
// task meanwhile still flushes afterwards, and the peer gets the bytes.
func TestCloseTimeoutIsNotForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(time.Second))
		_ = ch.EventLoop().Execute(func() { time.Sleep(time.Hour) })
		synctest.Wait()
		w := ch.WriteAndFlush([]byte("flushed"))
		ch.Close()
		if got, err := io.ReadAll(theirs); string(got) != "flushed" || err != nil {
			t.Errorf("the peer got %q, %v, want what was flushed before Close", got, err)
		}
		if n, err := w.Wait(t.Context()); n != 7 || err != nil || ch.CloseCause() != nil {
			t.Errorf("the write: got %d, %v, closed for %v, want 7, nil, nil", n, err, ch.CloseCause())
		}
	})
}

// All time blocked in the connection adds up: a peer that reads a little now and then
// cannot delay a close for ever.
func TestCloseTimeoutIsForWritesInAll(t *testing.T) {
	const each, timeout = 6 * time.Second, 10 * time.Second
	// The time that was set at Close passes in the second write, or in the task.
	for _, busy := range []time.Duration{2 * time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(timeout))
			var one, two blocking.WriteFuture
			over := make(chan struct{})
			_ = ch.EventLoop().Execute(func() {
				defer close(over)
				one = ch.WriteAndFlush([]byte("one"))
				time.Sleep(busy)
				two = ch.WriteAndFlush([]byte("two"))
			})
			synctest.Wait() // until the first write blocks
			begun := time.Now()
			ch.Close()
			time.Sleep(each)
			if _, err := io.ReadFull(theirs, make([]byte, 3)); err != nil {
				t.Errorf("the first write: %v", err)
			}
			coretest.Await(t, "the close", ch.CloseFuture().Done())
			if took, want := time.Since(begun), timeout+busy; took != want { // virtual, so exact
				t.Errorf("the close took %v, want %v: %v in writes and %v at a task", took, want, timeout, busy)
			}
			coretest.Await(t, "the task", over)
			if n, err := one.Wait(t.Context()); n != 3 || err != nil {
				t.Errorf("the first write, blocked for %v: got %d, %v, want 3, nil", each, n, err)
			}
			if n, err := two.Wait(t.Context()); n != 0 || !errors.Is(err, blocking.ErrCloseDeadline) {
				t.Errorf("the second write: got %d, %v, want 0, ErrCloseDeadline", n, err)
			}
		})
	}
}

// Without any time nothing that blocks is begun.
func TestCloseTimeoutZeroSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 0)
		ours, theirs := net.Pipe()
		ch := mustRegister(t, g, ours, &handler{}, blocking.WithCloseTimeout(0))
		_ = ch.EventLoop().Execute(func() { time.Sleep(time.Hour) })
		synctest.Wait()
		w := ch.WriteAndFlush([]byte("flushed"))
		ch.Close()
		if got, err := io.ReadAll(theirs); len(got) != 0 || err != nil {
			t.Errorf("the peer got %q, %v, want nothing", got, err)
		}
		if n, err := w.Wait(t.Context()); n != 0 || !errors.Is(err, blocking.ErrCloseDeadline) {
			t.Errorf("the write: got %d, %v, want 0, ErrCloseDeadline", n, err)
		}
	})
}

// The time of Close is for a handshake, and for the goodbye of TLS, as for writes:
// a pipe holds nothing, so that a peer that does not listen blocks each of them.
func TestCloseTimeoutIsForTLSToo(t *testing.T) {
	cert, pool := selfSigned(t)
	for name, shake := range map[string]bool{"handshake": false, "goodbye": true} {
		for where, on := range map[string]func(testing.TB, *blocking.Channel, func()){
			"elsewhere":       func(_ testing.TB, _ *blocking.Channel, f func()) { f() },
			"on the executor": onLoop,
		} {
			if !shake && where != "elsewhere" {
				continue // it is in the handshake
			}
			t.Run(name+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := newGroup(t, 0)
					server, client := net.Pipe()
					closeAtEnd(t, client)
					config := &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true}
					ch := mustRegister(t, g, tls.Server(server, config), &handler{},
						blocking.WithCloseTimeout(time.Second), blocking.WithHandshakeTimeout(time.Hour))
					if shake {
						// The bubble has a time of its own.
						peer := tls.Client(client, &tls.Config{RootCAs: pool, ServerName: "localhost", Time: func() time.Time { return cert.Leaf.NotBefore }})
						if err := peer.HandshakeContext(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					synctest.Wait()
					begun := time.Now()
					on(t, ch, func() { ch.Close() })
					coretest.Await(t, "the close", ch.CloseFuture().Done())
					if took := time.Since(begun); took != time.Second {
						t.Errorf("the close took %v, want %v", took, time.Second)
					}
				})
			})
		}
	}
}
