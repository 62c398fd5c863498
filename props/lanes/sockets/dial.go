//go:build linux

package sockets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
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
	if c.spec.Named {
		to = c.name(to)
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

// name registers a name of the peer at an address, and returns the name with the port.
func (c *conn) name(at string) string {
	peer := netip.MustParseAddrPort(at)
	host := fmt.Sprintf("peer%d.example", c.nth)
	found := kernel.Name{Takes: milliseconds(c.spec.Lookup)}
	if !c.spec.Unknown {
		for i := range c.spec.Refusing {
			found.Addrs = append(found.Addrs, netip.AddrFrom4([4]byte{127, 0, 0, byte(9 + i)}))
		}
		found.Addrs = append(found.Addrs, peer.Addr())
	}
	c.r.k.Register(host, found)
	return net.JoinHostPort(host, strconv.Itoa(int(peer.Port())))
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
	if all, ok := err.(interface{ Unwrap() []error }); ok && c.spec.Named && len(all.Unwrap()) > c.spec.Refusing+1 {
		c.r.violate("connection %d: the dial failed with %q, which are %d errors, want one for each of %d addresses at most", c.nth, err, len(all.Unwrap()), c.spec.Refusing+1)
	}
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
		if c.spec.Waits || c.spec.Named {
			c.recordEndCall("Dial", false) // which closes a connection that is established later
		}
		return
	}
	if len(c.names()) > 0 && c.r.shutdown.Load() == 0 && !c.isEnding() {
		c.r.violate("connection %d: the dial failed with %v, and the handler was called", c.nth, err)
	}
	if !c.mayBeRefused(err) {
		c.r.violate("connection %d: the dial failed with %v, and no call of the kernel has failed", c.nth, err)
	}
}

// closedByDial reports whether the context of the dial has ended, so that the dial closes a connection that
// is established at the same time, or later. The dial returns after that, so no stamp says when it closed.
func (c *conn) closedByDial() bool { return slices.Contains(c.endCalls, "Dial") }

// mayBeRefused reports whether a dial to the peer may fail with err before its context ends.
func (c *conn) mayBeRefused(err error) bool {
	r := c.r
	closes := slices.ContainsFunc(c.spec.Writer, func(s PeerStep) bool { return s.Kind == "reset" || s.Kind == "close" })
	failed := r.failure(func(f kernel.Failure) bool { return f.Errno != 0 && errors.Is(err, f.Errno) })
	unknown := c.spec.Named && c.spec.Unknown
	return closes || failed || unknown || r.p.Kernel.Files > 0 || r.p.Pending > 0 || r.shutdown.Load() > 0
}

// mostHandshake is how long a handshake with a peer that answers may take.
const mostHandshake = 5 * time.Millisecond

// checkDial checks, while every goroutine waits, that a dial which has what it waits for has
// ended. It returns how many registrations the dial has: that of a look-up lasts until the dial ends.
func (c *conn) checkDial() (registrations int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dial == nil || c.dial.done > 0 {
		return 0
	}
	lasted := time.Since(c.dial.began)
	if d := milliseconds(c.spec.DialFor); d > 0 && lasted > d && !c.spec.Embedded {
		c.violateLocked("the context of the dial ended %v ago, and the dial has not", lasted-d)
	}
	most, lookup := mostHandshake, time.Duration(0)
	if c.spec.Named && !c.spec.Embedded {
		lookup = milliseconds(c.spec.Lookup)
		most += lookup + time.Duration(c.spec.Refusing)*mostHandshake
		registrations++
	}
	if lasted > most && (!c.spec.Silent || c.spec.Embedded) {
		c.violateLocked("the dial has not ended after %v, and the peer answers", lasted)
	}
	if lasted > lookup {
		registrations++
	}
	return registrations
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
