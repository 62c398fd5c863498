//go:build linux

package sockets

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// perform makes the call of an action. inLoop is true if a handler calls perform.
func (c *conn) perform(a Action, inLoop bool) {
	if a.Elsewhere && inLoop && a.Kind != "Panic" && a.Kind != "Goexit" {
		var other sync.WaitGroup
		other.Go(func() { c.perform(a, false) })
		other.Wait()
		return
	}
	switch a.Kind {
	case "Quiesce":
		c.r.quiesce()
		return
	case "CloseListener":
		c.r.closeListener()
		return
	case "Broadcast":
		c.r.broadcast(a.N)
		return
	case "List":
		c.r.list(a.N)
		return
	}
	ch := c.channel()
	if ch == nil {
		return
	}
	over := ofTCP(ch)                               // nil in programs over core/blocking, which have no actions of core/tcp alone
	inLoop = inLoop && ch.EventLoop().InEventLoop() // false in a listener that runs after the end of the loop
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
		c.close(ch, inLoop)
	case "CloseGracefully":
		c.closeGracefully(ch, a, inLoop)
	case "CloseOutput":
		c.closeOutput(over, inLoop)
	case "Hold", "Answer":
		c.hold(over, a)
	case "Pause", "Resume":
		c.setAutoRead(over, a.Kind == "Resume", inLoop)
	case "Look":
		if over == nil {
			for _, get := range c.looks(ch) {
				get()
			}
			return
		}
		c.look(over)
	case "Blocking":
		if over == nil {
			c.callBlockingGroup(ch, inLoop)
			return
		}
		c.callBlocking(over, inLoop)
	case "Task", "Timer":
		c.submit(ch, a)
	case "Panic":
		c.recordEndCall("Panic", inLoop)
		c.r.handlerFailed.Store(true)
		panic("a handler of the program")
	case "Goexit":
		c.recordEndCall("Goexit", inLoop)
		c.r.handlerFailed.Store(true)
		runtime.Goexit()
	}
}

func (c *conn) close(ch channel, inLoop bool) {
	c.recordEndCall("Close", inLoop)
	if inLoop {
		c.recordLastByte()
	}
	f := ch.Close()
	c.endCallReturns("Close", ch, f, inLoop)
	f.OnDone(func(_ struct{}, err error) {
		c.ends("Close", err)
		c.record("closed")
	})
	if inLoop {
		c.record("after Close")
	}
}

func (c *conn) closeGracefully(ch channel, a Action, inLoop bool) {
	c.recordEndCall("CloseGracefully", inLoop)
	deadline := time.Time{}
	if a.Wait > 0 {
		deadline = time.Now().Add(milliseconds(a.Wait))
		c.mustCloseBy(deadline)
	}
	late := !ch.IsOpen() && c.happened("CloseFuture")
	f := ch.CloseGracefully(deadline)
	c.endCallReturns("CloseGracefully", ch, f, inLoop)
	f.OnDone(func(_ struct{}, err error) {
		c.ends("CloseGracefully", err)
		c.closedGracefully(err, deadline, late)
	})
	if inLoop {
		c.record("after CloseGracefully")
	}
}

func (c *conn) closeOutput(ch *tcp.Channel, inLoop bool) {
	c.recordEndCall("CloseOutput", inLoop)
	f := ch.CloseOutput()
	c.endCallReturns("CloseOutput", asTCP(ch), f, inLoop)
	f.OnDone(func(_ struct{}, err error) {
		c.ends("CloseOutput", err)
		c.record("output closed")
		if err == nil {
			c.record("output ended")
		}
	})
}

// setAutoRead pauses or resumes the input. The calls of one connection take turns, so that the
// last one is known.
func (c *conn) setAutoRead(ch *tcp.Channel, on, inLoop bool) {
	c.pausing.Lock()
	defer c.pausing.Unlock()
	c.mu.Lock()
	now := time.Now()
	switch {
	case !on && !c.paused:
		c.switched = now
	case on && c.paused:
		c.switched, c.resumed = now, now
		c.resumes++
	}
	c.paused, c.pausedInside = !on, !on && (inLoop || c.pausedInside)
	c.mu.Unlock()
	ch.SetAutoRead(on)
}

// cutsHolds lists the calls that end the effect of holds at once, also if the loop has not handled them.
var cutsHolds = []string{"CloseOutput", "Close", "Broadcast"}

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
	c.endBegins = append(c.endBegins, endCall{what, inLoop, c.r.stamp(), time.Since(c.r.start)})
	c.holdCut = c.holdCut || slices.Contains(cutsHolds, what) && c.holds > 0
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
	late := c.r.group != nil && time.Now().After(deadline.Add(c.lateness())) // CloseGracefully of core/tcp may wait for a task after its deadline
	if !errors.Is(err, core.ErrCloseDeadline) || !early && !late || slices.Contains(c.calls(), "Close") {
		return
	}
	if calls := c.calls(); !slices.Contains(calls[slices.Index(calls, "CloseGracefully")+1:], "CloseGracefully") {
		c.r.violate("connection %d: CloseGracefully failed with %v, %v from its deadline", c.nth, err, time.Until(deadline))
	}
}

func (c *conn) hold(ch *tcp.Channel, a Action) {
	c.mu.Lock()
	c.allHolds++
	c.mu.Unlock()
	release, err := ch.Hold()
	if err != nil {
		release()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refusedHolds = append(c.refusedHolds, refusedHold{err, c.r.stamp()})
		return
	}
	c.mu.Lock()
	c.holds++
	c.spans = append(c.spans, holdSpan{from: c.r.stamp(), begin: time.Now()})
	nth := len(c.spans) - 1
	c.held = time.Now()
	c.holdCut = c.holdCut || slices.ContainsFunc(c.endCalls, func(what string) bool { return slices.Contains(cutsHolds, what) })
	c.mu.Unlock()
	if a.N%3 == 0 { // also on the loop, as the channel closes
		ch.CloseFuture().OnDone(func(struct{}, error) { release() })
	}
	c.r.actors.Go(func() {
		time.Sleep(milliseconds(a.Wait))
		if a.Kind == "Answer" {
			c.writeBytes(asTCP(ch), a.N, true, false)
		}
		c.mu.Lock()
		c.spans[nth].to, c.spans[nth].end = c.r.stamp(), time.Now()
		if c.holds--; c.holds == 0 {
			c.released = time.Now()
		}
		c.mu.Unlock()
		for range 1 + a.N%2 { // the second call has no effect
			release()
		}
	})
}
