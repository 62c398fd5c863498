//go:build linux

package sockets

import (
	"iter"
	"reflect"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// hasEnded reports whether the registration of a channel has ended. A channel of package blocking is the
// only one of its executor.
func hasEnded(ch channel) bool {
	if over := ofTCP(ch); over != nil {
		return !isRegistered(over)
	}
	for range ch.EventLoop().Channels() {
		return false
	}
	return true
}

// isRegistered reports whether a channel is registered with its loop. Package tcp registers a value
// of another type, at the address of the channel.
func isRegistered(ch *tcp.Channel) bool {
	for registered := range ch.EventLoop().Channels() {
		if v := reflect.ValueOf(registered); v.Kind() == reflect.Pointer && v.Pointer() == reflect.ValueOf(ch).Pointer() {
			return true
		}
	}
	return false
}

// checkLoop checks that a channel that becomes active is on a loop of the workers.
func (h *handler) checkLoop(ch channel) {
	if ofTCP(ch) == nil {
		return
	}
	for loop := range h.r.workers.All() {
		if loop == core.EventExecutor(ch.EventLoop()) {
			return
		}
	}
	h.c.violate("the channel is on a loop that is not of the workers")
}

// checkRegistrations checks, while every goroutine waits and before a shutdown, that the loops have
// a registration for each channel that has not ended and for the listener, those of the dials that are
// under way, and no other.
func (r *run) checkRegistrations(dials int) {
	want := int64(dials)
	if r.listener != nil && r.listener.CloseCause() == nil {
		want++
	}
	for _, c := range r.conns {
		c.mu.Lock()
		if c.counts["Active"] > c.counts["Unregistered"] {
			want++
		}
		c.mu.Unlock()
	}
	got := r.workers.Stats().Registrations
	if r.boss != r.workers {
		got += r.boss.Stats().Registrations
	}
	if got != want {
		r.violate("the loops have %d registrations, want %d: dials that are under way have %d%s", got, want, dials, r.timeline())
	}
}

// checkTimers checks, while every goroutine waits and before a shutdown, that the loops have the timers of
// the program and those of the idle timeouts of open channels, and no other.
func (r *run) checkTimers() {
	var want bounds
	for _, c := range r.conns {
		over := ofTCP(c.channel())
		c.mu.Lock()
		if over != nil && c.counts["Active"] > c.counts["CloseFuture"] {
			for _, timeout := range r.p.Options.Idle {
				want.add(timeout > 0, timeout > 0 && over.IsOpen())
			}
		}
		waiting := int64(c.timers.accepted - c.timers.ran)
		c.mu.Unlock()
		want.least, want.most = want.least+waiting, want.most+waiting
	}
	if n := r.workers.Stats().Timers; !want.contain(n) {
		r.violate("the loops have %d timers, want %d to %d", n, want.least, want.most)
	}
}

// checkReleased checks, while every goroutine waits, that a channel which closes is not writable after
// the last release.
func (c *conn) checkReleased(ch *tcp.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == 0 && (ch.IsWritable() || ch.BytesBeforeUnwritable() != 0 || ch.BytesBeforeWritable() != 0) {
		c.violateLocked("IsOpen is false, no hold is left, and IsWritable is %v, BytesBeforeUnwritable %d, BytesBeforeWritable %d", ch.IsWritable(), ch.BytesBeforeUnwritable(), ch.BytesBeforeWritable())
	}
}

// checkLists checks, while every goroutine waits, that Channels yields the open channels once each.
func (r *run) checkLists() {
	all, accepted := map[*tcp.Channel]int{}, map[*tcp.Channel]int{}
	for ch := range tcp.Channels(r.workers) {
		all[ch]++
	}
	if r.listener != nil {
		for ch := range r.listener.Channels() {
			accepted[ch]++
		}
	}
	for _, c := range r.conns {
		known := c.channel()
		if known == nil {
			continue
		}
		ch, want := ofTCP(known), 0
		if ch.IsOpen() {
			want = 1
		}
		if all[ch] != want {
			c.violate("Channels yields the channel %d times, and IsOpen is %v", all[ch], ch.IsOpen())
		}
		if c.spec.Dialled || c.spec.Embedded {
			want = 0
		}
		if accepted[ch] != want {
			c.violate("Channels of the listener yields the channel %d times, want %d", accepted[ch], want)
		}
		delete(all, ch)
		delete(accepted, ch)
	}
	if len(all)+len(accepted) > 0 {
		r.violate("Channels yields %d channels, and Channels of the listener %d, that the run does not know", len(all), len(accepted))
	}
}

// list iterates over the first channels, up to most, and no further.
func (r *run) list(most int) {
	lists := []iter.Seq[*tcp.Channel]{tcp.Channels(r.workers)}
	if r.listener != nil {
		lists = append(lists, r.listener.Channels())
	}
	for _, list := range lists {
		seen := map[*tcp.Channel]bool{}
		for ch := range list {
			if seen[ch] {
				r.violate("an iteration yields a channel to %v twice", ch.RemoteAddr())
			}
			if seen[ch] = true; len(seen) > most%len(r.conns) {
				break
			}
		}
	}
}

// checkAccepted checks, while every goroutine waits, that each connection which was accepted has a
// channel, except one that waits for room in the queue of a worker.
func (r *run) checkAccepted(connections []kernel.Connection) {
	open, channels := 0, 0
	for _, k := range connections {
		if k.Accepted && k.Ends[1].Ours && !k.Ends[1].Closed {
			open++
		}
	}
	for _, c := range r.conns {
		c.mu.Lock()
		if c.ch != nil && !c.spec.Dialled && !c.spec.Embedded && c.counts["CloseFuture"] == 0 {
			channels++
		}
		c.mu.Unlock()
	}
	if waits := open - channels; waits < 0 || waits > 1 || waits == 1 && r.p.Pending == 0 {
		r.violate("%d accepted connections are open, and %d have channels", open, channels)
	}
}
