//go:build linux

package sockets

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/tcp"
	"eventide/props/lanes/sockets/kernel"
)

// conn is a connection of a run: its channel, and what happened to it.
type conn struct {
	r    *run
	spec *Conn
	nth  int
	dial *core.Future[*tcp.Channel]

	dialDone atomic.Int32

	mu      sync.Mutex
	peer    *kernel.Peer
	ch      *tcp.Channel
	events  []event
	counts  map[string]int // of events, by name
	writes  []*write
	perhaps int64 // bytes of broadcasts, and of writes whose failure may be a refusal or a close
	input   int   // bytes that the handler got
	heard   bool  // the writability that the handler knows
	paused  bool
	unheard bool     // a body has written without a flush since the last flush
	ended   []string // the calls that end the channel, or refuse its writes
	open    bool     // the socket was open when the shutdown call returned
}

// event is what a handler or a future said.
type event struct {
	name  string
	stamp int64
	at    time.Duration
}

// write is a call of Write, WriteAndFlush or Flush.
type write struct {
	id           byte
	n            int
	began, ended int64
	refused      error
	perhaps      bool // it may have been accepted all the same
	inLoop       bool
	pending      bool // when its listener was added, on the loop
	flush        bool // a Flush, without bytes

	// Of its listener.
	done   int
	stamp  int64
	result int
	err    error
}

// What ids mean: those from firstBroadcast on are of broadcasts.
const firstBroadcast = 200

// payload is the bytes of a write: the first is its id, and none is like another's.
func payload(id byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = id + byte(i*13+i>>8)
	}
	return b
}

func (c *conn) setPeer(p *kernel.Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peer = p
}

// record adds an event, and returns which of its name it is.
func (c *conn) record(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{name, c.r.stamp(), time.Since(c.r.start)})
	c.counts[name]++
	return c.counts[name]
}

// names are those of the events so far.
func (c *conn) names() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		all = append(all, e.name)
	}
	return all
}

// closes reports whether a call that ends the channel has begun.
func (c *conn) closes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ended) > 0
}

func (c *conn) channel() *tcp.Channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ch
}

// do makes a call. inLoop says that a handler makes it.
func (c *conn) do(a Action, inLoop bool) {
	switch a.Kind {
	case "Quiesce":
		c.r.quiesced.CompareAndSwap(0, c.r.stamp())
		c.r.actors.Go(func() { _ = tcp.Quiesce(c.r.workers.Context(), c.r.workers) })
		return
	case "CloseListener":
		if c.r.listener != nil {
			c.r.listenerClosed.CompareAndSwap(0, c.r.stamp())
			c.r.listener.Close()
		}
		return
	case "Broadcast":
		c.r.broadcasts(a.N)
		return
	}
	ch := c.channel()
	if ch == nil {
		return
	}
	switch a.Kind {
	case "Write", "WriteAndFlush":
		c.writes1(ch, a.N, a.Kind == "WriteAndFlush", inLoop)
	case "Fill":
		for i := 0; i < 20 && ch.IsWritable(); i++ {
			c.writes1(ch, max(a.N, 1), i%2 == 0, inLoop)
		}
		c.flushes(ch, inLoop)
	case "Flush":
		c.flushes(ch, inLoop)
	case "Close":
		c.ends("Close", inLoop)
		ch.Close().OnDone(func(struct{}, error) { c.record("closed") })
		if inLoop {
			c.record("after Close")
		}
	case "CloseGracefully":
		c.ends("CloseGracefully", inLoop)
		deadline := time.Time{}
		if a.Wait > 0 {
			deadline = time.Now().Add(milliseconds(a.Wait))
		}
		ch.CloseGracefully(deadline).OnDone(func(_ struct{}, err error) { c.graceful(err, deadline) })
		if inLoop {
			c.record("after CloseGracefully")
		}
	case "CloseOutput":
		c.ends("CloseOutput", inLoop)
		ch.CloseOutput().OnDone(func(_ struct{}, err error) {
			c.record("output closed")
			if err == nil {
				c.record("output ended")
			}
		})
	case "Hold", "Answer":
		c.holds(ch, a)
	case "Pause", "Resume":
		c.mu.Lock()
		c.paused = a.Kind == "Pause"
		c.mu.Unlock()
		ch.SetAutoRead(a.Kind == "Resume")
	case "Panic":
		c.ends("Panic", inLoop)
		panic("a handler of the program")
	case "Goexit":
		c.ends("Goexit", inLoop)
		runtime.Goexit()
	}
}

// ends records that a call is about to begin that may end the channel, or refuse its writes.
func (c *conn) ends(what string, inLoop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, what)
}

func (c *conn) graceful(err error, deadline time.Time) {
	c.record("gracefully closed")
	if err == nil {
		c.record("drained")
	}
	if errors.Is(err, tcp.ErrCloseDeadline) && (time.Now().Before(deadline) || deadline.IsZero()) && c.counts["after CloseGracefully"] < 2 {
		c.mu.Lock()
		several := 0
		for _, e := range c.ended {
			if e == "CloseGracefully" {
				several++
			}
		}
		c.mu.Unlock()
		if several == 1 {
			c.r.violate("connection %d: CloseGracefully failed with %v, %v before its deadline", c.nth, err, time.Until(deadline))
		}
	}
}

func (c *conn) holds(ch *tcp.Channel, a Action) {
	release, err := ch.Hold()
	if err != nil {
		return
	}
	c.r.actors.Go(func() {
		time.Sleep(milliseconds(a.Wait))
		if a.Kind == "Answer" {
			c.writes1(ch, a.N, true, false)
		}
		release()
	})
}

// writes1 makes a write of n bytes.
func (c *conn) writes1(ch *tcp.Channel, n int, flush, inLoop bool) {
	c.mu.Lock()
	if len(c.writes) >= firstBroadcast || n == 0 && len(c.writes) >= firstBroadcast/2 {
		c.mu.Unlock()
		return
	}
	w := &write{id: byte(len(c.writes)), n: n, inLoop: inLoop, began: c.r.stamp()}
	c.writes = append(c.writes, w)
	c.unheard = c.unheard && !flush
	c.mu.Unlock()
	b := payload(w.id, n)
	var f tcp.WriteFuture
	if flush {
		f = ch.WriteAndFlush(b)
	} else {
		f = ch.Write(b)
	}
	clear(b) // the channel has a copy
	c.wrote(w, f)
	c.mu.Lock()
	c.unheard = c.unheard || !flush
	c.mu.Unlock()
}

func (c *conn) flushes(ch *tcp.Channel, inLoop bool) {
	c.mu.Lock()
	if len(c.writes) >= firstBroadcast {
		c.mu.Unlock()
		return
	}
	w := &write{flush: true, inLoop: inLoop, began: c.r.stamp(), id: byte(len(c.writes))}
	c.writes = append(c.writes, w)
	c.unheard = false
	c.mu.Unlock()
	c.wrote(w, ch.Flush())
}

// wrote listens to the future of a write.
func (c *conn) wrote(w *write, f tcp.WriteFuture) {
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
	w.ended, w.refused, w.pending = c.r.stamp(), err, pending
	var closed *tcp.ClosedError
	if errors.As(err, &closed) && !c.wasClosed(w.began) {
		c.perhaps += int64(w.n) // a close inside of the write, or on the loop meanwhile, fails it too
		w.perhaps = true
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

// broadcasts writes to all channels.
func (r *run) broadcasts(n int) {
	id := int(r.broadcast.Add(1)) - 1 + firstBroadcast
	if id > 255 || n == 0 {
		return
	}
	for _, c := range r.conns {
		c.mu.Lock()
		c.perhaps += int64(n)
		c.mu.Unlock()
	}
	_, err := tcp.Broadcast(tcp.Channels(r.workers), payload(byte(id), n), tcp.BroadcastPolicy(id%2))
	if err != nil {
		r.violate("Broadcast: %v", err)
	}
}
