//go:build linux

package sockets

import (
	"fmt"
	"slices"
	"strings"

	"eventide/props/lanes/sockets/kernel"
)

// judge checks a run that has ended.
func (r *run) judge() {
	for _, text := range r.k.Misuse() {
		r.violate("G24: %s", text)
	}
	connections := r.k.Connections()
	for _, c := range r.conns {
		c.judgeDial()
		k, ours := c.find(connections)
		c.judgeTasks()
		if c.ch == nil {
			if len(c.events) > 0 {
				r.violate("connection %d: %v without Active", c.nth, c.names())
			}
			continue
		}
		if k == nil {
			r.violate("connection %d has a channel, and the kernel knows no such connection", c.nth)
			continue
		}
		c.judgeEvents()
		c.judgeOutput(ours)
		c.judgeInput(k, ours)
		c.judgeReads(ours)
		c.judgeEnd(k, ours)
		if c.counts["CloseFuture"] == 1 {
			c.judgeCallbacks()
			c.judgeRefusals()
			c.judgeFutures()
			c.judgeTimes()
		}
	}
	if r.group != nil {
		r.judgeGroup()
		r.judgeBlockingReport(connections)
		r.judgePauses()
		r.judgeGroupAfterwards()
	} else {
		r.judgeListener(connections)
		r.judgeLoops()
		r.judgeReport(connections)
		r.judgeChannelLog()
	}
	for _, c := range r.conns { // the last, because these calls count and are logged
		if _, ours := c.find(connections); ours != nil && ours.Closed && c.counts["CloseFuture"] == 1 {
			c.judgeAfterwards(ours)
		}
	}
	r.judgeLogValues()
}

// find returns the kernel's record of the connection, and core's end of it.
func (c *conn) find(all []kernel.Connection) (*kernel.Connection, *kernel.End) {
	if c.ch == nil {
		return nil, nil
	}
	for i := range all {
		k := &all[i]
		switch c.ch.LocalAddr().String() {
		case k.Client.String():
			if k.Ends[0].Ours && k.Server.String() == c.ch.RemoteAddr().String() {
				return k, &k.Ends[0]
			}
		case k.Server.String():
			if k.Ends[1].Ours && k.Client.String() == c.ch.RemoteAddr().String() {
				return k, &k.Ends[1]
			}
		}
	}
	return nil, nil
}

func (c *conn) violate(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violateLocked(format, args...)
}

// violateLocked is violate. Requires mu.
func (c *conn) violateLocked(format string, args ...any) {
	c.r.violate("connection %d: "+format+"\nevents %s", append(append([]any{c.nth}, args...), lastOf(c.namesLocked()))...)
}

// lastOf joins the last of some names: a violation is about one of the last events.
func lastOf(names []string) string {
	const most = 30
	if n := len(names) - most; n > 0 {
		names = append([]string{fmt.Sprintf("(%d more)", n)}, names[n:]...)
	}
	return strings.Join(names, ", ")
}

// first returns the index of the first event of a name, or -1.
func (c *conn) first(name string) int {
	return slices.IndexFunc(c.events, func(e event) bool { return e.name == name })
}

// once lists the events that every channel has exactly once.
var once = []string{"Active", "CloseFuture", "Inactive", "Unregistered"}

// handlerCalls lists the methods of a handler.
var handlerCalls = []string{"Active", "Read", "ReadComplete", "WritabilityChanged", "InputShutdown", "Idle", "Error", "Inactive", "Unregistered"}

// judgeEvents checks which events there are, and their order (G22).
func (c *conn) judgeEvents() {
	if c.counts["Active"] == 0 && c.mayStayInactive() {
		if c.counts["CloseFuture"] != 1 || c.counts["Inactive"]+c.counts["Unregistered"]+c.counts["Read"]+c.counts["InputShutdown"] > 0 || c.counts["Error"] > 1 {
			c.violate("G22: the channel has never become active, want CloseFuture once, Error at most once, and no other event")
		}
		return
	}
	for _, name := range once {
		if c.counts[name] != 1 {
			c.violate("G22: %s %d times, want once", name, c.counts[name])
			return
		}
	}
	for _, name := range []string{"Error", "InputShutdown"} {
		if c.counts[name] > 1 {
			c.violate("G22: %s %d times, want at most once", name, c.counts[name])
		}
	}
	closed, inactive, unregistered := c.first("CloseFuture"), c.first("Inactive"), c.first("Unregistered")
	if first := slices.IndexFunc(c.events, func(e event) bool { return slices.Contains(handlerCalls, e.name) }); c.events[first].name != "Active" {
		c.violate("G22: Active is not the first call of the handler")
	}
	if !(closed < inactive && inactive < unregistered) {
		c.violate("G22: want CloseFuture, Inactive and Unregistered in this order")
	}
	for i, e := range c.events {
		switch {
		case !slices.Contains(handlerCalls, e.name) || e.name == "Inactive" || e.name == "Unregistered":
		case e.name == "Error" && c.r.group != nil:
			if i < closed || i > inactive {
				c.violate("G22: want Error between CloseFuture and Inactive")
			}
		case i > closed:
			c.violate("G22: %s after the close", e.name)
		}
	}
	for _, name := range []string{"closed", "gracefully closed", "output closed"} {
		if at := c.first(name); at >= 0 && name != "output closed" && at < closed {
			c.violate("G22: the future %q completes before CloseFuture", name)
		}
	}
	for _, call := range []string{"after Close", "after CloseGracefully"} {
		at := c.first(call)
		for i, e := range c.events {
			if at >= 0 && i > at && (e.name == "Read" || e.name == "InputShutdown" && call == "after Close" || e.name == "Idle") {
				c.violate("G22: %s %s", e.name, call)
			}
		}
	}
	c.judgeOrderOfWrites(closed, inactive)
}

// judgeOrderOfWrites checks the order in which futures of writes complete. Those whose
// listener was added on the loop while they were pending complete in the order of the calls
// of the loop, and before Inactive.
func (c *conn) judgeOrderOfWrites(closed, inactive int) {
	var last *write
	for _, w := range c.writes {
		if w.returned == 0 {
			continue // the call did not return: a handler that it called has panicked
		}
		if w.done != 1 {
			c.violate("G22: the future of write %d has completed %d times, want once", w.id, w.done)
		}
		if !w.pending {
			continue
		}
		if w.stamp > c.events[inactive].stamp {
			c.violate("G22: write %d completes after Inactive", w.id)
		}
		if w.err != nil && w.stamp < c.events[closed].stamp {
			c.violate("G22: write %d fails with %v before CloseFuture", w.id, w.err)
		}
		if last != nil && last.returned < w.began && last.stamp > w.stamp { // and not inside of the other call
			c.violate("G22: write %d completes before write %d, which the loop made before", w.id, last.id)
		}
		last = w
	}
}
