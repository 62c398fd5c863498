//go:build linux

package sockets

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"eventide/core"
	"eventide/core/tcp"
)

// write is a call of Write, WriteAndFlush or Flush.
type write struct {
	id              byte
	n               int
	began, returned int64
	refused         error
	uncertain       bool // it failed while the channel closed, and may have been accepted
	inLoop          bool
	pending         bool // when its listener was added, on the loop
	flush           bool // a Flush, without bytes
	future          writeFuture

	// Of its listener.
	done   int
	stamp  int64
	result int
	err    error
}

// firstBroadcast is the first id of a broadcast; smaller ids are those of writes.
const firstBroadcast = 200

// payload returns the bytes of a write: the first is its id, and the rest follow from it.
func payload(id byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = id + byte(i*13+i>>8)
	}
	return b
}

// writeBytes makes a write of n bytes.
func (c *conn) writeBytes(ch channel, n int, flush, inLoop bool) *write {
	c.mu.Lock()
	if len(c.writes) >= firstBroadcast || n == 0 && len(c.writes) >= firstBroadcast/2 {
		c.mu.Unlock()
		return nil
	}
	w := &write{id: byte(len(c.writes)), n: n, inLoop: inLoop, began: c.r.stamp()}
	c.writes = append(c.writes, w)
	c.unflushed = c.unflushed && !flush
	c.mu.Unlock()
	b := payload(w.id, n)
	c.bytesBegin(ch, n)
	f := ch.write(b, flush)
	clear(b) // the channel has a copy
	c.checkMark(ch, inLoop)
	c.observe(w, f)
	c.mu.Lock()
	c.returned += int64(n)
	c.unflushed = c.unflushed || !flush
	c.mu.Unlock()
	return w
}

// bytesBegin records that n bytes are about to be written to ch, and how many may wait then: those
// that wait now, and those of all calls that have not returned. ch is nil if Active was not called
// yet; a broadcast may have reached the channel nevertheless, so all bytes may wait.
func (c *conn) bytesBegin(ch channel, n int) {
	c.mu.Lock()
	c.begun += int64(n)
	most := c.begun
	if ch != nil {
		most -= c.returned
	}
	c.mu.Unlock()
	if ch != nil {
		most += ch.PendingBytes()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peak = max(c.peak, most)
}

// checkMark checks on the loop, which alone sends bytes, that a channel is unwritable if more bytes
// wait than the high mark.
func (c *conn) checkMark(ch channel, inLoop bool) {
	over := ofTCP(ch)
	if over == nil || !inLoop {
		return
	}
	if pending := over.PendingBytes(); pending > int64(c.r.p.Options.High) && over.IsWritable() {
		c.violate("writability: true with %d bytes that wait, and a high mark of %d", pending, c.r.p.Options.High)
	}
}

func (c *conn) flush(ch channel, inLoop bool) {
	c.mu.Lock()
	if len(c.writes) >= firstBroadcast {
		c.mu.Unlock()
		return
	}
	w := &write{flush: true, inLoop: inLoop, began: c.r.stamp(), id: byte(len(c.writes))}
	c.writes = append(c.writes, w)
	c.unflushed = false
	c.mu.Unlock()
	c.observe(w, ch.flush())
}

// observe records the outcome of a write, now and when its future completes.
func (c *conn) observe(w *write, f writeFuture) {
	err := f.Err()
	pending := false
	if w.inLoop && err == nil {
		select {
		case <-f.Done():
		default:
			pending = true
			if n, err := f.Wait(context.Background()); n != 0 || err != core.ErrInEventLoop {
				c.violate("G18: Wait of a pending write returns %d and %v on the loop, want 0 and %v", n, err, core.ErrInEventLoop)
			}
		}
	}
	if !pending && c.r.group != nil { // of core/tcp, a write may wait for its turn again while the loop completes others
		c.checkWait(w, f)
	}
	c.mu.Lock()
	w.returned, w.refused, w.pending, w.future = c.r.stamp(), err, pending, f
	var closed *core.ClosedError
	if errors.As(err, &closed) && !c.wasClosed(w.began) {
		c.uncertain += int64(w.n) // the channel may have accepted it and closed before f.Err was called
		w.uncertain = true
	}
	c.mu.Unlock()
	f.OnDone(func(n int, err error) {
		c.mu.Lock()
		w.done++
		w.stamp, w.result, w.err = c.r.stamp(), n, err
		c.mu.Unlock()
		if nth := c.record("written"); err == nil {
			c.react("written", nth)
		}
	})
}

// errGone is why the context of checkWait has ended.
var errGone = errors.New("the caller of the program waits no more")

// checkWait checks that Wait with a context that has ended returns at once: the outcome of a write that
// is complete, on the loop too, or else the cause of the context.
func (c *conn) checkWait(w *write, f writeFuture) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errGone)
	complete := false
	select {
	case <-f.Done():
		complete = true
	default:
	}
	n, err := f.Wait(ctx)
	switch {
	case err == errGone && !complete:
	case err == errGone, err == core.ErrInEventLoop, !reflect.DeepEqual(err, f.Err()):
		c.violate("Wait of write %d, which is complete, returns %d and %v, and Err is %v", w.id, n, err, f.Err())
	}
	if n < 0 || n > w.n {
		c.violate("Wait of write %d returns %d, and it has %d bytes", w.id, n, w.n)
	}
}

// wasClosed reports whether the channel was closed at a stamp. Requires mu.
func (c *conn) wasClosed(stamp int64) bool {
	return slices.ContainsFunc(c.events, func(e event) bool { return e.name == "CloseFuture" && e.stamp < stamp })
}

// broadcast writes to all channels.
func (r *run) broadcast(n int) {
	id := int(r.broadcastCount.Add(1)) - 1 + firstBroadcast
	if id > 255 || n == 0 {
		return
	}
	r.broadcastSizes[id-firstBroadcast].Store(int64(n))
	for _, c := range r.conns {
		c.bytesBegin(c.channel(), n)
		c.mu.Lock()
		c.uncertain += int64(n)
		c.mu.Unlock()
	}
	policy := tcp.BroadcastPolicy(id % 4)
	var reached []*tcp.Channel
	sent, err := tcp.Broadcast(func(yield func(*tcp.Channel) bool) {
		for ch := range tcp.Channels(r.workers) {
			reached = append(reached, ch)
			if policy == tcp.CloseUnwritable {
				r.maybeCloses(ch)
			}
			if !yield(ch) {
				return
			}
		}
	}, payload(byte(id), n), policy)
	for _, c := range r.conns {
		c.mu.Lock()
		c.returned += int64(n)
		c.mu.Unlock()
	}
	r.judgeBroadcast(reached, policy, sent, err)
}

// maybeCloses records that a broadcast is about to close a channel if it is not writable. The broadcast may reach the
// channel before Active is called: then no connection has it yet, and has records the call.
func (r *run) maybeCloses(ch *tcp.Channel) {
	r.early.Lock()
	defer r.early.Unlock()
	for _, c := range r.conns {
		if known := c.channel(); known != nil && ofTCP(known) == ch {
			c.recordEndCall("Broadcast", false)
			return
		}
	}
	r.early.closes = append(r.early.closes, ch)
}

// judgeBroadcast compares the result of a broadcast with the channels that it has reached.
func (r *run) judgeBroadcast(reached []*tcp.Channel, policy tcp.BroadcastPolicy, sent tcp.BroadcastResult, err error) {
	var unwritable *tcp.UnwritableError
	switch stopped := errors.As(err, &unwritable); {
	case err != nil && (!stopped || policy != tcp.StopAtUnwritable):
		r.violate("Broadcast with policy %d: %v", policy, err)
	case stopped && (len(reached) == 0 || unwritable.Channel != reached[len(reached)-1] || sent.Unwritable != 1):
		r.violate("Broadcast stops at a channel that is not the last of those it has reached, with %+v", sent)
	case !stopped && policy == tcp.StopAtUnwritable && sent.Unwritable > 0, policy == tcp.WriteUnwritable && sent.Unwritable > 0:
		r.violate("Broadcast with policy %d counts %+v", policy, sent)
	}
	if sent.Accepted+sent.Unwritable+sent.Refused != len(reached) {
		r.violate("Broadcast has reached %d channels, and counts %+v", len(reached), sent)
	}
	crossed := 0
	for _, c := range r.conns {
		c.mu.Lock()
		if c.peak > int64(r.p.Options.High) {
			crossed++
		}
		c.mu.Unlock()
	}
	if sent.Unwritable > crossed {
		r.violate("Broadcast counts %+v, and only on %d channels more bytes than the high mark may have waited", sent, crossed)
	}
}
