package blocking

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"eventide/core"
)

// Register gives conn to an executor, an idle one or a new one, and makes a channel
// of it that calls h. A nil error means that it is accepted: from then on conn is
// the channel's, which closes it.
//
// It does not wait: a handshake is the executor's to perform. It may be called from
// the executors of the group. If it is refused, conn has been closed: with
// *TooManyChannelsError, which is ErrTooManyChannels, if the group has as many
// channels as it may have; with core.ErrRejected after a shutdown call, or if the
// spawner gives no goroutine. A bad argument (nil, a bad option, a connection without
// deadlines) is another error, and leaves conn alone.
//
// An open channel counts until its connection is closed: whoever waits for
// CloseFuture can register the next one.
func (g *Group) Register(conn net.Conn, h Handler, opts ...Option) (*Channel, error) {
	ch, err := g.register(conn, h, opts)
	var refused *refusedError
	if errors.As(err, &refused) {
		_ = conn.Close()
		return nil, refused.error
	}
	return ch, err
}

// refusedError marks an error after which the connection is to be closed.
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
	if err := conn.SetDeadline(time.Time{}); err != nil {
		g.release()
		return nil, fmt.Errorf("blocking: Register: conn is a %T that takes no deadlines, want one that does: %w", conn, err)
	}
	ch, err := g.place(newConnection(conn), h, cfg)
	if err != nil {
		g.release()
		return nil, &refusedError{err}
	}
	return ch, nil
}

// reserve counts one more channel, if there may be one.
func (g *Group) reserve() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase != phaseOpen {
		return g.refusal()
	}
	if g.max > 0 && g.open >= g.max {
		return &TooManyChannelsError{Max: g.max}
	}
	g.open++
	return nil
}

// refusal is the error of who comes after the shutdown call. Requires mu.
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

// place finds an executor that takes the channel. One that was shut down by itself
// does not: then another is tried. One that cannot be started stays for the next.
func (g *Group) place(conn connection, h Handler, cfg *config) (*Channel, error) {
	conn.noLinger() // now: once it is registered its loop may close it
	for {
		c, err := g.acquire()
		if err != nil {
			return nil, err
		}
		ch := newChannel(g, c, conn, h, cfg)
		if err = ch.register(); err == nil {
			return ch, nil
		}
		if c.loop.State() < core.StateShuttingDown {
			g.putIdle(c)
			return nil, fmt.Errorf("blocking: Register: %w", err)
		}
	}
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

// register is the admission of the channel. It is registered without interest: the
// loop gives the connection to its poller, when it starts the channel.
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
