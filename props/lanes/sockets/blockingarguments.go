//go:build linux

package sockets

import (
	"net"
	"time"

	"eventide/core"
	"eventide/core/blocking"
)

// longAgo is a time before every clock.
var longAgo = time.Unix(1, 0)

// stubbornConn is a connection that takes no deadlines.
type stubbornConn struct {
	net.Conn
	closed bool
}

func (s *stubbornConn) SetDeadline(time.Time) error { return net.ErrWriteToConnected }
func (s *stubbornConn) Close() error                { s.closed = true; return s.Conn.Close() }

// silent is a handler that does nothing.
var silent = blocking.HandlerBase{}

// badBlockingCalls has calls of core/blocking with one bad argument each.
var badBlockingCalls = append([]edgeCall{
	registers("nothing", func(r *run, _ net.Conn) (*blocking.Channel, error) { return r.group.Register(nil, silent) }),
	registers("without a handler", func(r *run, c net.Conn) (*blocking.Channel, error) { return r.group.Register(c, nil) }),
	registers("a connection without deadlines", func(r *run, c net.Conn) (*blocking.Channel, error) {
		s := &stubbornConn{Conn: c}
		ch, err := r.group.Register(s, silent)
		if s.closed {
			r.violate("Register of a connection without deadlines has closed it")
		}
		return ch, err
	}),
	serves("nothing", func(r *run, _ net.Listener) error {
		return r.group.Serve(nil, func() blocking.Handler { return silent })
	}),
	serves("without handlers", func(r *run, l net.Listener) error { return r.group.Serve(l, nil) }),
	shuts("with a negative quiet period", -1, 1),
	shuts("with a timeout below the quiet period", 2, 1),
	{name: "NewGroup with a negative maximum", call: func(*run) (bool, error) { return makes(blocking.NewGroup(-1)) }},
	{name: "NewGroup with a bad option", call: func(*run) (bool, error) { return makes(blocking.NewGroup(0, core.WithMaxPendingTasks(-1))) }},
}, registersWithBadOptions()...)

func makes(g *blocking.Group, err error) (bool, error) { return g != nil, err }

func shuts(what string, quiet, timeout time.Duration) edgeCall {
	return edgeCall{name: "ShutdownGracefully " + what, call: func(r *run) (bool, error) {
		t, err := r.group.ShutdownGracefully(quiet, timeout)
		return t != nil, err
	}}
}

// registers is a call of Register after which the connection is still open.
func registers(what string, call func(*run, net.Conn) (*blocking.Channel, error)) edgeCall {
	return edgeCall{name: "Register " + what, call: func(r *run) (bool, error) {
		ours, theirs := net.Pipe()
		ch, err := call(r, ours)
		if ours.SetDeadline(longAgo) != nil {
			r.violate("Register %s has closed the connection", what)
		}
		_, _ = ours.Close(), theirs.Close()
		return ch != nil || r.group.Stats().Channels != 0, err
	}}
}

// serves is a call of Serve after which the listener is still open.
func serves(what string, call func(*run, net.Listener) error) edgeCall {
	return edgeCall{name: "Serve " + what, call: func(r *run) (bool, error) {
		l := &closable{}
		err := call(r, l)
		return l.closed, err
	}}
}

// closable is a listener that is only closed.
type closable struct {
	net.Listener
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }

// registersWithBadOptions returns calls of Register and Serve with an option outside of its bounds.
func registersWithBadOptions() (calls []edgeCall) {
	for _, o := range []struct {
		what   string
		option blocking.Option
	}{
		{"a read buffer of 0", blocking.WithReadBuffer(0)},
		{"a read buffer that is large", blocking.WithReadBuffer(blocking.MaxReadBuffer + 1)},
		{"a handshake timeout of 0", blocking.WithHandshakeTimeout(0)},
		{"a negative handshake timeout", blocking.WithHandshakeTimeout(-1)},
		{"a negative close timeout", blocking.WithCloseTimeout(-1)},
	} {
		calls = append(calls,
			registers("with "+o.what, func(r *run, c net.Conn) (*blocking.Channel, error) { return r.group.Register(c, silent, o.option) }),
			serves("with "+o.what, func(r *run, l net.Listener) error {
				return r.group.Serve(l, func() blocking.Handler { return silent }, o.option)
			}))
	}
	return calls
}
