package blocking_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// G23: the peer's end of the stream was read before the answer was sent, so it does not show
// that the peer has the answer. The channel counts as drained when the peer has received the
// answer, and not before; as aborted if the peer never does, or discards it.
func TestG23EndOfInputBeforeTheAnswer(t *testing.T) {
	const size = 64 << 10 // our kernel takes it at once, and the peer's does not
	peers := []struct {
		name    string
		timeout time.Duration
		behave  func(t *testing.T, peer, bottom net.Conn)
		drained int64
		why     error // of the end, if it is an error of the connection
	}{
		{"reads", long, func(t *testing.T, peer, _ net.Conn) {
			got, err := io.ReadAll(peer)
			if len(got) != size || err != nil {
				t.Errorf("G23: the peer got %d bytes, %v, want %d", len(got), err, size)
			}
		}, 1, nil},
		{"never reads", short, func(*testing.T, net.Conn, net.Conn) {}, 0, nil},
		{"hangs up", long, func(_ *testing.T, _, bottom net.Conn) {
			_ = bottom.Close() // with the answer unread: a reset
		}, 0, syscall.ECONNRESET},
	}
	for _, tr := range transports {
		if tr.name == "pipe" {
			continue // it is not the kernel's
		}
		for _, p := range peers {
			t.Run(tr.name+" "+p.name, func(t *testing.T) {
				g := newGroup(t, 0)
				ours, theirs, bottom := smallPair(t, tr.name)
				ended := make(chan struct{})
				ch := mustRegister(t, g, ours, &handler{
					inputShutdown: func(*blocking.Channel) { close(ended) },
				}, blocking.WithHalfClosure(true))
				if err := shake(theirs); err != nil {
					t.Fatal(err)
				}
				if err := theirs.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				coretest.Await(t, "the end of the input", ended)
				if n, err := ch.WriteAndFlush(make([]byte, size)).Wait(t.Context()); n != size || err != nil {
					t.Fatalf("our kernel took %d of %d bytes, %v: the test needs it to take all", n, size, err)
				}
				coretest.MustShutdownGracefully(t, g, 0, p.timeout)
				p.behave(t, theirs, bottom)
				report := coretest.AwaitDone(t, g)
				if report.ChannelsDrained != p.drained || report.ChannelsAborted != 1-p.drained || report.BytesDiscarded != 0 {
					t.Errorf("G23: report %+v, want %d drained, %d aborted, 0 discarded", report, p.drained, 1-p.drained)
				}
				if byDeadline := p.timeout == short; report.TimedOut != byDeadline {
					t.Errorf("G23: report %+v, want an end by the deadline: %v", report, byDeadline)
				}
				if cause := ch.CloseCause(); p.why != nil && !errors.Is(cause, p.why) && !errors.Is(cause, syscall.EPIPE) {
					t.Errorf("CloseCause: got %v, want %v or EPIPE", cause, p.why)
				}
			})
		}
	}
}

// The same for CloseGracefully with its own deadline: only the next check of the receipt
// notices that the deadline has passed.
func TestG23CloseGracefullyWaitsForReceipt(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs, _ := smallPair(t, "tcp")
	ended := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{
		inputShutdown: func(*blocking.Channel) { close(ended) },
	}, blocking.WithHalfClosure(true))
	_ = theirs.(*net.TCPConn).CloseWrite()
	coretest.Await(t, "the end of the input", ended)
	ch.Write(make([]byte, 64<<10))
	_, err := ch.CloseGracefully(time.Now().Add(short)).Wait(t.Context())
	if !errors.Is(err, blocking.ErrCloseDeadline) {
		t.Errorf("CloseGracefully to a peer that never reads: got %v, want ErrCloseDeadline", err)
	}
}

// G23: a TLS peer that has received everything, and has gone, answers our goodbye with
// a reset: all the same it has received everything.
func TestG23TLSPeerThatHasGoneIsDrained(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tlsPair(t)
	ended := make(chan struct{})
	mustRegister(t, g, ours, &handler{
		read:          func(ch *blocking.Channel, p []byte) { ch.WriteAndFlush(p) },
		inputShutdown: func(*blocking.Channel) { close(ended) },
	}, blocking.WithHalfClosure(true))
	if _, err := theirs.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(theirs, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	coretest.Await(t, "the end of the input", ended)
	coretest.MustShutdownGracefully(t, g, 0, long)
	if report := coretest.AwaitDone(t, g); report.ChannelsDrained != 1 || report.ChannelsAborted != 0 {
		t.Errorf("G23: report %+v, want 1 drained", report)
	}
}

// smallPair returns a connection whose peer's kernel buffers few bytes. bottom is the lowest
// connection below theirs.
func smallPair(t *testing.T, kind string) (ours, theirs, bottom net.Conn) {
	t.Helper()
	switch kind {
	case "tls":
		ours, theirs = tlsPair(t)
		bottom = theirs.(interface{ NetConn() net.Conn }).NetConn()
	case "unix":
		ours, theirs = unixPair(t)
		bottom = theirs
	default:
		ours, theirs = tcpPair(t)
		bottom = theirs
	}
	if err := bottom.(interface{ SetReadBuffer(int) error }).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	return ours, theirs, bottom
}

// shake performs the handshake of a connection that has one.
func shake(conn net.Conn) error {
	if c, ok := conn.(interface{ Handshake() error }); ok {
		return c.Handshake()
	}
	return nil
}
