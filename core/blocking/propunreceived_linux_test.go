package blocking

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// rawConn is a connection with a descriptor, or with a method SyscallConn that fails.
type rawConn struct {
	net.Conn
	fd     int
	err    error // of SyscallConn
	panics bool
	broken error // of Control
}

func (r *rawConn) SyscallConn() (syscall.RawConn, error) {
	if r.panics {
		panic("planted")
	}
	return control{r}, r.err
}

// control is the raw connection.
type control struct{ *rawConn }

func (r control) Control(f func(uintptr)) error {
	if r.broken == nil {
		f(uintptr(r.fd))
	}
	return r.broken
}

func (control) Read(func(uintptr) bool) error  { return errors.ErrUnsupported }
func (control) Write(func(uintptr) bool) error { return errors.ErrUnsupported }

// TestPropUnreceived: the kernel reports the bytes that the peer of a socket has not read, or the error of the connection,
// once. It reports nothing of a descriptor that is no socket, nor of a connection without one. An error of a closed
// connection and a panic are errors (G14, G23).
func TestPropUnreceived(t *testing.T) {
	planted := errors.New("planted")
	rapid.Check(t, func(rt *rapid.T) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		coretest.Must(t, err)
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		defer func() { _, _ = ours.Close(), theirs.Close() }()
		r := &rawConn{fd: fds[0]}
		sent := rapid.IntRange(0, 5000).Draw(rt, "sent")
		if sent > 0 {
			_, err = ours.Write(make([]byte, sent))
			coretest.Must(t, err)
		}
		unread, known, text := sent > 0, true, ""
		switch kind := rapid.SampledFrom([]string{"socket", "read", "peer has gone", "file", "no descriptor", "closed", "panics"}).Draw(rt, "kind"); kind {
		case "read":
			if sent > 0 {
				_, err = theirs.Read(make([]byte, sent))
				coretest.Must(t, err)
			}
			unread = false
		case "peer has gone":
			if _ = theirs.Close(); sent > 0 { // with unread bytes: a reset, which throws them away
				text = "blocking: the connection broke before its peer had received everything: getsockopt: connection reset by peer"
			}
			unread = false
		case "file":
			file, err := os.Open(os.DevNull)
			coretest.Must(t, err)
			defer func() { _ = file.Close() }()
			r.fd, unread, known = int(file.Fd()), false, false
		case "no descriptor":
			r.err, unread, known = planted, false, false
		case "closed":
			r.broken, unread, text = planted, false, "planted"
		case "panics":
			r.panics, unread, known, text = true, false, false, "core: panic: planted"
		}
		n, gotKnown, err := newConnection(r).unreceived()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if n > 0 != unread || gotKnown != known || got != text {
			rt.Fatalf("unreceived: %d, %v, %q; want unread bytes: %v, %v, %q", n, gotKnown, got, unread, known, text)
		}
		if strings.Contains(text, "reset") {
			if !errors.Is(err, syscall.ECONNRESET) {
				rt.Fatalf("%v is not ECONNRESET", err)
			}
			if n, known, err := newConnection(r).unreceived(); n != 0 || !known || err != nil {
				rt.Fatalf("unreceived after the reset: %d, %v, %v; want 0, known, nil", n, known, err)
			}
		}
		if r.panics != errors.As(err, new(*core.PanicError)) {
			rt.Fatalf("G14: the error of a panic is %v", err)
		}
	})
}
