package blocking_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// timeoutPlan has the options of a channel and what its executor waits for: a handshake or a peer that does not read.
// Close comes after a while, and perhaps again.
type timeoutPlan struct {
	Handshake, Close time.Duration // 0: the default
	Shakes           bool
	Closes           []time.Duration // before each call of Close
}

func drawTimeoutPlan(t *rapid.T) timeoutPlan {
	times := rapid.SampledFrom([]time.Duration{0, time.Nanosecond, time.Millisecond, 3 * time.Second, 7 * time.Second, time.Minute})
	handshake := times.Draw(t, "handshake timeout")
	if handshake > 0 {
		handshake += 7 * time.Microsecond // never as long as the time until Close and its limit
	}
	return timeoutPlan{
		Handshake: handshake, Close: times.Draw(t, "close timeout"), Shakes: rapid.Bool().Draw(t, "shakes"),
		Closes: rapid.SliceOfN(rapid.SampledFrom([]time.Duration{time.Nanosecond, time.Second, 4 * time.Second}), 1, 3).Draw(t, "closes"),
	}
}

// ends returns when the channel ends and with what cause.
func (p timeoutPlan) ends() (at time.Duration, cause error) {
	handshake, limit := p.Handshake, p.Close
	if handshake == 0 {
		handshake = 10 * time.Second
	}
	if limit == 0 {
		limit = 5 * time.Second
	}
	at, cause = p.Closes[0]+limit, blocking.ErrCloseDeadline
	if p.Shakes && handshake < at {
		return handshake, context.DeadlineExceeded
	}
	return at, cause
}

// TestPropTimeouts: a handshake ends after WithHandshakeTimeout at the latest. After the first Close, a blocked handshake or
// write ends after WithCloseTimeout at the latest; a further Close does not prolong the time (G22).
func TestPropTimeouts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawTimeoutPlan(rt)
		want, wantCause := p.ends()
		var got time.Duration
		var cause error
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, 0)
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			var opts []blocking.Option
			if p.Handshake > 0 {
				opts = append(opts, blocking.WithHandshakeTimeout(p.Handshake))
			}
			if p.Close > 0 {
				opts = append(opts, blocking.WithCloseTimeout(p.Close))
			}
			conn := ours
			if p.Shakes {
				conn = cutShake{ours, make(chan struct{}), new(sync.Once)}
			}
			begun := time.Now()
			ch := mustRegister(t, g, conn, &handler{}, opts...)
			ch.WriteAndFlush([]byte("nobody reads it"))
			made := make(chan struct{})
			go func() {
				defer close(made)
				for _, pause := range p.Closes {
					time.Sleep(pause)
					ch.Close()
				}
			}()
			<-ch.CloseFuture().Done()
			got, cause = time.Since(begun), ch.CloseCause()
			<-made
			g.Shutdown()
			coretest.AwaitDone(t, g)
		})
		if got != want || !errors.Is(cause, wantCause) {
			rt.Fatalf("G22: %+v ends after %v with %v, want %v with %v", p, got, cause, want, wantCause)
		}
	})
}

// cutShake is a connection whose handshake ends with its context, or as the connection is closed.
type cutShake struct {
	net.Conn
	closed chan struct{}
	once   *sync.Once
}

func (c cutShake) HandshakeContext(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return net.ErrClosed
	}
}

func (c cutShake) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestPropClosedGroups: a group whose shutdown call has come, of any kind, even if it is still draining, accepts nothing: Serve
// closes its listener and returns nil, Register closes the connection, and the state is ShuttingDown at least. So it is already
// while the shutdown call closes the listener of an earlier Serve (G16, G21).
func TestPropClosedGroups(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, err := blocking.NewGroup(0)
		coretest.Must(t, err)
		defer func() { <-g.Shutdown().Done() }()
		call := rapid.SampledFrom([]string{"Shutdown", "ShutdownGracefully", "Close"}).Draw(rt, "call")
		refuses := func() {
			if s := g.State(); s < core.StateShuttingDown {
				rt.Errorf("G16: the state after %s is %v", call, s)
			}
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			if ch, err := g.Register(ours, echo()); ch != nil || !errors.Is(err, core.ErrShutdown) || ours.SetDeadline(time.Time{}) == nil {
				rt.Errorf("G16: Register after %s: %v, %v, and the connection must be closed", call, ch, err)
			}
			ln := &brokenListener{}
			if err := g.Serve(ln, newEcho); err != nil || !ln.closed {
				rt.Errorf("G21: Serve after %s: %v, and its listener is closed: %v", call, err, ln.closed)
			}
		}
		drains := rapid.Bool().Draw(rt, "a channel drains")
		if drains {
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			mustRegister(t, g, &halfClosing{Conn: ours, closeWrite: func() {}}, &handler{})
		}
		served := make(chan error, 1)
		if rapid.Bool().Draw(rt, "serves") {
			ln := &watchedListener{Listener: &waitingListener{over: make(chan struct{})}, accepting: make(chan struct{}), closing: refuses}
			go func() { served <- g.Serve(ln, newEcho) }()
			coretest.Await(t, "Accept", ln.accepting)
		} else {
			served <- nil
		}
		switch {
		case call == "Shutdown":
			g.Shutdown()
		case call == "Close" && !drains:
			coretest.Must(t, g.Close())
			if s := g.State(); s != core.StateTerminated {
				rt.Errorf("the state after Close is %v", s)
			}
		default:
			coretest.MustShutdownGracefully(t, g, 0, time.Hour)
		}
		refuses()
		if err := <-served; err != nil {
			rt.Errorf("G21: Serve returns %v at the shutdown call", err)
		}
	})
}

// waitingListener is a listener to which nobody connects.
type waitingListener struct {
	net.Listener
	over chan struct{}
	once sync.Once
}

func (w *waitingListener) Accept() (net.Conn, error) {
	<-w.over
	return nil, net.ErrClosed
}

func (w *waitingListener) Close() error {
	w.once.Do(func() { close(w.over) })
	return nil
}
