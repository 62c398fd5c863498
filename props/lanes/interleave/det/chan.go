package det

import (
	"iter"
	"unsafe"
)

// chanState is what the scheduler knows of a channel. Values of a channel with a
// buffer go through the channel itself; one without is a meeting, which is
// arranged here, since of two goroutines only one runs.
type chanState struct {
	obj    Obj
	key    unsafe.Pointer // keeps the channel alive: its address is not used again in the run
	closed bool
	queue  []offer // who waits for a partner
}

// waiter is one blocked operation, or select.
type waiter struct {
	fired bool // a partner, or the close, has come
	which int  // the case
	ok    bool
}

type offer struct {
	w     *waiter
	which int
	send  bool
	slot  unsafe.Pointer // of the element
}

//go:norace
func stateOf(key unsafe.Pointer) *chanState {
	s := current
	for _, c := range s.chans {
		if c.key == key {
			return c
		}
	}
	n := len(s.chans)
	if n == cap(s.chans) {
		grown := make([]*chanState, n, 2*n)
		copy(grown, s.chans)
		s.chans = grown
	}
	s.chans = s.chans[:n+1]
	c := s.chans[n]
	if c == nil {
		c = &chanState{queue: make([]offer, 0, 8)}
		s.chans[n] = c
	}
	c.obj, c.key, c.closed, c.queue = Obj{}, key, false, c.queue[:0]
	return c
}

//go:norace
func recvKey[T any](c <-chan T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c)) }

//go:norace
func sendKey[T any](c chan<- T) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c)) }

// partner takes the first waiting operation of the other direction out.
//
//go:norace
func (c *chanState) partner(send bool) (offer, bool) {
	for i := 0; i < len(c.queue); i++ {
		o := c.queue[i]
		if o.w.fired || o.send != send {
			continue
		}
		for j := i + 1; j < len(c.queue); j++ {
			c.queue[j-1] = c.queue[j]
		}
		c.queue = c.queue[:len(c.queue)-1]
		return o, true
	}
	return offer{}, false
}

//go:norace
func (c *chanState) has(send bool) bool {
	for i := range c.queue {
		if o := &c.queue[i]; !o.w.fired && o.send == send {
			return true
		}
	}
	return false
}

//go:norace
func (c *chanState) wait(o offer) {
	k := 0
	for i := range c.queue { // forget those of selects that went another way
		if !c.queue[i].w.fired {
			c.queue[k] = c.queue[i]
			k++
		}
	}
	c.queue = append(c.queue[:k], o)
}

// forget takes a waiter out: it goes on without a partner.
//
//go:norace
func (c *chanState) forget(w *waiter) {
	k := 0
	for i := range c.queue {
		if c.queue[i].w != w {
			c.queue[k] = c.queue[i]
			k++
		}
	}
	c.queue = c.queue[:k]
}

// one does a single operation that blocks until it can.
//
//go:norace
func one(op Op, c Case) {
	cs := c.state()
	if cs == nil {
		Enter(nil, op)
		Forever()
	}
	Enter(&cs.obj, op)
	var w *waiter
	for !c.ready() {
		if w == nil {
			w = &waiter{}
			c.wait(w, 0)
		}
		Block(op, &cs.obj)
		if w.fired {
			c.fired(w)
			return
		}
	}
	if w != nil {
		cs.forget(w)
	}
	c.do()
}

// Recv is the receive expression.
//
//go:norace
func Recv[T any](c <-chan T) T {
	if current == nil {
		return <-c
	}
	r := From(c)
	one(OpRecv, r)
	return r.v
}

// Recv2 is the receive expression with two values.
//
//go:norace
func Recv2[T any](c <-chan T) (T, bool) {
	if current == nil {
		v, ok := <-c
		return v, ok
	}
	r := From(c)
	one(OpRecv, r)
	return r.v, r.ok
}

// Range is what a range over a channel ranges over.
//
//go:norace
func Range[T any](c <-chan T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			v, ok := Recv2(c)
			if !ok || !yield(v) {
				return
			}
		}
	}
}

// Close is close of a channel.
//
//go:norace
func Close[T any](c chan<- T) {
	if current == nil || c == nil {
		close(c)
		return
	}
	cs := stateOf(sendKey(c))
	Enter(&cs.obj, OpClose)
	close(c)
	cs.closed = true
	Did(&cs.obj, OpClose, true, 0)
	Wake(&cs.obj)
}

// Closed says that a channel was closed by code that is not instrumented.
//
//go:norace
func Closed[T any](c <-chan T) {
	if current == nil || c == nil {
		return
	}
	cs := stateOf(recvKey(c))
	cs.closed = true
	Did(&cs.obj, OpClose, true, 0)
	Wake(&cs.obj)
}

// Len is len of a channel. What waits to be sent on one without a buffer does not
// count, as in Go.
//
//go:norace
func Len[T any](c <-chan T) int {
	if current == nil || c == nil {
		return len(c)
	}
	cs := stateOf(recvKey(c))
	Enter(&cs.obj, OpLen)
	n := len(c)
	Did(&cs.obj, OpLen, true, int64(n))
	return n
}

// Cap is cap of a channel: it never changes, so it is no scheduling point.
//
//go:norace
func Cap[T any](c <-chan T) int { return cap(c) }

// Make is make of a channel.
//
//go:norace
func Make[C any](c C) C { return c }

// Forever is a select without cases, or the use of a nil channel.
//
//go:norace
func Forever() {
	for {
		Block(OpSelect)
	}
}
