package blocking_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The runtime opens the descriptors of its network poller with the first timer or
	// connection: not in the middle of a test that counts descriptors.
	time.AfterFunc(time.Hour, func() {}).Stop()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// hangGuard turns a hang into a failure that says what was waited for. It is no
// measure of speed.
const hangGuard = time.Minute

// newGroup returns a group that has terminated when the test ends, and checks then
// that neither goroutines nor descriptors are left (G24).
func newGroup(t testing.TB, maxChannels int, opts ...core.Option) *blocking.Group {
	t.Helper()
	checkNoLeak(t)
	g, err := blocking.NewGroup(maxChannels, opts...)
	if err != nil {
		t.Fatalf("NewGroup: %v", err)
	}
	t.Cleanup(func() {
		g.Shutdown()
		awaitDone(t, g)
	})
	return g
}

// checkNoLeak compares at the end of the test, after all later cleanups.
func checkNoLeak(t testing.TB) {
	goroutines := goleak.IgnoreCurrent()
	before := openFDs()
	t.Cleanup(func() {
		if err := goleak.Find(goroutines); err != nil {
			t.Errorf("G24: %v", err)
		}
		if after := openFDs(); after > before {
			t.Errorf("G24: %d descriptors open after the test, want %d as before", after, before)
		}
	})
}

// openFDs is 0 where it cannot be known.
func openFDs() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

func awaitDone(t testing.TB, g *blocking.Group) core.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	report, err := g.Termination().Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("G15: the group never terminated: %+v", g.Stats())
	}
	return report
}

func await(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	guard := time.NewTimer(hangGuard)
	defer guard.Stop()
	select {
	case <-done:
	case <-guard.C:
		buf := make([]byte, 1<<16)
		t.Fatalf("waited for %s in vain\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// until waits for a condition that nothing announces.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(hangGuard); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

func mustRegister(t testing.TB, g *blocking.Group, conn net.Conn, h blocking.Handler, opts ...blocking.Option) *blocking.Channel {
	t.Helper()
	ch, err := g.Register(conn, h, opts...)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	return ch
}

func mustShutdownGracefully(t testing.TB, g *blocking.Group, quiet, timeout time.Duration) *core.Termination {
	t.Helper()
	term, err := g.ShutdownGracefully(quiet, timeout)
	if err != nil {
		t.Fatalf("ShutdownGracefully(%v, %v): %v", quiet, timeout, err)
	}
	return term
}

// onLoop runs f on the channel's executor and waits for its end.
func onLoop(t testing.TB, ch *blocking.Channel, f func()) {
	t.Helper()
	done := make(chan struct{})
	if err := ch.EventLoop().Execute(func() { defer close(done); f() }); err != nil {
		t.Fatalf("Execute: %v", err)
	}
	await(t, "a task", done)
}

// handler is a Handler made of functions; nil ones do nothing.
type handler struct {
	active, readComplete, inputShutdown, inactive, unregistered func(*blocking.Channel)
	read                                                        func(*blocking.Channel, []byte)
	failed                                                      func(*blocking.Channel, error)
}

func call(f func(*blocking.Channel), ch *blocking.Channel) {
	if f != nil {
		f(ch)
	}
}

func (h *handler) Active(ch *blocking.Channel)        { call(h.active, ch) }
func (h *handler) ReadComplete(ch *blocking.Channel)  { call(h.readComplete, ch) }
func (h *handler) InputShutdown(ch *blocking.Channel) { call(h.inputShutdown, ch) }
func (h *handler) Inactive(ch *blocking.Channel)      { call(h.inactive, ch) }
func (h *handler) Unregistered(ch *blocking.Channel)  { call(h.unregistered, ch) }
func (h *handler) Read(ch *blocking.Channel, p []byte) {
	if h.read != nil {
		h.read(ch, p)
	}
}
func (h *handler) Error(ch *blocking.Channel, err error) {
	if h.failed != nil {
		h.failed(ch, err)
	}
}

// echo answers with what it gets.
func echo() *handler {
	return &handler{read: func(ch *blocking.Channel, p []byte) { ch.WriteAndFlush(p) }}
}

// journal is what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, " ")
}

// transports are the kinds of connection that a test is made for.
var transports = []struct {
	name string
	pair func(testing.TB) (ours, theirs net.Conn)
}{
	{"tcp", tcpPair},
	{"unix", unixPair},
	{"pipe", func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() }},
	{"tls", tlsPair},
}

// tcpPair returns two ends whose kernels hold much less than 16 MiB in each direction.
func tcpPair(t testing.TB) (ours, theirs net.Conn) {
	t.Helper()
	ours, theirs = pair(t, "tcp", "127.0.0.1:0")
	for _, c := range []net.Conn{ours, theirs} {
		conn := c.(*net.TCPConn)
		if err := errors.Join(conn.SetReadBuffer(pinnedBuffer), conn.SetWriteBuffer(pinnedBuffer)); err != nil {
			t.Fatal(err)
		}
	}
	return ours, theirs
}

func unixPair(t testing.TB) (ours, theirs net.Conn) {
	if runtime.GOOS == "windows" {
		t.Skip("no unix sockets")
	}
	return pair(t, "unix", unixAddr(t))
}

var unixAddrs atomic.Int64

// unixAddr is an address to listen on. On Linux it is abstract and of this process alone: a
// path in the test's directory may be longer than the 107 bytes that an address holds, and
// "@" is one name, which package net does not have the kernel replace by a free one.
func unixAddr(t testing.TB) string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("@eventide-blocking-%d-%d", os.Getpid(), unixAddrs.Add(1))
	}
	return filepath.Join(t.TempDir(), "s")
}

// pinnedBuffer is the size of the socket buffers of a tcpPair: what the kernels hold must
// not depend on the machine. It is more than the largest segment of the loopback device.
const pinnedBuffer = 128 << 10

func pair(t testing.TB, network, addr string) (ours, theirs net.Conn) {
	t.Helper()
	ln, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if theirs, err = net.Dial(network, ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if ours, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, theirs)
	return ours, theirs
}

func closeAtEnd(t testing.TB, conn net.Conn) {
	t.Cleanup(func() { _ = conn.Close() })
}

// tlsPair returns a server's connection whose handshake is not made, and a client
// that makes its own with the first Read or Write.
func tlsPair(t testing.TB) (ours, theirs net.Conn) {
	t.Helper()
	server, client := tcpPair(t)
	cert, pool := selfSigned(t)
	theirs = tls.Client(client, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	closeAtEnd(t, theirs)
	return tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}), theirs
}

func selfSigned(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}
