package blocking_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// If a peer does not complete the handshake, the channel is closed after the timeout. Of the
// handler only Error is called.
func TestTLSHandshakeFails(t *testing.T) {
	for name, peer := range map[string]func(net.Conn){
		"silent":  func(net.Conn) {},
		"no TLS":  func(conn net.Conn) { _, _ = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")) },
		"hung up": func(conn net.Conn) { _ = conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			server, client := tcpPair(t)
			cert, _ := selfSigned(t)
			heard := make(chan error, 8)
			unwanted := func(*blocking.Channel) { heard <- errors.New("another method than Error") }
			ch := mustRegister(t, g, tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}), &handler{
				active: unwanted, inactive: unwanted, unregistered: unwanted,
				failed: func(_ *blocking.Channel, err error) { heard <- err },
			}, blocking.WithHandshakeTimeout(short))
			peer(client)
			coretest.Await(t, "the close", ch.CloseFuture().Done())
			coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
			if len(heard) != 1 || !errors.Is(ch.CloseCause(), <-heard) {
				t.Errorf("the handler was called %d times, want once with the cause %v", len(heard), ch.CloseCause())
			}
		})
	}
}

// A shutdown does not wait longer than its deadline for a handshake.
func TestG11ShutdownDuringHandshake(t *testing.T) {
	for name, shutDown := range map[string]func(*blocking.Group){
		"Shutdown":           func(g *blocking.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *blocking.Group) { _, _ = g.ShutdownGracefully(0, short) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			server, _ := tcpPair(t)
			cert, _ := selfSigned(t)
			errs := make(chan error, 8)
			ch := mustRegister(t, g, tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}), &handler{
				failed: func(_ *blocking.Channel, err error) { errs <- err },
			}, blocking.WithHandshakeTimeout(long))
			w := ch.WriteAndFlush([]byte("waits for the handshake"))
			shutDown(g)
			report := coretest.AwaitDone(t, g)
			if report.ChannelsAborted != 1 || report.BytesDiscarded != 23 {
				t.Errorf("G23: report %+v, want 1 aborted, 23 discarded", report)
			}
			if err := w.Err(); !errors.Is(err, core.ErrShutdown) && !errors.Is(err, core.ErrShutdownTimeout) {
				t.Errorf("G22: the write failed with %v, want the cause of the shutdown", err)
			}
			if len(errs) != 0 {
				t.Errorf("Error was called for a shutdown: %v", <-errs)
			}
		})
	}
}

// A TLS connection sends its close alert when it is half-closed, and again when it is closed,
// and waits five seconds for a peer that does not read it. A pipe has no buffer, so
// the peer must read every single byte. The end does not wait for it.
func TestG11TLSCloseAlertIsNotRead(t *testing.T) {
	for name, shutDown := range map[string]func(*blocking.Group){
		"Shutdown":           func(g *blocking.Group) { g.Shutdown() },
		"ShutdownGracefully": func(g *blocking.Group) { _, _ = g.ShutdownGracefully(0, short) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 0)
			server, client := net.Pipe()
			closeAtEnd(t, client)
			cert, pool := selfSigned(t)
			started := make(chan struct{})
			config := &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true}
			mustRegister(t, g, tls.Server(server, config), &handler{active: func(*blocking.Channel) { close(started) }})
			peer := tls.Client(client, &tls.Config{RootCAs: pool, ServerName: "localhost"})
			if err := peer.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			coretest.Await(t, "Active", started)
			shutDown(g)
			report := coretest.AwaitDone(t, g)
			if report.ChannelsAborted != 1 || report.Elapsed > 4*time.Second {
				t.Errorf("G11: report %+v, want 1 aborted by the deadline of %v", report, short)
			}
		})
	}
}

// Tasks run while a TLS peer is silent, and bytes that are written and flushed during the
// handshake are sent after it.
func TestTLSWriteDuringHandshake(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tlsPair(t)
	ch := mustRegister(t, g, ours, echo())
	w := ch.WriteAndFlush([]byte("early"))
	got := make([]byte, 5)
	if _, err := io.ReadFull(theirs, got); string(got) != "early" || err != nil {
		t.Errorf("the peer got %q, %v", got, err)
	}
	if n, err := w.Wait(t.Context()); n != 5 || err != nil {
		t.Errorf("the write: got %d, %v", n, err)
	}
	for range 100 { // each wakes the read, which goes on afterwards
		onLoop(t, ch, func() {})
	}
	if _, err := theirs.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(theirs, got); string(got) != "hello" || err != nil {
		t.Errorf("the echo after a hundred interrupted reads: %q, %v", got, err)
	}
}

// A record that arrives in pieces, with a wake-up after each, is put together.
func TestTLSRecordInPieces(t *testing.T) {
	g := newGroup(t, 0)
	ours, middle := tcpPair(t)
	cert, pool := selfSigned(t)
	ch := mustRegister(t, g, tls.Server(ours, &tls.Config{Certificates: []tls.Certificate{cert}}), echo())
	slow := &dripping{Conn: middle}
	client := tls.Client(slow, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow.after = func() { onLoop(t, ch, func() {}) }
	if _, err := client.Write([]byte("in pieces")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9)
	_ = client.SetReadDeadline(time.Now().Add(coretest.HangGuard))
	if _, err := io.ReadFull(client, got); string(got) != "in pieces" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TLS 1.2 delivers the last input together with the end of the stream. A handler that
// calls CloseGracefully then gets a drain.
func TestG23TLSCloseGracefullyInTheLastRead(t *testing.T) {
	g := newGroup(t, 0)
	ours, middle := tcpPair(t)
	cert, pool := selfSigned(t)
	asked := make(chan *core.Future[struct{}], 1)
	mustRegister(t, g, tls.Server(ours, &tls.Config{Certificates: []tls.Certificate{cert}}), &handler{
		read: func(ch *blocking.Channel, p []byte) {
			ch.Write(p)
			asked <- ch.CloseGracefully(time.Time{})
		},
	})
	held := &holding{Conn: middle}
	client := tls.Client(held, &tls.Config{RootCAs: pool, ServerName: "localhost", MaxVersion: tls.VersionTLS12})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	held.on = true
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = middle.SetWriteDeadline(time.Time{})           // CloseWrite has set one
	if _, err := middle.Write(held.kept); err != nil { // both records in one
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); string(got) != "x" || err != nil {
		t.Errorf("G23: the peer got %q, %v, want the answer", got, err)
	}
	if _, err := (<-asked).Wait(t.Context()); err != nil {
		t.Errorf("CloseGracefully: got %v, want nil", err)
	}
}

// holding records the written bytes.
type holding struct {
	net.Conn
	on   bool
	kept []byte
}

func (h *holding) Write(p []byte) (int, error) {
	if !h.on {
		return h.Conn.Write(p)
	}
	h.kept = append(h.kept, p...)
	return len(p), nil
}

// dripping writes a byte at a time.
type dripping struct {
	net.Conn
	after func()
}

func (d *dripping) Write(p []byte) (int, error) {
	if d.after == nil {
		return d.Conn.Write(p)
	}
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
		d.after()
	}
	return len(p), nil
}

// A channel that ends with an error has no time for the close alert, which a peer that reads nothing would
// hold up for five seconds, and the loop with it.
func TestTLSACloseForAnErrorSendsNoAlert(t *testing.T) {
	g := newGroup(t, 0)
	server, client := net.Pipe()
	closeAtEnd(t, client)
	cert, pool := selfSigned(t)
	config := &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true}
	ch := mustRegister(t, g, tls.Server(server, config), &handler{active: func(*blocking.Channel) { panic("of the handler") }})
	peer := tls.Client(client, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err := peer.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the channel took %v to end, want less than the five seconds of an alert", took)
	}
}
