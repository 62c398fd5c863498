//go:build linux

package sockets

import (
	"time"

	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// idle judges a report of an idle time, at the time of the report.
func (c *conn) idle(kind tcp.IdleKind) {
	k, ours := c.find(c.r.k.Connections())
	c.mu.Lock()
	defer c.mu.Unlock()
	timeout, now := milliseconds(c.r.p.Options.Idle[kind]), time.Now()
	if timeout == 0 {
		c.violateLocked("the channel is idle (%v), and has no timeout for that", kind)
	}
	defer func() { c.idleSince[kind] = now }()
	if k == nil || kind != tcp.WriteIdle && c.inputChanges(now) {
		return
	}
	if !c.owesInput(kind, ours) {
		c.violateLocked("the channel is idle (%v), and the peer owes no input", kind)
	}
	if lasted := now.Sub(c.idleBegan(kind, ours)); lasted != timeout {
		c.violateLocked("the channel is idle (%v) after %v, want %v", kind, lasted, timeout)
	}
}

// inputChanges reports whether the judge cannot tell if the peer owes input: a pause, a hold
// or the input begins or ends at the same time, or a hold has lost its effect. Requires mu.
func (c *conn) inputChanges(now time.Time) bool {
	quiesced := c.r.quiesced.Load() > 0 && c.r.start.Add(time.Duration(c.r.quiescedAt.Load())).Equal(now)
	return quiesced || c.holdCut || c.switched.Equal(now) || c.released.Equal(now) || c.held.Equal(now)
}

// owesInput reports whether idle times of a kind pass. Those of ReadIdle and AllIdle pass
// only while the handler waits for input. Requires mu.
func (c *conn) owesInput(kind tcp.IdleKind, ours *kernel.End) bool {
	return kind == tcp.WriteIdle || !c.paused && c.holds == 0 && !ours.EndRead && c.r.quiesced.Load() == 0
}

// idleBegan returns when the idle time of a kind began. Requires mu.
func (c *conn) idleBegan(kind tcp.IdleKind, ours *kernel.End) time.Time {
	began := c.idleSince[kind]
	later := func(t time.Time) {
		if t.After(began) {
			began = t
		}
	}
	if kind != tcp.WriteIdle {
		later(ours.LastRead)
		later(c.resumed)
		later(c.released)
	}
	if kind != tcp.ReadIdle {
		later(ours.LastTaken)
	}
	return began
}

// checkIdle checks, while every goroutine waits, that no idle time has passed without a report.
func (c *conn) checkIdle(ours *kernel.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind := tcp.ReadIdle; kind <= tcp.AllIdle; kind++ {
		timeout := milliseconds(c.r.p.Options.Idle[kind])
		if timeout == 0 || kind != tcp.WriteIdle && c.holdCut || !c.owesInput(kind, ours) {
			continue
		}
		if lasted := time.Since(c.idleBegan(kind, ours)); lasted > timeout {
			c.violateLocked("the channel has been idle (%v) for %v without a report, want one after %v", kind, lasted, timeout)
		}
	}
}
