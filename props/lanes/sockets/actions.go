//go:build linux

package sockets

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// perform makes the call of an action. inLoop is true if a handler calls perform.
func (c *conn) perform(a Action, inLoop bool) {
	switch a.Kind {
	case "Quiesce":
		if c.r.quiesced.CompareAndSwap(0, c.r.stamp()) {
			c.r.quiescedAt.Store(int64(time.Since(c.r.start)))
		}
		c.r.actors.Go(func() { _ = tcp.Quiesce(c.r.workers.Context(), c.r.workers) })
		return
	case "CloseListener":
		if c.r.listener != nil {
			c.r.listenerClosed.CompareAndSwap(0, c.r.stamp())
			c.r.listener.Close()
		}
		return
	case "Broadcast":
		c.r.broadcast(a.N)
		return
	}
	ch := c.channel()
	if ch == nil {
		return
	}
	over := ofTCP(ch) // nil in programs over core/blocking, which have no actions of core/tcp alone
	switch a.Kind {
	case "Write", "WriteAndFlush":
		c.writeBytes(ch, a.N, a.Kind == "WriteAndFlush", inLoop)
	case "Fill":
		for i := 0; i < 20 && (over == nil || over.IsWritable()); i++ {
			c.writeBytes(ch, max(a.N, 1), i%2 == 0, inLoop)
		}
		c.flush(ch, inLoop)
	case "Flush":
		c.flush(ch, inLoop)
	case "Close":
		c.recordEndCall("Close", inLoop)
		ch.Close().OnDone(func(struct{}, error) { c.record("closed") })
		if inLoop {
			c.record("after Close")
		}
	case "CloseGracefully":
		c.recordEndCall("CloseGracefully", inLoop)
		deadline := time.Time{}
		if a.Wait > 0 {
			deadline = time.Now().Add(milliseconds(a.Wait))
			c.mustCloseBy(deadline)
		}
		late := !ch.IsOpen() && c.happened("CloseFuture")
		ch.CloseGracefully(deadline).OnDone(func(_ struct{}, err error) { c.closedGracefully(err, deadline, late) })
		if inLoop {
			c.record("after CloseGracefully")
		}
	case "CloseOutput":
		c.recordEndCall("CloseOutput", inLoop)
		over.CloseOutput().OnDone(func(_ struct{}, err error) {
			c.record("output closed")
			if err == nil {
				c.record("output ended")
			}
		})
	case "Hold", "Answer":
		c.hold(over, a)
	case "Pause", "Resume":
		c.mu.Lock()
		switch pause := a.Kind == "Pause"; {
		case pause && !c.paused:
			c.switched = time.Now()
		case !pause && c.paused:
			c.switched = time.Now()
			c.resumed = c.switched
		}
		c.paused = a.Kind == "Pause"
		c.mu.Unlock()
		over.SetAutoRead(a.Kind == "Resume")
	case "Task", "Timer":
		c.submit(ch, a)
	case "Panic":
		c.recordEndCall("Panic", inLoop)
		panic("a handler of the program")
	case "Goexit":
		c.recordEndCall("Goexit", inLoop)
		runtime.Goexit()
	}
}

// mustCloseBy records a deadline of CloseGracefully: the earliest one applies.
func (c *conn) mustCloseBy(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closeBy.IsZero() || deadline.Before(c.closeBy) {
		c.closeBy = deadline
	}
}

// recordEndCall records the begin of a call that may end the channel, or after which writes may
// be refused.
func (c *conn) recordEndCall(what string, inLoop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if what == "Close" && c.closeCalled.IsZero() {
		c.closeCalled, c.closeStamp = time.Now(), c.r.stamp()
	}
	c.endCalls = append(c.endCalls, what)
	c.holdCut = c.holdCut || what == "CloseOutput" && c.holds > 0
}

// closedGracefully records the outcome of CloseGracefully. afterwards is true if the channel was
// closed before the call: then success says only that the close lost no bytes.
func (c *conn) closedGracefully(err error, deadline time.Time, afterwards bool) {
	c.record("gracefully closed")
	switch {
	case err != nil:
	case afterwards:
		c.record("complete")
	default:
		c.record("drained")
	}
	early := time.Now().Before(deadline) || deadline.IsZero()
	late := c.r.group != nil && time.Now().After(deadline) // CloseGracefully of core/tcp may wait for a task after its deadline
	if !errors.Is(err, core.ErrCloseDeadline) || !early && !late || slices.Contains(c.calls(), "Close") {
		return
	}
	if calls := c.calls(); !slices.Contains(calls[slices.Index(calls, "CloseGracefully")+1:], "CloseGracefully") {
		c.r.violate("connection %d: CloseGracefully failed with %v, %v from its deadline", c.nth, err, time.Until(deadline))
	}
}

func (c *conn) hold(ch *tcp.Channel, a Action) {
	release, err := ch.Hold()
	if err != nil {
		return
	}
	c.mu.Lock()
	c.holds++
	c.held = time.Now()
	c.holdCut = c.holdCut || slices.Contains(c.endCalls, "CloseOutput")
	c.mu.Unlock()
	c.r.actors.Go(func() {
		time.Sleep(milliseconds(a.Wait))
		if a.Kind == "Answer" {
			c.writeBytes(asTCP(ch), a.N, true, false)
		}
		c.mu.Lock()
		if c.holds--; c.holds == 0 {
			c.released = time.Now()
		}
		c.mu.Unlock()
		release()
	})
}
