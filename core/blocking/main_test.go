package blocking_test

import (
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
	"os/signal"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The runtime opens the descriptors of its network poller with the first timer or
	// connection: not in the middle of a test that counts descriptors.
	time.AfterFunc(time.Hour, func() {}).Stop()
	// Nor does the first Notify of the process come in a bubble: the goroutine that it starts must belong to none.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// newGroup returns a group that has terminated when the test ends, and checks then
// that neither goroutines nor descriptors are left (G24).
func newGroup(t testing.TB, maxChannels int, opts ...core.Option) *blocking.Group {
	t.Helper()
	coretest.CheckLeaks(t)
	g, err := blocking.NewGroup(maxChannels, opts...)
	return coretest.EndWithTest(t, g, err)
}

func mustRegister(t testing.TB, g *blocking.Group, conn net.Conn, h blocking.Handler, opts ...blocking.Option) *blocking.Channel {
	t.Helper()
	ch, err := g.Register(conn, h, opts...)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	return ch
}

// onLoop runs f on the channel's executor and waits for its end.
func onLoop(t testing.TB, ch *blocking.Channel, f func()) {
	t.Helper()
	coretest.OnLoop(t, ch.EventLoop(), f)
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

// echo returns a handler that writes back its input.
func echo() *handler {
	return &handler{read: func(ch *blocking.Channel, p []byte) { ch.WriteAndFlush(p) }}
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

// pinnedBuffer is the size of the socket buffers of a tcpPair: the number of bytes in the
// kernels must not depend on the machine. It is more than the largest segment of the loopback
// device.
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
