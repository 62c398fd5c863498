package blocking

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// noHalfClose is a connection whose CloseWrite fails. fd is the socket that answers for its kernel. From the
// failure on, that kernel may report an error. Loop only, except for the methods of Conn.
type noHalfClose struct {
	net.Conn
	fd        int
	ended     bool  // Read returns the end of the stream
	refusal   error // of CloseWrite
	pending   error // of the kernel, after CloseWrite; nil: none
	failed    bool
	questions int // to the kernel
}

func (c *noHalfClose) Read(p []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

func (c *noHalfClose) Write(p []byte) (int, error)           { return len(p), nil }
func (c *noHalfClose) SyscallConn() (syscall.RawConn, error) { return rawNoHalfClose{c}, nil }
func (c *noHalfClose) CloseWrite() error                     { c.failed = true; return c.refusal }

type rawNoHalfClose struct{ *noHalfClose }

func (r rawNoHalfClose) Read(func(uintptr) bool) error  { return errors.ErrUnsupported }
func (r rawNoHalfClose) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
func (r rawNoHalfClose) Control(f func(uintptr)) error {
	r.questions++
	if r.failed && r.pending != nil {
		return r.pending
	}
	f(uintptr(r.fd))
	return nil
}

// socketWith returns a socket whose peer has read everything, or not.
func socketWith(t *testing.T, received bool) (fd int, release func()) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	coretest.Must(t, err)
	if !received {
		_, err = unix.Write(fds[0], []byte("unread"))
		coretest.Must(t, err)
	}
	return fds[0], func() { _, _ = unix.Close(fds[0]), unix.Close(fds[1]) }
}

var errHalfClose, errReset = errors.New("planted"), os.NewSyscallError("getsockopt", syscall.ECONNRESET)

// resets are the errors of a half-close that say that the peer has reset the connection.
var resets = []error{
	&net.OpError{Op: "close", Net: "tcp", Err: os.NewSyscallError("shutdown", syscall.ENOTCONN)},
	&net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)},
	&net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ECONNRESET)},
}

// TestPropErrorsOfHalfCloses: a half-close that fails ends the channel at once. If it fails because of a reset, and the peer had ended
// its side and received everything before, the drain is complete. Otherwise the handler gets an error, which is also the cause: the
// error that the kernel reports since, if there is one, and that of the half-close if not (G22, G23).
func TestPropErrorsOfHalfCloses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		received := rapid.Bool().Draw(rt, "received")
		fd, release := socketWith(t, received)
		defer release()
		conn := &noHalfClose{
			fd: fd, ended: rapid.Bool().Draw(rt, "the peer has ended its side"),
			refusal: rapid.SampledFrom(append([]error{errHalfClose, io.ErrUnexpectedEOF, syscall.ETIMEDOUT}, resets...)).Draw(rt, "refusal"),
			pending: rapid.SampledFrom([]error{nil, errReset}).Draw(rt, "pending"),
		}
		want := conn.refusal
		if conn.pending != nil {
			want = conn.pending
		}
		if conn.ended && received && slices.Contains(resets, conn.refusal) {
			want = nil
		}
		byShutdown, wrong := rapid.Bool().Draw(rt, "by a shutdown"), ""
		synctest.Test(t, func(t *testing.T) { wrong = conn.drain(t, byShutdown, want) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// drain drains a channel of the connection. It returns the difference from the wanted cause, or "".
func (c *noHalfClose) drain(t *testing.T, byShutdown bool, want error) string {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	c.Conn = ours
	g, err := NewGroup(0)
	coretest.Must(t, err)
	defer func() { <-g.Shutdown().Done() }()
	h := &endHandler{ended: make(chan struct{})}
	ch, err := g.Register(c, h, WithHalfClosure(true))
	coretest.Must(t, err)
	if c.ended {
		coretest.Await(t, "the end of the input", h.ended)
	}
	coretest.Await(t, "the answer", ch.WriteAndFlush([]byte("answer")).Done())
	if byShutdown {
		coretest.MustShutdownGracefully(t, g, 0, 1<<62)
	} else if err := coretest.AwaitErr(t, "CloseGracefully (G23)", ch.CloseGracefully(core.Deadline{})); err != want {
		return fmt.Sprintf("G23: CloseGracefully: %v, want %v", err, want)
	}
	coretest.Await(t, "the end of the channel (G23)", ch.CloseFuture().Done())
	g.Shutdown()
	coretest.AwaitDone(t, g)
	if ch.CloseCause() != want || (want == nil) != (len(h.errs) == 0) || want != nil && !slices.Equal(h.errs, []error{want}) {
		return fmt.Sprintf("G22: the cause is %v, and the handler got %v, want %v for both", ch.CloseCause(), h.errs, want)
	}
	return ""
}

// TestG22CloseAsksForNoReceiptBeforeTheEnd: a Close without the peer's end does not ask the kernel what the peer has received. The answer
// has no use, and the question takes the pending error of the socket, which the close alert of TLS returns otherwise (R213).
func TestG22CloseAsksForNoReceiptBeforeTheEnd(t *testing.T) {
	fd, release := socketWith(t, true)
	defer release()
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	conn := &noHalfClose{Conn: ours, fd: fd}
	g, err := NewGroup(0)
	coretest.Must(t, err)
	defer func() { <-g.Shutdown().Done() }()
	ch, err := g.Register(conn, HandlerBase{})
	coretest.Must(t, err)
	coretest.Await(t, "the write", ch.WriteAndFlush([]byte("x")).Done())
	coretest.WantErr(t, "Close", coretest.AwaitErr(t, "Close", ch.Close()), nil)
	g.Shutdown()
	coretest.AwaitDone(t, g)
	coretest.Want(t, "R213: questions to the kernel", conn.questions, 0)
}
