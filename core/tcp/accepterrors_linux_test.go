package tcp_test

import (
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestAcceptErrorsThatStay: an error of accept that is not certainly one connection's
// may last, and the connection waits in the backlog meanwhile: the listener pauses after
// each attempt instead of spinning, and accepts again when the error has gone. Errors
// of single connections cause a pause only if every accept of a readiness event fails.
func TestAcceptErrorsThatStay(t *testing.T) {
	const oneConnections = 64 // attempts of one readiness that fail one by one
	for _, c := range []struct {
		errno    syscall.Errno
		attempts int64 // per pause
	}{
		{syscall.EPERM, 1}, {syscall.EACCES, 1}, {syscall.EMFILE, 1}, {syscall.ENFILE, 1}, {syscall.ENOBUFS, 1},
		{syscall.ENOMEM, 1}, {syscall.EIO, 1}, {syscall.Errno(512), 1}, // ERESTARTSYS, which has leaked before
		{syscall.ECONNABORTED, oneConnections}, {syscall.ENETDOWN, oneConnections}, {syscall.EPROTO, oneConnections},
	} {
		t.Run(c.errno.Error(), func(t *testing.T) {
			coretest.CheckLeaks(t)
			const pauses = 3
			var attempts atomic.Int64
			g := coretest.NewGroup(t, 1)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" && attempts.Add(1) <= pauses*c.attempts {
					return n, c.errno
				}
				return n, 0
			}))
			if err != nil {
				t.Fatal(err)
			}
			mustEcho(t, mustDial(t, l.Addr()))
			if s := l.Stats(); s.Paused != pauses || s.Accepted != 1 || s.Refused != 0 {
				t.Errorf("after %d failures with %v: %+v, want %d pauses and one connection", pauses*c.attempts, c.errno, s, pauses)
			}
		})
	}
}

// TestAcceptErrorsOfOneConnection: an error that a connection had before it was accepted
// causes no pause.
func TestAcceptErrorsOfOneConnection(t *testing.T) {
	for _, errno := range []syscall.Errno{
		syscall.ECONNABORTED, syscall.ETIMEDOUT, syscall.EPROTO, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
		syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENONET, syscall.EINTR,
	} {
		t.Run(errno.Error(), func(t *testing.T) {
			coretest.CheckLeaks(t)
			var attempts atomic.Int64
			conns, l, release := heldListener(t, 3, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" && attempts.Add(1)%2 == 1 {
					return n, errno
				}
				return n, 0
			}))
			release()
			for _, c := range conns {
				mustEcho(t, c)
			}
			if s := l.Stats(); s.Paused != 0 || s.Accepted != 3 {
				t.Errorf("got %+v, want 3 connections and no pause", s)
			}
		})
	}
}

// TestAcceptErrorsOfTheListener end it.
func TestAcceptErrorsOfTheListener(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK} {
		t.Run(errno.Error(), func(t *testing.T) {
			coretest.CheckLeaks(t)
			g := coretest.NewGroup(t, 1)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", newEcho, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "accept" {
					return n, errno
				}
				return n, 0
			}))
			if err != nil {
				t.Fatal(err)
			}
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil { // it may be reset at once
				defer c.Close()
			}
			coretest.AwaitErr(t, "the close", l.CloseFuture())
			coretest.WantErr(t, "the cause", l.CloseCause(), errno)
		})
	}
}
