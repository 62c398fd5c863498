//go:build linux

package sockets

import "eventide/core"

// look is a call of a getter, and a check of its answer.
type look func()

// looks returns the getters of a channel of core/blocking, of its group, and of the write that was made
// last.
func (c *conn) looks(ch channel) []look {
	c.mu.Lock()
	var last writeFuture
	if n := len(c.writes); n > 0 {
		last = c.writes[n-1].future
	}
	c.mu.Unlock()
	group, most := c.r.group, c.r.p.Pending
	all := []look{
		func() {
			select {
			case <-ch.CloseFuture().Done():
				if ch.IsOpen() {
					c.violate("the CloseFuture is complete, and IsOpen is true")
				}
			default:
			}
		},
		func() {
			if n := ch.PendingBytes(); n < 0 {
				c.violate("PendingBytes is %d", n)
			}
		},
		func() {
			if cause := ch.CloseCause(); cause != nil && ch.IsOpen() {
				c.violate("CloseCause is %v, and IsOpen is true", cause)
			}
		},
		func() { _ = ch.CloseCause() },
		func() {
			if before, after := group.State(), group.State(); after < before {
				c.violate("the state of the group goes from %v back to %v", before, after)
			}
		},
		func() {
			if s := group.Stats(); s.Channels < 0 || most > 0 && s.Channels > most || s.Idle < 0 || s.Accepted < s.Ran+s.Cancelled {
				c.violate("the Stats of the group are %+v, with at most %d channels", s, most)
			}
		},
		func() { _ = group.String() },
		func() {
			seen := map[core.EventExecutor]bool{}
			for ex := range group.All() {
				if seen[ex] {
					c.violate("All yields an executor twice")
				}
				seen[ex] = true
			}
		},
	}
	if last != nil {
		all = append(all, func() { _ = last.Err() })
	}
	return all
}

// watch calls the getters of every channel in each millisecond. The last call is another one each time:
// the race detector sees that call beside what the channel does until the next millisecond.
func (r *run) watch() {
	for at := 0; at < r.p.End.At+lastEvent; at++ {
		r.sleepUntil(at)
		for _, c := range r.conns {
			ch := c.channel()
			if ch == nil {
				continue
			}
			all := c.looks(ch)
			for i := range all {
				all[(at+i)%len(all)]()
			}
		}
	}
}
