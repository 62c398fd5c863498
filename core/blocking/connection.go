package blocking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"eventide/core"
)

// connection is a net.Conn and the lowest connection below it.
type connection struct {
	net.Conn
	bottom net.Conn // the lowest connection, below TLS and other types with a NetConn method
}

func newConnection(conn net.Conn) connection {
	t := connection{Conn: conn, bottom: conn}
	for {
		upper, ok := t.bottom.(interface{ NetConn() net.Conn })
		if !ok {
			return t
		}
		lower := upper.NetConn()
		if lower == nil {
			return t
		}
		t.bottom = lower
	}
}

// noLinger turns SO_LINGER off. With SO_LINGER close(2) may block in the kernel, where no
// deadline applies. CloseGracefully waits for the peer instead (G22).
func (t connection) noLinger() {
	if c, ok := t.bottom.(interface{ SetLinger(int) error }); ok {
		_ = c.SetLinger(-1)
	}
}

// read and write call the connection, and return its panics as errors: they are failures
// of the connection, not of the executor or the handler.
func (t connection) read(p []byte) (n int, err error) {
	defer panicToError(&err)
	n, err = t.Read(p)
	if n < 0 || n > len(p) {
		return 0, fmt.Errorf("blocking: Read of a %T returned %d for %d bytes", t.Conn, n, len(p))
	}
	return n, err
}

func (t connection) write(p []byte) (n int, err error) {
	defer panicToError(&err)
	n, err = t.Write(p)
	if n < 0 || n > len(p) {
		return 0, fmt.Errorf("blocking: Write of a %T returned %d for %d bytes", t.Conn, n, len(p))
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// panicToError is deferred around calls of a connection.
func panicToError(err *error) {
	if v := recover(); v != nil {
		*err = &core.PanicError{Value: v, Stack: debug.Stack()}
	}
}

// cut ends all calls that are blocked in the connection. Any goroutine may call it. It
// closes the connection below TLS: Close of a TLS connection writes an alert first, and
// waits up to five seconds for a peer that does not read. A write deadline in the past
// would not help, because TLS sets its own for the alert.
func (t connection) cut() { _ = closeConn(t.bottom) }

// shut closes the connection properly: TLS sends its close alert.
func (t connection) shut() error { return closeConn(t.Conn) }

// closeConn returns the panics of Close as errors, as read does.
func closeConn(conn net.Conn) (err error) {
	defer panicToError(&err)
	return conn.Close()
}

// handshake makes the handshake of a connection that has one. The first read must not make it:
// deadlines interrupt reads, and an interrupted handshake has failed for good.
func (t connection) handshake(ctx context.Context) (err error) {
	defer panicToError(&err)
	if c, ok := t.Conn.(interface{ HandshakeContext(context.Context) error }); ok {
		return c.HandshakeContext(ctx)
	}
	return nil
}

// halfClose ends the output. can is false if the connection cannot do that.
func (t connection) halfClose() (can bool, err error) {
	defer panicToError(&err)
	c, can := t.Conn.(interface{ CloseWrite() error })
	if !can {
		return false, nil
	}
	err = c.CloseWrite()
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	return true, err
}
