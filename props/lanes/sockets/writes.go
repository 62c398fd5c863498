//go:build linux

package sockets

import (
	"errors"
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
func (c *conn) writeBytes(ch channel, n int, flush, inLoop bool) {
	c.mu.Lock()
	if len(c.writes) >= firstBroadcast || n == 0 && len(c.writes) >= firstBroadcast/2 {
		c.mu.Unlock()
		return
	}
	w := &write{id: byte(len(c.writes)), n: n, inLoop: inLoop, began: c.r.stamp()}
	c.writes = append(c.writes, w)
	c.unflushed = c.unflushed && !flush
	c.mu.Unlock()
	b := payload(w.id, n)
	f := ch.write(b, flush)
	clear(b) // the channel has a copy
	c.observe(w, f)
	c.mu.Lock()
	c.unflushed = c.unflushed || !flush
	c.mu.Unlock()
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
		}
	}
	c.mu.Lock()
	w.returned, w.refused, w.pending = c.r.stamp(), err, pending
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
		c.mu.Lock()
		c.uncertain += int64(n)
		c.mu.Unlock()
	}
	_, err := tcp.Broadcast(tcp.Channels(r.workers), payload(byte(id), n), tcp.BroadcastPolicy(id%2))
	if err != nil {
		r.violate("Broadcast: %v", err)
	}
}
