package tcp_test

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestCloseOutput: the written bytes are sent, then our side ends, and input is still delivered.
func TestCloseOutput(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithHalfClosure(true))
	const sent = 8 << 20
	p.ch.Write(make([]byte, sent))
	f := p.ch.CloseOutput()
	coretest.WantErr(t, "write after CloseOutput", p.ch.Write([]byte("x")).Err(), tcp.ErrOutputShutdown)
	if n, err := readAll(p.peer); n != sent || err != nil {
		t.Errorf("received %d of %d: %v", n, sent, err)
	}
	coretest.WantErr(t, "CloseOutput", coretest.AwaitErr(t, "CloseOutput", f), nil)
	_, _ = p.peer.Write([]byte("x"))
	p.Await(t, 1, "Read")
	_ = p.peer.CloseWrite()
	p.Await(t, 1, "Unregistered")
	p.Want(t, "events", "Active WritabilityChanged WritabilityChanged Read ReadComplete InputShutdown ReadComplete Inactive Unregistered")
	coretest.WantErr(t, "the cause", p.ch.CloseCause(), io.EOF)
	coretest.WantErr(t, "CloseOutput after the close", coretest.AwaitErr(t, "it", p.ch.CloseOutput()), nil)
}

// TestG22CloseOutputAfterTheFIN calls CloseOutput when a graceful close has shut the
// output down already: the future completes at once, and with nil however the channel ends.
func TestG22CloseOutputAfterTheFIN(t *testing.T) {
	for name, endBefore := range map[string]bool{"while it waits for the peer": false, "after Close": true} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil)
			p.ch.CloseGracefully(time.Time{})
			if n, err := readAll(p.peer); n != 0 || err != nil {
				t.Fatalf("the peer got %d bytes and %v, want the end of the stream", n, err)
			}
			coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // the body that sent the FIN has ended
			if endBefore {
				coretest.AwaitErr(t, "the close", p.ch.Close())
			}
			coretest.WantErr(t, "G22: CloseOutput", coretest.AwaitErr(t, "CloseOutput", p.ch.CloseOutput()), nil)
			if cause := p.ch.CloseCause(); cause != nil {
				t.Errorf("the channel closed for %v, want it to wait for the peer, or to be closed by Close", cause)
			}
		})
	}
}

// TestR220HalfClosure: InputShutdown is called once, and writes are still accepted.
func TestR220HalfClosure(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil, tcp.WithHalfClosure(true))
	_, _ = p.peer.Write([]byte("x"))
	_ = p.peer.CloseWrite()
	p.Await(t, 1, "InputShutdown")
	if err := awaitWrite(t, p.ch.WriteAndFlush([]byte("answer"))); err != nil {
		t.Errorf("R220: write after the end of the input: %v", err)
	}
	var b [6]byte
	if _, err := io.ReadFull(p.peer, b[:]); err != nil || string(b[:]) != "answer" {
		t.Errorf("R220: received %q, %v", b, err)
	}
	parks := p.group.Stats().Parks
	coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	coretest.OnLoop(t, p.ch.EventLoop(), func() {})
	if n := p.group.Stats().Parks - parks; n > 10 {
		t.Errorf("R220: the loop spins on a half-closed channel: %d parks", n)
	}
	coretest.AwaitErr(t, "the close", p.ch.Close())
	p.Await(t, 1, "Unregistered")
	want := "Active Read ReadComplete InputShutdown ReadComplete Inactive Unregistered"
	if got := p.String(); got != want && got != "Active Read InputShutdown ReadComplete Inactive Unregistered" {
		t.Errorf("R220: events:\n got %q\nwant %q", got, want)
	}
}

// TestR220EndOfInputBeforeTheAnswerIsSent: a client that ends its side after its request,
// as nc does, gets the whole answer.
func TestR220EndOfInputBeforeTheAnswerIsSent(t *testing.T) {
	for name, flushed := range map[string]bool{"flushed": true, "not flushed": false} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			var write tcp.WriteFuture
			var sent atomic.Int64 // set when the pair is there; no socket orders it for the race detector
			p := newPair(t, func(event string, ch *tcp.Channel, _ []byte) {
				if event != "Read" {
					return
				}
				if write = ch.Write(make([]byte, sent.Load())); flushed {
					ch.Flush()
				}
			})
			sent.Store(int64(p.kernelHolds(t)) + 1)
			_, _ = p.peer.Write([]byte("x"))
			_ = p.peer.CloseWrite()
			if n, err := readAll(p.peer); n != sent.Load() || err != nil {
				t.Errorf("R220: received %d of %d: %v", n, sent.Load(), err)
			}
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "R220: the write", awaitWrite(t, write), nil)
			coretest.WantErr(t, "R220: the cause", p.ch.CloseCause(), io.EOF)
		})
	}
}
