package blocking_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// long is a deadline that no test reaches, short one that a test waits for.
const (
	long  = time.Minute
	short = 100 * time.Millisecond
)

// receiver reads everything until the end of the stream, and closes.
type receiver struct {
	over chan struct{}
	got  []byte
	err  error
}

func receive(conn net.Conn, pause time.Duration) *receiver {
	r := &receiver{over: make(chan struct{})}
	go func() {
		defer close(r.over)
		defer func() { _ = conn.Close() }()
		buf := make([]byte, 32<<10)
		for {
			n, err := conn.Read(buf)
			r.got = append(r.got, buf[:n]...)
			if err != nil {
				r.err = err
				return
			}
			time.Sleep(pause) // a slow reader; nothing is synchronised by it
		}
	}()
	return r
}

// G23: the peer of a drained channel has received all accepted bytes, including bytes that
// were never flushed, with a slow reader, and with more bytes than the kernels buffer.
func TestG23DrainedSentIsReceived(t *testing.T) {
	sizes := map[string]int{"nothing": 0, "a little": 100, "more than the kernels hold": 16 << 20}
	for _, tr := range transports {
		for name, size := range sizes {
			t.Run(tr.name+" "+name, func(t *testing.T) {
				g := newGroup(t, 0)
				ours, theirs := tr.pair(t)
				ch := mustRegister(t, g, ours, echo())
				sent := bytes.Repeat([]byte("0123456789abcdef"), (size+15)/16)
				w := ch.Write(sent)
				term := coretest.MustShutdownGracefully(t, g, 0, long)
				if err := ch.Write([]byte("late")).Err(); !errors.Is(err, blocking.ErrChannelClosing) {
					t.Errorf("G22: a write after the shutdown call: got %v, want ErrChannelClosing", err)
				}
				r := receive(theirs, 100*time.Microsecond)
				report := coretest.AwaitDone(t, g)
				coretest.Await(t, "the peer", r.over)
				if !bytes.Equal(r.got, sent) {
					t.Errorf("G23: the peer got %d bytes (%v), want the %d sent", len(r.got), r.err, len(sent))
				}
				if n, err := w.Wait(context.Background()); n != len(sent) || err != nil {
					t.Errorf("G23: the write: got %d, %v, want %d, nil", n, err, len(sent))
				}
				drained, aborted := int64(1), int64(0)
				if tr.name == "pipe" {
					drained, aborted = 0, 1 // it cannot half-close: the peer's end is not seen
				}
				if report.ChannelsDrained != drained || report.ChannelsAborted != aborted || report.BytesDiscarded != 0 || report.TimedOut {
					t.Errorf("G23: report %+v, want %d drained, %d aborted, 0 discarded", report, drained, aborted)
				}
				if term.Err() != nil || ch.CloseCause() != nil {
					t.Errorf("got %v and cause %v, want none", term.Err(), ch.CloseCause())
				}
			})
		}
	}
}

// G23: for an aborted channel received <= sent - discarded, both counted; nothing outlives the
// deadline, whatever call is blocked.
func TestG23Aborted(t *testing.T) {
	const size = 16 << 20
	peers := []struct {
		name string
		peer func(net.Conn) *receiver // nil: it never reads
		size int
		end  func(*blocking.Group) // nil: gracefully, by the deadline
	}{
		{"dead reader", nil, size, nil},
		{"dead reader, little written", nil, 10, nil},
		{"dead reader, Shutdown", nil, size, func(g *blocking.Group) { g.Shutdown() }},
		{"peer that keeps sending", func(conn net.Conn) *receiver {
			r := &receiver{over: make(chan struct{})}
			go func() {
				for {
					if _, err := conn.Write(make([]byte, 1000)); err != nil {
						return
					}
				}
			}()
			go func() {
				defer close(r.over)
				r.got, r.err = io.ReadAll(conn)
			}()
			return r
		}, 1000, nil},
	}
	for _, tr := range transports {
		for _, p := range peers {
			t.Run(tr.name+" "+p.name, func(t *testing.T) {
				g := newGroup(t, 0)
				ours, theirs := tr.pair(t)
				started := make(chan struct{})
				ch := mustRegister(t, g, ours, &handler{active: func(*blocking.Channel) { close(started) }})
				if tr.name == "tls" {
					if _, err := theirs.Write([]byte("x")); err != nil { // the handshake
						t.Fatal(err)
					}
				}
				coretest.Await(t, "Active", started)
				var r *receiver
				if p.peer != nil {
					r = p.peer(theirs)
				}
				w := ch.WriteAndFlush(make([]byte, p.size))
				var report core.Report
				if p.end == nil {
					coretest.MustShutdownGracefully(t, g, 0, short)
				} else {
					p.end(g)
				}
				report = coretest.AwaitDone(t, g)
				if r == nil { // what has arrived is there to be read
					_ = theirs.SetReadDeadline(time.Now().Add(coretest.HangGuard))
					got, err := io.ReadAll(theirs)
					r = &receiver{got: got, err: err, over: make(chan struct{})}
					close(r.over)
				}
				coretest.Await(t, "the peer", r.over)
				if report.ChannelsDrained != 0 || report.ChannelsAborted != 1 {
					t.Errorf("G23: report %+v, want 1 aborted", report)
				}
				if limit := p.size - int(report.BytesDiscarded); len(r.got) > limit {
					t.Errorf("G23: the peer got %d bytes, want at most %d sent - %d discarded", len(r.got), p.size, report.BytesDiscarded)
				}
				n, err := w.Wait(context.Background())
				if n != p.size-int(report.BytesDiscarded) || (err == nil) != (n == p.size) {
					t.Errorf("G23: the write: got %d, %v, discarded %d of %d", n, err, report.BytesDiscarded, p.size)
				}
				// A TLS close tries for up to five seconds to send its alert to a peer that
				// does not read: the abort must not wait for that.
				if report.Elapsed > 4*time.Second {
					t.Errorf("G11: the end took %v, want about %v", report.Elapsed, short)
				}
				if p.size == size && report.BytesDiscarded == 0 {
					t.Errorf("G23: BytesDiscarded is 0 after %d bytes that the peer did not read", size)
				}
				if err != nil && !errors.Is(err, core.ErrShutdownTimeout) && !errors.Is(err, core.ErrShutdown) {
					t.Errorf("G22: the write failed with %v, want the cause of the shutdown", err)
				}
			})
		}
	}
}

// G22: SO_LINGER of a connection does not hold up the end, at which no deadline could
// reach the close.
func TestG22LingerIsTurnedOff(t *testing.T) {
	g := newGroup(t, 0)
	ours, _ := tcpPair(t)
	if err := ours.(*net.TCPConn).SetLinger(30); err != nil {
		t.Fatal(err)
	}
	ch := mustRegister(t, g, ours, echo())
	ch.WriteAndFlush(make([]byte, 16<<20)) // to a dead reader
	coretest.MustShutdownGracefully(t, g, 0, short)
	if report := coretest.AwaitDone(t, g); report.Elapsed > 15*time.Second {
		t.Errorf("G22: report %+v, want an end at %v: close(2) has lingered", report, short)
	}
}

// G22: writes of a handler inside Read are accepted until the loop begins to drain its
// channel: a handler that answers within Read has answered all of its input.
func TestG22HandlerAnswersAllItWasGiven(t *testing.T) {
	for range 20 {
		g := newGroup(t, 0)
		ours, theirs := tcpPair(t)
		var given int
		refused := false
		mustRegister(t, g, ours, &handler{read: func(ch *blocking.Channel, p []byte) {
			given += len(p)
			refused = ch.WriteAndFlush(p).Err() != nil || refused
		}})
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					_ = theirs.(*net.TCPConn).CloseWrite()
					return
				default:
				}
				if _, err := theirs.Write([]byte("request")); err != nil {
					return
				}
			}
		})
		var got int
		first := make(chan struct{})
		wg.Go(func() {
			buf := make([]byte, 1<<16)
			for {
				n, err := theirs.Read(buf)
				if got == 0 && n > 0 {
					close(first)
				}
				got += n
				if err != nil {
					return
				}
			}
		})
		coretest.Await(t, "the first answer", first)
		coretest.MustShutdownGracefully(t, g, 0, long)
		close(stop)
		report := coretest.AwaitDone(t, g)
		wg.Wait()
		if refused || got != given || report.ChannelsDrained != 1 {
			t.Fatalf("G23: %d bytes were given to the handler, %d came back, refused %v, report %+v", given, got, refused, report)
		}
	}
}

// G22: the same at the exact moments: after the shutdown call, writes on the loop are
// accepted and others are refused; once the drain has begun, all are refused.
func TestG22WhoWritesUntilWhen(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	onLoop(t, ch, func() {
		_, _ = g.ShutdownGracefully(0, long)
		elsewhere := make(chan error)
		go func() { elsewhere <- ch.Write([]byte("other")).Err() }()
		if err := <-elsewhere; !errors.Is(err, blocking.ErrChannelClosing) {
			t.Errorf("G22: a write from elsewhere after the shutdown call: got %v, want ErrChannelClosing", err)
		}
		if err := ch.Write([]byte("answer")).Err(); err != nil {
			t.Errorf("G22: a write of the body that called for the shutdown: got %v, want nil", err)
		}
	})
	onLoop(t, ch, func() {
		if err := ch.Write([]byte("late")).Err(); !errors.Is(err, blocking.ErrChannelClosing) {
			t.Errorf("G22: a write on the loop during the drain: got %v, want ErrChannelClosing", err)
		}
	})
	r := receive(theirs, 0)
	if report := coretest.AwaitDone(t, g); report.ChannelsDrained != 1 {
		t.Errorf("G23: report %+v, want 1 drained", report)
	}
	coretest.Await(t, "the peer", r.over)
	if string(r.got) != "answer" {
		t.Errorf("G23: the peer got %q, want what was accepted", r.got)
	}
}

// G23: a channel whose peer has ended its side is not drained while the connection has not
// taken all bytes, because the peer does not read or because no call has flushed them.
func TestG23EndSeenButNotFlushed(t *testing.T) {
	for name, end := range map[string]func(*blocking.Group, *blocking.Channel){
		"dead reader": func(g *blocking.Group, ch *blocking.Channel) {
			ch.Write(make([]byte, 16<<20))
			coretest.MustShutdownGracefully(t, g, 0, short)
		},
		"closed in the shutdown": func(g *blocking.Group, ch *blocking.Channel) {
			onLoop(t, ch, func() {
				ch.Write(make([]byte, 100))
				_, _ = g.ShutdownGracefully(0, long)
				ch.Close()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := tcpPair(t)
			ended := make(chan struct{})
			ch := mustRegister(t, g, ours, &handler{inputShutdown: func(*blocking.Channel) { close(ended) }}, blocking.WithHalfClosure(true))
			_ = theirs.(*net.TCPConn).CloseWrite()
			coretest.Await(t, "the end of the input", ended)
			end(g, ch)
			if report := coretest.AwaitDone(t, g); report.ChannelsAborted != 1 || report.ChannelsDrained != 0 || report.BytesDiscarded == 0 {
				t.Errorf("G23: report %+v, want 1 aborted with bytes discarded", report)
			}
		})
	}
}

// WithDrain(CloseChannels) aborts at the shutdown call.
func TestG23CloseChannelsPolicy(t *testing.T) {
	g := newGroup(t, 0, core.WithDrain(core.CloseChannels))
	ours, _ := tcpPair(t)
	ch := mustRegister(t, g, ours, echo())
	ch.Write([]byte("dropped"))
	coretest.MustShutdownGracefully(t, g, 0, long)
	if report := coretest.AwaitDone(t, g); report.ChannelsAborted != 1 || report.BytesDiscarded != 7 || report.TimedOut {
		t.Errorf("G23: report %+v, want 1 aborted, 7 discarded", report)
	}
	if !errors.Is(ch.CloseCause(), core.ErrShutdown) {
		t.Errorf("CloseCause: got %v, want ErrShutdown", ch.CloseCause())
	}
}

// G16: Shutdown shortens a graceful shutdown that waits for a peer.
func TestG16ShutdownShortens(t *testing.T) {
	g := newGroup(t, 0)
	for _, tr := range transports {
		ours, _ := tr.pair(t)
		ch := mustRegister(t, g, ours, echo())
		ch.WriteAndFlush(make([]byte, 16<<20))
	}
	coretest.MustShutdownGracefully(t, g, time.Hour, time.Hour)
	if s := g.State(); s != core.StateShuttingDown {
		t.Errorf("G21: state %v after ShutdownGracefully, want ShuttingDown", s)
	}
	g.Shutdown()
	if s := g.State(); s < core.StateShutdown {
		t.Errorf("G5: state %v after Shutdown, want Shutdown or later", s)
	}
	if report := coretest.AwaitDone(t, g); report.ChannelsAborted != int64(len(transports)) {
		t.Errorf("G16: report %+v, want %d aborted", report, len(transports))
	}
}
