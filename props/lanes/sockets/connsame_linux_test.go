package sockets

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/props/lanes/sockets/kernel"

	"pgregory.net/rapid"
)

// netConn is what a *net.TCPConn and a *kernel.Conn have in common.
type netConn interface {
	net.Conn
	CloseWrite() error
	SetLinger(int) error
	syscall.Conn
}

// connPair returns both ends of a connection of a listener.
func connPair(t *rapid.T, l net.Listener, dial func(net.Addr) (net.Conn, error)) (ends [2]netConn) {
	c, err := dial(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if c.LocalAddr().String() != s.RemoteAddr().String() || s.LocalAddr().String() != l.Addr().String() {
		t.Fatalf("addresses %v and %v, want the same", c.LocalAddr(), s.RemoteAddr())
	}
	return [2]netConn{client: c.(netConn), server: s.(netConn)}
}

// connSteps are the steps of a script of net.Conns.
var connSteps = []string{"write", "write", "fill", "read", "read", "read all", "end", "close", "reset", "late read", "late write", "in time", "control"}

// zeros are more bytes than the buffers of a connection hold.
var zeros = make([]byte, fillLimit)

// connAgree makes the same step on both. Reads are repeated where the deadline has come before
// what the other one has read: segments of loopback may be late, and so may this goroutine.
func connAgree(model, linux netConn, what string) (want, got string) {
	want, got = connStep(model, what), connStep(linux, what)
	for tries := 0; want != got && strings.HasPrefix(what, "read") && tries < 100; tries++ {
		switch {
		case strings.Contains(got, "deadline"):
			got = connStep(linux, what)
		case strings.Contains(want, "deadline"):
			want = connStep(model, what)
		}
	}
	return want, got
}

// connStep makes a step at one end, and returns what it showed: how many bytes, as far as that does
// not depend on the sizes of buffers, and the kind of the error.
func connStep(c netConn, what string) string {
	n, err := 0, error(nil)
	soon := time.Now().Add(20 * time.Millisecond)
	switch what {
	case "write":
		n, err = c.Write(make([]byte, 700))
	case "fill":
		_ = c.SetWriteDeadline(soon)
		_, err = c.Write(zeros)
		_ = c.SetWriteDeadline(time.Time{})
	case "read":
		_ = c.SetReadDeadline(soon)
		n, err = c.Read(make([]byte, 300))
		_ = c.SetReadDeadline(time.Time{})
	case "read all":
		_ = c.SetReadDeadline(soon)
		_, err = io.Copy(io.Discard, struct{ io.Reader }{c})
		_ = c.SetReadDeadline(time.Time{})
	case "end":
		err = c.CloseWrite()
	case "close":
		err = c.Close()
	case "reset":
		err = errors.Join(c.SetLinger(0), c.Close())
	case "late read":
		err = c.SetReadDeadline(longAgo)
	case "late write":
		err = c.SetWriteDeadline(longAgo)
	case "in time":
		err = c.SetDeadline(time.Time{})
	case "control":
		var raw syscall.RawConn
		if raw, err = c.SyscallConn(); err == nil {
			err = raw.Control(func(uintptr) {})
		}
	}
	return fmt.Sprintf("%d %s", n, errorKind(err))
}

// errorKind names the error, without addresses and the texts of package net.
func errorKind(err error) string {
	var errno syscall.Errno
	var op *net.OpError
	var timeout net.Error
	name := "other"
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, os.ErrDeadlineExceeded):
		name = "deadline"
	case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrClosed), strings.Contains(err.Error(), "use of closed"):
		return "closed" // of Control, packages net and os have errors of other types
	case err == io.EOF:
		name = "end"
	case errors.As(err, &errno):
		name = errno.Error()
	}
	late := errors.As(err, &timeout) && timeout.Timeout()
	if errors.As(err, &op) {
		name += " of " + op.Op
	}
	return fmt.Sprintf("%s (timeout: %v)", name, late)
}

// TestConnSameAsNet: scripts of the two ends of a connection have the same results on the model of a
// net.Conn and on package net over loopback.
func TestConnSameAsNet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := kernel.New(kernel.Config{})
		modelled, err := k.NewListener(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), 4)
		if err != nil {
			t.Fatal(err)
		}
		real, err := net.Listen("tcp4", anyPort)
		if err != nil {
			t.Fatal(err)
		}
		model := connPair(t, modelled, func(at net.Addr) (net.Conn, error) { return k.Dial(netip.MustParseAddrPort(at.String())) })
		linux := connPair(t, real, func(at net.Addr) (net.Conn, error) { return net.Dial("tcp4", at.String()) })
		defer func() {
			for _, ends := range [][2]netConn{model, linux} {
				_, _ = ends[client].Close(), ends[server].Close()
			}
			for _, l := range []net.Listener{modelled, real} {
				if first, second := l.Close(), l.Close(); first != nil || !errors.Is(second, net.ErrClosed) {
					t.Errorf("the listener closes with %v and %v, want nil and net.ErrClosed", first, second)
				}
			}
			if open, misuse := k.Open(), k.Misuse(); len(open)+len(misuse) > 0 {
				t.Errorf("open descriptors %v, misuse %v, want none", open, misuse)
			}
		}()
		var done []string
		full := [2]bool{}
		for _, p := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, len(connSteps)-1).Draw(t, "step"), rapid.IntRange(client, server).Draw(t, "end")}
		}), 1, 16).Draw(t, "script") {
			what, end := connSteps[p[0]], p[1]
			if full[end] && what == "write" || full[1-end] && what == "read all" {
				continue // whether there is room, and when all has come, depends on the sizes of the buffers
			}
			want, got := connAgree(model[end], linux[end], what)
			done = append(done, fmt.Sprintf("%s at %d: %s", what, end, got))
			if want != got {
				t.Fatalf("the model has %s\n%s", want, strings.Join(done, "\n"))
			}
			full[end] = full[end] || what == "fill"
		}
	})
}
