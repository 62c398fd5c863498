package blocking

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"eventide/core"
)

// Register makes conn a channel of an idle executor or of a new one, with handler h. A nil error
// means that conn is accepted: it belongs to the channel, which closes it.
//
// Register does not wait for the handshake, which the executor makes. Executors of the group
// may call it. If the connection is refused, Register closes conn. The error then is a
// *TooManyChannelsError, which matches ErrTooManyChannels, if the group has its maximum of
// channels; or it matches core.ErrRejected, after a shutdown call or if the spawner
// starts no goroutine. After the error of a bad argument (nil, a bad option, a connection without
// deadlines) conn stays open.
//
// A channel counts towards the maximum until its connection is closed: after CloseFuture has
// completed, the next connection can be registered.
func (g *Group) Register(conn net.Conn, h Handler, opts ...Option) (*Channel, error) {
	ch, err := g.register(conn, h, opts)
	var refused *refusedError
	if errors.As(err, &refused) {
		_ = closeConn(conn)
		return nil, refused.error
	}
	return ch, err
}

// refusedError marks an error after which Register closes the connection.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

func (g *Group) register(conn net.Conn, h Handler, opts []Option) (*Channel, error) {
	if conn == nil {
		return nil, argumentError("Register", "conn is nil, want a connection")
	}
	if h == nil {
		return nil, argumentError("Register", "h is nil, want a Handler")
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if err := g.reserve(); err != nil {
		return nil, &refusedError{err}
	}
	placed := false
	defer func() {
		if !placed { // also if a method of conn panics, or the spawner calls runtime.Goexit
			g.release()
		}
	}()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("blocking: Register: conn is a %T that takes no deadlines, want one that does: %w", conn, err)
	}
	ch, err := g.place(newConnection(conn), h, cfg)
	if err != nil {
		return nil, &refusedError{err}
	}
	placed = true
	return ch, nil
}

// reserve counts one more channel, or returns an error if there may be none.
func (g *Group) reserve() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shutDown {
		return g.refusal()
	}
	if g.max > 0 && g.open >= g.max {
		return &TooManyChannelsError{Max: g.max}
	}
	g.open++
	return nil
}

// refusal returns the error of a call after the shutdown call. Requires mu.
func (g *Group) refusal() error {
	return &core.RejectedError{State: g.stateLocked(), Reason: core.ErrShutdown}
}

// release undoes reserve.
func (g *Group) release() {
	g.mu.Lock()
	g.open--
	g.room.Broadcast()
	g.mu.Unlock()
}

// place finds an executor that takes the channel. If an executor was shut down on its
// own, place tries another one.
func (g *Group) place(conn connection, h Handler, cfg *config) (*Channel, error) {
	conn.noLinger() // now: once the channel is registered its loop may close conn
	for {
		c, err := g.acquire()
		if err != nil {
			return nil, err
		}
		ch, err := g.placeOn(c, conn, h, cfg)
		if err == nil {
			return ch, nil
		}
		if c.loop.State() < core.StateShutdown { // admission is open, so the start has failed
			return nil, fmt.Errorf("blocking: Register: %w", err)
		}
	}
}

// placeOn makes the channel on c, which acquire has returned. If c cannot be started, it stays idle for
// the next channel, also if the spawner calls runtime.Goexit.
func (g *Group) placeOn(c *child, conn connection, h Handler, cfg *config) (*Channel, error) {
	ch, placed := newChannel(g, c, conn, h, cfg), false
	defer func() {
		if !placed && c.loop.State() < core.StateShutdown {
			g.putIdle(c)
		}
	}()
	if err := ch.register(); err != nil {
		return nil, err
	}
	placed = true
	return ch, nil
}

func newChannel(g *Group, c *child, conn connection, h Handler, cfg *config) *Channel {
	ch := &Channel{
		group: g, child: c, loop: c.loop, poller: c.poller, conn: conn, handler: h, cfg: cfg,
		whenCut:   core.NewPromise[struct{}](c.loop),
		onClose:   core.NewPromise[struct{}](c.loop),
		onGrace:   core.NewPromise[struct{}](c.loop),
		published: make(chan struct{}),
	}
	ch.whenCut.SetUncancellable()
	ch.onClose.SetUncancellable()
	ch.onGrace.SetUncancellable()
	return ch
}

// register admits the channel. It is registered without interest: the loop gives the
// connection to its poller when it starts the channel.
func (ch *Channel) register() error {
	reg, err := ch.loop.RegisterChannel(connFD, 0, lifecycle{ch})
	if err != nil {
		return err
	}
	ch.reg = reg
	ch.byLoop = whenEnded(ch.loop.Context(), func() { ch.cut(context.Cause(ch.loop.Context())) })
	close(ch.published)
	ch.post(ch.start)
	return nil
}
