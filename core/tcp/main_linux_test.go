package tcp_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if runAsChild() {
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close() // the runtime's own poller keeps its descriptors from now on
	}
	goleak.VerifyTestMain(m)
}

func awaitWrite(t testing.TB, f tcp.WriteFuture) error {
	t.Helper()
	coretest.Await(t, "a write", f.Done())
	return f.Err()
}

// recorder is a handler that records its calls, and then runs a function of the test.
type recorder struct {
	coretest.Journal
	ch   *tcp.Channel
	then func(event string, ch *tcp.Channel, p []byte)
}

func (r *recorder) record(event string, ch *tcp.Channel, p []byte) {
	if event == "Active" {
		r.ch = ch
	}
	if !quiet.Load() {
		r.Add(event)
	}
	if r.then != nil {
		r.then(event, ch, p)
	}
}

func (r *recorder) Active(ch *tcp.Channel)             { r.record("Active", ch, nil) }
func (r *recorder) Read(ch *tcp.Channel, p []byte)     { r.record("Read", ch, p) }
func (r *recorder) ReadComplete(ch *tcp.Channel)       { r.record("ReadComplete", ch, nil) }
func (r *recorder) WritabilityChanged(ch *tcp.Channel) { r.record("WritabilityChanged", ch, nil) }
func (r *recorder) InputShutdown(ch *tcp.Channel)      { r.record("InputShutdown", ch, nil) }
func (r *recorder) Inactive(ch *tcp.Channel)           { r.record("Inactive", ch, nil) }
func (r *recorder) Unregistered(ch *tcp.Channel)       { r.record("Unregistered", ch, nil) }
func (r *recorder) Error(ch *tcp.Channel, err error)   { r.record("Error", ch, nil) }

// pair is a channel of ours and its peer, a plain connection.
type pair struct {
	*recorder
	group *core.Group
	peer  *net.TCPConn
}

// newPair returns a pair whose channel is active.
func newPair(t testing.TB, then func(event string, ch *tcp.Channel, p []byte), opts ...tcp.Option) *pair {
	t.Helper()
	return newPairOn(t, coretest.NewGroup(t, 1), then, opts...)
}

func newPairOn(t testing.TB, g *core.Group, then func(event string, ch *tcp.Channel, p []byte), opts ...tcp.Option) *pair {
	t.Helper()
	l, err := listenForPeers()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &recorder{then: then}
	f := tcp.DialAsync(context.Background(), g, l.Addr().String(), r, opts...)
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	if err := coretest.AwaitErr(t, "the connection", f); err != nil {
		t.Fatal(err)
	}
	return &pair{recorder: r, group: g, peer: peer.(*net.TCPConn)}
}

// on makes the handler call f at each event.
func (p *pair) on(t testing.TB, event string, f func()) {
	t.Helper()
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		p.then = func(at string, _ *tcp.Channel, _ []byte) {
			if at == event {
				f()
			}
		}
	})
}

// readAll reads until the end and counts.
func readAll(c net.Conn) (int64, error) { return io.Copy(io.Discard, c) }

// checkOnPair checks generated inputs one after the other, all on one pair. Reads of the peer end with an error if nothing comes
// for too long.
func checkOnPair(t *testing.T, check func(r *rapid.T, p *pair)) {
	t.Helper()
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	p := newPair(t, nil)
	rapid.Check(t, func(r *rapid.T) {
		coretest.Must(t, p.peer.SetReadDeadline(time.Now().Add(coretest.HangGuard)))
		check(r, p)
	})
}
