//go:build linux

package sockets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/lanes/sockets/kernel"
)

// The kinds of connections that core/blocking gets.
const (
	kindTCP   = ""      // all that a *net.TCPConn has
	kindPlain = "plain" // without a descriptor: no receipt of the peer is known
	kindPipe  = "pipe"  // without a descriptor and without CloseWrite
	kindTLS   = "tls"   // with a handshake, above a connection of kind TCP
	kindOdd   = "odd"   // as TCP, but one of its calls breaks the contract of net.Conn
)

type (
	plainConn struct {
		net.Conn
		output interface{ CloseWrite() error }
	}
	pipeConn struct{ net.Conn }
	// cannotConn has a CloseWrite that its type cannot do.
	cannotConn struct{ net.Conn }
	tlsConn    struct {
		net.Conn
		c *conn
	}
	oddConn struct {
		*kernel.Conn
		c     *conn
		calls atomic.Int32 // of the method that the oddity is about: Read or Write
	}
)

func (p plainConn) CloseWrite() error { return p.output.CloseWrite() }

func (cannotConn) CloseWrite() error {
	return fmt.Errorf("a type of the program: %w", errors.ErrUnsupported)
}

// wrap makes a connection of the kind of the program.
func (c *conn) wrap(k *kernel.Conn) net.Conn {
	if c.spec.Lingers {
		_ = k.SetLinger(5)
	}
	switch c.spec.Kind {
	case kindPlain:
		return plainConn{k, k}
	case kindPipe:
		if c.spec.Unsupported {
			return cannotConn{k}
		}
		return pipeConn{k}
	case kindTLS:
		return tlsConn{k, c}
	case kindOdd:
		return &oddConn{Conn: k, c: c}
	}
	return k
}

// errHandshake is how a handshake fails.
var errHandshake = errors.New("the handshake has failed")

// NetConn is tls.Conn's.
func (t tlsConn) NetConn() net.Conn { return t.Conn }

// alerts is what a connection of kind TLS knows of its close alert.
type alerts struct {
	shaken atomic.Bool // the handshake has succeeded
	sent   atomic.Bool // by CloseWrite
	closed atomic.Bool // Close has waited for room for the alert
}

// alertTimeout is how long Close waits for room for the close alert.
const alertTimeout = 5 * time.Second

// CloseWrite is tls.Conn's.
func (t tlsConn) CloseWrite() error {
	t.c.alerts.sent.Store(true)
	return t.Conn.(*kernel.Conn).CloseWrite()
}

// Close is tls.Conn's: after the handshake it writes the close alert, unless CloseWrite has written it or the
// connection below is closed. A peer that does not read holds it up. Here no byte of it is sent.
func (t tlsConn) Close() error {
	below := t.Conn.(*kernel.Conn)
	select {
	case <-below.Closed():
	default:
		if t.c.alerts.shaken.Load() && !t.c.alerts.sent.Load() {
			t.c.alerts.closed.Store(true)
			_ = below.SetWriteDeadline(time.Now().Add(alertTimeout))
			_ = below.AwaitRoom()
		}
	}
	return below.Close()
}

// HandshakeContext is tls.Conn's. It takes the time of the program, unless the context ends or the
// connection is closed before.
func (t tlsConn) HandshakeContext(ctx context.Context) error {
	t.c.handshaking.Store(true)
	defer t.c.handshaking.Store(false)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.Conn.(*kernel.Conn).Closed():
		return net.ErrClosed
	case <-time.After(milliseconds(t.c.spec.Handshake)):
	}
	if t.c.spec.HandshakeFails {
		return errHandshake
	}
	t.c.alerts.shaken.Store(true)
	return nil
}

// What an oddConn does.
const (
	shortWrite  = "short write"  // a Write takes fewer bytes than it was given, and returns no error
	longRead    = "long read"    // a Read returns a number larger than its buffer
	panicRead   = "panic read"   // a Read panics
	panicWrite  = "panic write"  // a Write panics, before it takes a byte
	ownTimeout  = "own timeout"  // each passed deadline is an error of its own type
	ownDeadline = "no deadlines" // a Read returns a timeout, also if no deadline has passed
	failedClose = "failed close" // Close closes the connection, and returns errOdd
	panicClose  = "panic close"  // Close closes the connection, and panics
	closedPipe  = "closed pipe"  // Close closes the connection, and returns io.ErrClosedPipe
	failedRead  = "failed read"  // a Read that a deadline ends returns errOdd, which is no timeout
	lateWaker   = "late waker"   // a deadline in the past takes time to come into force, and is an error of its own type
)

var oddities = []string{shortWrite, longRead, panicRead, panicWrite, ownTimeout, ownDeadline, failedClose, panicClose, closedPipe, failedRead, lateWaker}

// fatalOddities are those that end the channel.
var fatalOddities = []string{shortWrite, longRead, panicRead, panicWrite, failedRead}

// errOdd is the value of the panics.
var errOdd = errors.New("an odd connection")

// isOddPanic reports whether err is the panic of a connection.
func isOddPanic(err error) bool {
	panicked, is := errors.AsType[*core.PanicError](err)
	return is && panicked.Value == errOdd
}

// timeoutError is a timeout of a package other than net.
type timeoutError struct{}

func (timeoutError) Error() string   { return "own timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func (o *oddConn) is(what string) bool {
	return o.c.spec.Oddity == what && int(o.calls.Add(1)) == o.c.spec.OddCall
}

func (o *oddConn) Read(p []byte) (int, error) {
	switch {
	case o.is(longRead):
		o.c.odd.Store(true)
		return len(p) + 1, nil
	case o.is(panicRead):
		o.c.odd.Store(true)
		panic(errOdd)
	case o.is(ownDeadline):
		o.c.odd.Store(true)
		return 0, timeoutError{}
	}
	n, err := o.Conn.Read(p)
	var late net.Error
	if !errors.As(err, &late) || !late.Timeout() {
		return n, err
	}
	switch {
	case o.c.spec.Oddity == ownTimeout, o.c.spec.Oddity == lateWaker:
		err = timeoutError{}
	case o.is(failedRead):
		o.c.odd.Store(true)
		err = errOdd
	}
	return n, err
}

// lateness is how long a deadline in the past takes to come into force.
func (c *conn) lateness() time.Duration {
	if c.spec.Oddity != lateWaker {
		return 0
	}
	return []time.Duration{100 * time.Microsecond, milliseconds(1), milliseconds(5)}[c.spec.OddCall-1]
}

// SetReadDeadline is net.Conn's. Only wakers set a deadline that is before the begin of the run.
func (o *oddConn) SetReadDeadline(at time.Time) error {
	if late := o.c.lateness(); late > 0 && !at.IsZero() && at.Before(o.c.r.start) {
		o.c.waking.Add(1)
		defer o.c.waking.Add(-1)
		time.Sleep(late)
	}
	return o.Conn.SetReadDeadline(at)
}

func (o *oddConn) Write(p []byte) (int, error) {
	switch {
	case len(p) > 1 && o.is(shortWrite):
		o.c.odd.Store(true)
		return o.Conn.Write(p[:len(p)/2])
	case o.is(panicWrite):
		o.c.odd.Store(true)
		panic(errOdd)
	}
	return o.Conn.Write(p)
}

// Close fails in the same way for each call, as for the first.
func (o *oddConn) Close() error {
	err := o.Conn.Close()
	switch o.c.spec.Oddity {
	case failedClose:
		return errOdd
	case panicClose:
		panic(errOdd)
	case closedPipe:
		return io.ErrClosedPipe
	}
	return err
}
