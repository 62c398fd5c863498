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

// connection is a net.Conn and what can be found out about it.
type connection struct {
	net.Conn
	bottom net.Conn // what a TLS connection, or another one with NetConn, is made of
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

// noLinger turns SO_LINGER off. With it close(2) blocks in the kernel, where no
// deadline reaches it; what it is for, CloseGracefully does better (G22).
func (t connection) noLinger() {
	if c, ok := t.bottom.(interface{ SetLinger(int) error }); ok {
		_ = c.SetLinger(-1)
	}
}

// read and write are those of the connection, whose panics are its errors: it is the
// connection that is broken then, and not the executor, nor the handler.
func (t connection) read(p []byte) (n int, err error) {
	defer contain(&err)
	n, err = t.Read(p)
	if n < 0 || n > len(p) {
		return 0, fmt.Errorf("blocking: Read of a %T returned %d for %d bytes", t.Conn, n, len(p))
	}
	return n, err
}

func (t connection) write(p []byte) (n int, err error) {
	defer contain(&err)
	n, err = t.Write(p)
	if n < 0 || n > len(p) {
		return 0, fmt.Errorf("blocking: Write of a %T returned %d for %d bytes", t.Conn, n, len(p))
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// contain is deferred around calls of a connection.
func contain(err *error) {
	if v := recover(); v != nil {
		*err = &core.PanicError{Value: v, Stack: debug.Stack()}
	}
}

// cut ends whatever is blocked in the connection. Any goroutine may call it. It
// goes past TLS: the Close of that writes an alert first, and waits up to five
// seconds for a peer that does not read. A write deadline in the past would not do
// either, as TLS sets one of its own for the alert.
func (t connection) cut() { _ = closeContained(t.bottom) }

// shut closes the connection in the proper way: TLS says goodbye.
func (t connection) shut() error { return closeContained(t.Conn) }

func closeContained(conn net.Conn) (err error) {
	defer contain(&err)
	return conn.Close()
}

// handshake performs the handshake of a connection that has one. It must not be
// left to the first read: reads are interrupted by deadlines, and a handshake that
// was interrupted has failed for good.
func (t connection) handshake(ctx context.Context) (err error) {
	defer contain(&err)
	if c, ok := t.Conn.(interface{ HandshakeContext(context.Context) error }); ok {
		return c.HandshakeContext(ctx)
	}
	return nil
}

// halfClose tells the peer that there is no more. can is false if the connection
// has no way to.
func (t connection) halfClose() (can bool, err error) {
	defer contain(&err)
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
