//go:build linux

package sockets

import (
	"context"
	"errors"
	"slices"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// errDialTime is the cause with which the context of a dial ends.
var errDialTime = errors.New("the time of the dial has passed")

// silentPeer is the address of a peer that never answers.
const silentPeer = "192.0.2.2:80"

// dialled is a call of Dial, DialOn, DialAsync or Embed. Guarded by conn.mu.
type dialled struct {
	began time.Time
	done  int // how often it has returned, or its future has completed
	err   error
}

// coreDials makes core connect to the peer. It returns the peer's end, or nil if there is none.
func (c *conn) coreDials() *kernel.Peer {
	var l *kernel.Peer
	to := silentPeer
	if !c.spec.Silent {
		if l = c.listen(); l == nil {
			return nil
		}
		to = l.Local().String()
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if c.spec.DialFor > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, milliseconds(c.spec.DialFor), errDialTime)
	}
	c.dialBegins()
	if c.spec.Waits {
		c.r.actors.Go(func() {
			defer cancel()
			c.dialEnds(c.waitForDial(ctx, to))
		})
	} else {
		tcp.DialAsync(ctx, c.r.workers, to, c.handler(), c.r.options()...).OnDone(func(ch *tcp.Channel, err error) {
			cancel()
			c.dialEnds(ch, err)
		})
	}
	if l == nil {
		return nil
	}
	peer, errno := l.Accept()
	if errno != 0 {
		return nil
	}
	return c.r.keep(peer)
}

// waitForDial dials with a call that blocks.
func (c *conn) waitForDial(ctx context.Context, to string) (*tcp.Channel, error) {
	if loop := c.r.onlyLoop(); loop != nil {
		return tcp.DialOn(ctx, loop, to, c.handler(), c.r.options()...)
	}
	return tcp.Dial(ctx, c.r.workers, to, c.handler(), c.r.options()...)
}

func (c *conn) dialBegins() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dial = &dialled{began: time.Now()}
}

// dialEnds judges the result of a dial, when it is known.
func (c *conn) dialEnds(ch *tcp.Channel, err error) {
	c.mu.Lock()
	d := c.dial
	d.done++
	d.err = err
	lasted := time.Since(d.began)
	c.mu.Unlock()
	switch {
	case (ch == nil) != (err != nil):
		c.r.violate("connection %d: the dial returned the channel %v and the error %v", c.nth, ch, err)
	case err == nil:
		c.has(asTCP(ch))
		if c.spec.Silent && !c.spec.Embedded {
			c.r.violate("connection %d: the dial to a machine that does not answer succeeded", c.nth)
		}
		return
	case errors.Is(err, errDialTime):
		if lasted != milliseconds(c.spec.DialFor) {
			c.r.violate("connection %d: the context of the dial ended after %v, want %v", c.nth, lasted, milliseconds(c.spec.DialFor))
		}
		if c.spec.Waits {
			c.recordEndCall("Dial", false) // which closes a connection that is established later
		}
		return
	}
	if len(c.names()) > 0 && c.r.shutdown.Load() == 0 && !c.isEnding() {
		c.r.violate("connection %d: the dial failed with %v, and the handler was called", c.nth, err)
	}
	if !c.mayBeRefused() {
		c.r.violate("connection %d: the dial failed with %v, and no call of the kernel has failed", c.nth, err)
	}
}

// mayBeRefused reports whether a dial to the peer may fail before its context ends.
func (c *conn) mayBeRefused() bool {
	r := c.r
	closes := slices.ContainsFunc(c.spec.Writer, func(s PeerStep) bool { return s.Kind == "reset" || s.Kind == "close" })
	return closes || len(r.p.Kernel.Faults) > 0 || r.p.Kernel.Files > 0 || r.p.Pending > 0 || r.shutdown.Load() > 0
}

// mostHandshake is how long a handshake with a peer that answers may take.
const mostHandshake = 5 * time.Millisecond

// checkDial checks, while every goroutine waits, that a dial which has what it waits for has
// ended. It reports whether the dial is under way.
func (c *conn) checkDial() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dial == nil || c.dial.done > 0 {
		return false
	}
	lasted := time.Since(c.dial.began)
	if d := milliseconds(c.spec.DialFor); d > 0 && lasted > d && !c.spec.Embedded {
		c.violateLocked("the context of the dial ended %v ago, and the dial has not", lasted-d)
	}
	if lasted > mostHandshake && (!c.spec.Silent || c.spec.Embedded) {
		c.violateLocked("the dial has not ended after %v, and the peer answers", lasted)
	}
	return true
}

// judgeDial checks that a dial has ended once, with the channel of the connection.
func (c *conn) judgeDial() {
	if c.dial == nil {
		return
	}
	if c.dial.done != 1 {
		c.violate("the dial has ended %d times, want once", c.dial.done)
	}
	if errors.Is(c.dial.err, core.ErrInEventLoop) {
		c.violate("the dial failed with %v, and was not called on a loop", c.dial.err)
	}
}
