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

// endCall is the begin or the return of a call that ends a channel, or refuses its writes.
type endCall struct {
	what   string
	inLoop bool
	stamp  int64
	at     time.Duration
}

// outcome is the error with which the future of such a call has completed.
type outcome struct {
	what string
	err  error
}

// closing is what was known when CloseFuture completed.
type closing struct {
	end   kernel.End // of core
	reset bool
	held  bool // a hold was not released
	late  bool // a hold was released at the same time, perhaps before

	heldFrom, heldSince time.Time // the begin of the oldest hold: with those released at the same time, and without
}

// endCallReturns records that a call has returned, and checks what holds from then on.
func (c *conn) endCallReturns(what string, ch channel, f *core.Future[struct{}], inLoop bool) {
	over := ofTCP(ch)
	open, writable := ch.IsOpen(), over != nil && over.IsWritable()
	if f.Cancel() || ch.CloseFuture().Cancel() {
		c.violate("the future of %s, or the CloseFuture, was cancelled", what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endReturns = append(c.endReturns, endCall{what, inLoop, c.r.stamp(), time.Since(c.r.start)})
	if c.futures == nil {
		c.futures = map[string]*core.Future[struct{}]{}
	}
	if first := c.futures[what]; first != nil && first != f {
		c.violateLocked("two calls of %s have returned two futures", what)
	}
	c.futures[what] = f
	if what != "CloseOutput" && open {
		c.violateLocked("IsOpen is true after %s", what)
	}
	if what != "CloseOutput" && writable && c.allHolds == 0 {
		c.violateLocked("IsWritable is true after %s", what)
	}
}

// everHeld reports whether a call of Hold has begun.
func (c *conn) everHeld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.allHolds > 0
}

// ends records the outcome of such a call.
func (c *conn) ends(what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes = append(c.outcomes, outcome{what, err})
}

// recordClose records what is known when CloseFuture completes. It is called on the loop.
func (c *conn) recordClose() {
	if c.r.group != nil {
		return
	}
	k, ours := c.find(c.r.k.Connections())
	if k == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.atClose = &closing{end: *ours, reset: k.Reset, held: c.holds > 0, late: c.released.Equal(time.Now())}
	c.atClose.heldFrom, c.atClose.heldSince = c.oldestHold(true), c.oldestHold(false)
}

// oldestHold returns when the oldest hold began that is not released, or is released now if wanted; now, if there is
// none. Requires mu.
func (c *conn) oldestHold(releasedNow bool) time.Time {
	now := time.Now()
	oldest := now
	for _, s := range c.spans {
		if s.begin.Before(oldest) && (s.to == 0 || releasedNow && s.end.Equal(now)) {
			oldest = s.begin
		}
	}
	return oldest
}

// quiesce ends the input of all workers.
func (r *run) quiesce() {
	if r.quiesced.CompareAndSwap(0, r.stamp()) {
		r.quiescedAt.Store(int64(time.Since(r.start)))
	}
	r.actors.Go(func() {
		var err error
		ctx := r.workers.Context()
		if loop := r.onlyLoop(); loop != nil {
			err = tcp.QuiesceOn(ctx, loop)
		} else {
			err = tcp.Quiesce(ctx, r.workers)
		}
		switch {
		case err == nil:
			r.inputEnded.Store(true)
		case context.Cause(ctx) == nil || !errors.Is(err, context.Cause(ctx)):
			r.violate("Quiesce: %v, and the cause of its context is %v", err, context.Cause(ctx))
		}
	})
}

// othersDial reports whether another connection has a socket that its dial, or the program for Embed, opens
// on a goroutine of its own, perhaps while a loop makes a call.
func (c *conn) othersDial() bool {
	return slices.ContainsFunc(c.r.conns, func(other *conn) bool {
		return other != c && (other.spec.Dialled || other.spec.Embedded)
	})
}

// callBlocking makes the calls that block, which return at once on a loop, without an effect.
func (c *conn) callBlocking(ch *tcp.Channel, inLoop bool) {
	if !inLoop {
		return
	}
	ctx, sockets := context.Background(), c.r.sockets()
	_, dialled := tcp.Dial(ctx, c.r.workers, silentPeer, nobody{})
	_, dialledOn := tcp.DialOn(ctx, ch.EventLoop(), silentPeer, nobody{})
	for what, err := range map[string]error{
		"Quiesce": tcp.Quiesce(ctx, c.r.workers), "QuiesceOn": tcp.QuiesceOn(ctx, ch.EventLoop()), "Dial": dialled, "DialOn": dialledOn,
	} {
		if !errors.Is(err, core.ErrInEventLoop) {
			c.violate("G18: %s returns %v on the loop, want %v", what, err, core.ErrInEventLoop)
		}
	}
	if c.r.p.Workers == 1 && c.r.boss == c.r.workers && !c.othersDial() && c.r.sockets() > sockets {
		c.violate("G18: a dial that was refused on the loop has left a socket")
	}
}

// look checks what holds of the answers of a channel at any time. That a channel is not open is
// final.
func (c *conn) look(ch *tcp.Channel) {
	open, o := ch.IsOpen(), c.r.p.Options
	if w, u, before := ch.IsWritable(), ch.BytesBeforeUnwritable(), ch.BytesBeforeWritable(); !open && (w || u != 0 || before != 0) && !c.everHeld() {
		c.violate("IsOpen is false, IsWritable is %v, BytesBeforeUnwritable %d and BytesBeforeWritable %d", w, u, before)
	}
	if cause := ch.CloseCause(); cause != nil && ch.IsOpen() {
		c.violate("CloseCause is %v, and IsOpen is true", cause)
	}
	if n := ch.BytesBeforeUnwritable(); n < 0 || n > int64(o.High)+1 {
		c.violate("BytesBeforeUnwritable is %d, and the high mark is %d", n, o.High)
	}
	if n := ch.BytesBeforeWritable(); n < 0 {
		c.violate("BytesBeforeWritable is %d", n)
	}
	if n := ch.PendingBytes(); n < 0 {
		c.violate("PendingBytes is %d", n)
	}
}
