package tcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tcp"

	"go.uber.org/goleak"
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

// hangGuard turns a hang into a failure. It is no measure of speed.
const hangGuard = time.Minute

// checkLeaks fails the test if it leaves a descriptor or a goroutine (G24). Call it
// first: what is cleaned up later is not counted.
func checkLeaks(t testing.TB) {
	t.Helper()
	before := descriptors(t)
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		goleak.VerifyNone(t)
		if after := descriptors(t); !slices.Equal(before, after) {
			t.Errorf("G24: descriptors before %v, after %v", before, after)
		}
	})
}

func descriptors(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(target, "/proc/") {
			names = append(names, e.Name()+" "+target)
		}
	}
	return names
}

// newGroup returns a group that has terminated when the test ends.
func newGroup(t testing.TB, n int, opts ...core.Option) *core.Group {
	t.Helper()
	g, err := core.NewGroup(n, append([]core.Option{core.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Shutdown()
		awaitGroup(t, g)
	})
	return g
}

func awaitGroup(t testing.TB, g *core.Group) core.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	report, err := g.Termination().Wait(ctx)
	if err != nil {
		t.Fatalf("G15: the group did not terminate: %v; %+v", err, g.Stats())
	}
	return report
}

// await waits for done to be closed.
func await(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	guard := time.NewTimer(hangGuard)
	defer guard.Stop()
	select {
	case <-done:
	case <-guard.C:
		t.Fatalf("waited for %s in vain", what)
	}
}

// awaitErr is the error of a future that has to complete.
func awaitErr[T any](t testing.TB, what string, f *core.Future[T]) error {
	t.Helper()
	await(t, what, f.Done())
	_, err := f.Wait(context.Background())
	return err
}

func awaitWrite(t testing.TB, f tcp.WriteFuture) error {
	t.Helper()
	await(t, "a write", f.Done())
	return f.Err()
}

// awaitThat waits for a condition that nothing announces: it looks, and looks again.
func awaitThat(t testing.TB, what string, is func() bool) {
	t.Helper()
	for guard := time.Now().Add(hangGuard); !is(); time.Sleep(10 * time.Microsecond) {
		if time.Now().After(guard) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// on runs f on ch's loop and returns when it has run.
func on(t testing.TB, loop core.EventExecutor, f func()) {
	t.Helper()
	done := make(chan struct{})
	if err := loop.Execute(func() { defer close(done); f() }); err != nil {
		t.Fatal(err)
	}
	await(t, "a task", done)
}

// log is what happened, in order.
type log struct {
	mu      sync.Mutex
	entries []string
	changed chan struct{} // closed and replaced with each entry
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, fmt.Sprintf(format, args...))
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

func (l *log) String() string { return strings.Join(l.all(), " ") }

// await waits until entry is there.
func (l *log) await(t testing.TB, entry string) {
	t.Helper()
	guard := time.NewTimer(hangGuard)
	defer guard.Stop()
	for {
		l.mu.Lock()
		found, changed := slices.Contains(l.entries, entry), l.changed
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-guard.C:
			t.Fatalf("waited for %q in vain; got %v", entry, l)
		}
	}
}

// recorder is a handler that writes down its calls, and then does what the test
// wants.
type recorder struct {
	*log
	ch   *tcp.Channel
	then func(event string, ch *tcp.Channel, p []byte)
}

func (r *recorder) record(event string, ch *tcp.Channel, p []byte) {
	if event == "Active" {
		r.ch = ch
	}
	if !quiet.Load() {
		r.add("%s", event)
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
	return newPairOn(t, newGroup(t, 1), then, opts...)
}

func newPairOn(t testing.TB, g *core.Group, then func(event string, ch *tcp.Channel, p []byte), opts ...tcp.Option) *pair {
	t.Helper()
	l, err := listenForPeers()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &recorder{log: newLog(), then: then}
	f := tcp.DialAsync(context.Background(), g, l.Addr().String(), r, opts...)
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	if err := awaitErr(t, "the connection", f); err != nil {
		t.Fatal(err)
	}
	return &pair{recorder: r, group: g, peer: peer.(*net.TCPConn)}
}

// on makes the handler call f at each event.
func (p *pair) on(t testing.TB, event string, f func()) {
	t.Helper()
	on(t, p.ch.EventLoop(), func() {
		p.then = func(at string, _ *tcp.Channel, _ []byte) {
			if at == event {
				f()
			}
		}
	})
}

// readAll reads until the end and counts.
func readAll(c net.Conn) (int64, error) { return io.Copy(io.Discard, c) }

func wantErr(t testing.TB, what string, got error, want ...error) {
	t.Helper()
	for _, w := range want {
		if w == nil && got != nil || !errors.Is(got, w) {
			t.Errorf("%s: got error %v, want %v", what, got, w)
		}
	}
}

func wantLog(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
