//go:build linux

package sockets

import (
	"errors"
	"io"
	"slices"
	"time"

	"eventide/core"
)

// mostReads is how often Read is called before ReadComplete: core/tcp calls it so often for one
// readiness event, and core/blocking once.
func (r *run) mostReads() int {
	if r.group != nil {
		return 1
	}
	return 16
}

// inputComes checks whether the handler may get input now. It is called in Read.
func (c *conn) inputComes() {
	ended := c.r.inputEnded.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	c.inputEvents++
	switch {
	case ended:
		c.violateLocked("Quiesce has returned, and Read is called")
	case c.paused && (c.pausedInside || time.Now().After(c.switched)):
		c.violateLocked("Read is called, and the input is paused")
	case c.reads > c.r.mostReads():
		c.violateLocked("G13: Read is called %d times without ReadComplete, want %d or fewer", c.reads, c.r.mostReads())
	case c.r.group != nil && c.counts["InputShutdown"] > 0:
		c.violateLocked("Read is called after InputShutdown")
	}
}

// inputIsComplete checks whether there was input. It is called in ReadComplete.
func (c *conn) inputIsComplete() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inputEvents == 0 {
		c.violateLocked("ReadComplete is called without a Read or InputShutdown before it")
	}
	c.reads, c.inputEvents = 0, 0
}

// checkCompleted checks, while every goroutine waits, that ReadComplete has followed the last Read, if
// nothing has ended the channel. Requires mu.
func (c *conn) checkCompleted() {
	if c.inputEvents > 0 && len(c.endCalls) == 0 && c.counts["Error"] == 0 && c.counts["CloseFuture"] == 0 {
		c.violateLocked("every goroutine waits, and ReadComplete has not followed %d calls of Read", c.inputEvents)
	}
}

// judgeCallbacks checks the calls of the handler of a channel beyond their order.
func (c *conn) judgeCallbacks() {
	c.judgeErrors()
	called := func(e event, names ...string) bool { return slices.Contains(names, e.name) }
	for _, call := range c.endBegins {
		if call.what != "Close" && call.what != "CloseGracefully" {
			continue
		}
		for _, e := range c.events {
			if e.at > call.at && called(e, "Read", "InputShutdown", "Idle") {
				c.violate("G22: %s is called %v after %s", e.name, e.at-call.at, call.what)
			}
		}
	}
	if c.counts["Error"] > 0 || c.r.handlerFailed.Load() {
		return // Close leaves the close to the error
	}
	at := c.first("after Close")
	for i, e := range c.events {
		if at >= 0 && i > at && called(e, "WritabilityChanged", "ReadComplete") {
			c.violate("G22: %s is called after Close on the loop", e.name)
		}
	}
}

// judgeErrors checks that Error was called if and only if an error of the connection has closed the
// channel, and with that error.
func (c *conn) judgeErrors() {
	cause := c.ch.CloseCause()
	ofConnection := cause != nil && cause != io.EOF && !slices.ContainsFunc([]error{core.ErrHandlerFailed, core.ErrCloseDeadline, core.ErrShutdown, core.ErrShutdownTimeout},
		func(other error) bool { return errors.Is(cause, other) })
	switch {
	case ofConnection != (c.counts["Error"] > 0):
		c.violate("G22: the channel has closed with %v, and Error was called %d times", cause, c.counts["Error"])
	case c.counts["Error"] > 0 && c.failure != cause:
		c.violate("G22: Error was called with %v, and the channel has closed with %v", c.failure, cause)
	}
}
