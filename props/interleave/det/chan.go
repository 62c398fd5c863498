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

// Case is one case of a select.
type Case interface {
	state() *chanState // nil for a nil channel
	ready() bool
	do()
	wait(w *waiter, which int)
	fired(w *waiter)
}

// Receive is the receive from a channel, on its own or in a select.
type Receive[T any] struct {
	c  <-chan T
	cs *chanState
	v  T
	ok bool
}

// From is a case that receives from c.
//
//go:norace
func From[T any](c <-chan T) *Receive[T] {
	r := &Receive[T]{c: c}
	if c != nil && current != nil {
		r.cs = stateOf(recvKey(c))
	}
	return r
}

// Get returns what the case received.
//
//go:norace
func (r *Receive[T]) Get() T { return r.v }

// Get2 returns what the case received, and whether it was sent.
//
//go:norace
func (r *Receive[T]) Get2() (T, bool) { return r.v, r.ok }

//go:norace
func (r *Receive[T]) state() *chanState { return r.cs }

//go:norace
func (r *Receive[T]) ready() bool {
	if r.cs == nil {
		return false
	}
	return len(r.c) > 0 || r.cs.closed || r.cs.has(true) || isClosed(r.c)
}

// isClosed may be asked of an empty channel only: nobody waits to send on it for
// real, so that what comes out is its end.
//
//go:norace
func isClosed[T any](c <-chan T) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

//go:norace
func (r *Receive[T]) do() {
	if cap(r.c) == 0 && !r.cs.closed {
		if o, ok := r.cs.partner(true); ok {
			raceAcquire(unsafe.Pointer(r.cs))
			r.v, r.ok = *(*T)(o.slot), true
			o.w.fired, o.w.which, o.w.ok = true, o.which, true
			raceRelease(unsafe.Pointer(r.cs))
			Did(&r.cs.obj, OpRecv, true, 1)
			Wake(&r.cs.obj)
			return
		}
	}
	r.v, r.ok = <-r.c
	Did(&r.cs.obj, OpRecv, r.ok, 0)
	if r.ok {
		Wake(&r.cs.obj)
	}
}

//go:norace
func (r *Receive[T]) wait(w *waiter, which int) {
	if cap(r.c) == 0 {
		r.cs.wait(offer{w: w, which: which, slot: unsafe.Pointer(&r.v)})
	}
}

//go:norace
func (r *Receive[T]) fired(w *waiter) {
	raceAcquire(unsafe.Pointer(r.cs))
	r.ok = w.ok
	Did(&r.cs.obj, OpRecv, true, 1)
}

// Sending is the send on a channel, on its own or in a select.
type Sending[T any] struct {
	c  chan<- T
	cs *chanState
	v  T
}

// To is a channel to send on.
//
//go:norace
func To[T any](c chan<- T) *Sending[T] {
	x := &Sending[T]{c: c}
	if c != nil && current != nil {
		x.cs = stateOf(sendKey(c))
	}
	return x
}

// Put is a case that sends v.
//
//go:norace
func (x *Sending[T]) Put(v T) *Sending[T] {
	x.v = v
	return x
}

// Send is the send statement.
//
//go:norace
func (x *Sending[T]) Send(v T) {
	x.v = v
	if current == nil {
		x.c <- v
		return
	}
	one(OpSend, x)
}

//go:norace
func (x *Sending[T]) state() *chanState { return x.cs }

//go:norace
func (x *Sending[T]) ready() bool {
	if x.cs == nil {
		return false
	}
	return x.cs.closed || len(x.c) < cap(x.c) || x.cs.has(false)
}

//go:norace
func (x *Sending[T]) do() {
	if cap(x.c) == 0 && !x.cs.closed {
		o, _ := x.cs.partner(false)
		*(*T)(o.slot) = x.v
		o.w.fired, o.w.which, o.w.ok = true, o.which, true
		raceRelease(unsafe.Pointer(x.cs))
		Did(&x.cs.obj, OpSend, true, 1)
		Wake(&x.cs.obj)
		return
	}
	x.c <- x.v // panics if it is closed
	Did(&x.cs.obj, OpSend, true, 0)
	Wake(&x.cs.obj)
}

//go:norace
func (x *Sending[T]) wait(w *waiter, which int) {
	if cap(x.c) == 0 {
		raceRelease(unsafe.Pointer(x.cs))
		x.cs.wait(offer{w: w, which: which, send: true, slot: unsafe.Pointer(&x.v)})
	}
}

//go:norace
func (x *Sending[T]) fired(*waiter) {
	raceAcquire(unsafe.Pointer(x.cs))
	Did(&x.cs.obj, OpSend, true, 1)
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

// Select is the select statement: it returns the index of the case that happened,
// or -1 for the default.
//
//go:norace
func Select(hasDefault bool, cases ...Case) int {
	s := current
	if s == nil {
		panic("det: a select outside of a run")
	}
	var waits [maxWaits]*Obj
	n := 0
	for _, c := range cases {
		if cs := c.state(); cs != nil {
			if n == maxWaits {
				panic("det: a select of too many cases")
			}
			waits[n] = &cs.obj
			n++
		}
	}
	var first *Obj
	if n > 0 {
		first = waits[0]
	}
	Enter(first, OpSelect)
	var w *waiter
	for {
		if i := s.readyCase(cases); i >= 0 {
			forgetAll(w, cases)
			cases[i].do()
			return i
		}
		if hasDefault {
			for _, o := range waits[:n] {
				Did(o, OpSelect, false, -1)
			}
			return -1
		}
		if w == nil {
			w = &waiter{}
			for i, c := range cases {
				if c.state() != nil {
					c.wait(w, i)
				}
			}
		}
		Block(OpSelect, waits[:n]...)
		if w.fired {
			cases[w.which].fired(w)
			return w.which
		}
	}
}

//go:norace
func forgetAll(w *waiter, cases []Case) {
	if w == nil {
		return
	}
	for _, c := range cases {
		if cs := c.state(); cs != nil {
			cs.forget(w)
		}
	}
}

// readyCase returns a case that can happen, or -1; the strategy chooses among
// several, as the runtime would by chance.
//
//go:norace
func (s *Sched) readyCase(cases []Case) int {
	var ready [2 * maxWaits]int
	n := 0
	for i, c := range cases {
		if c.state() != nil && n < len(ready) && c.ready() {
			ready[n] = i
			n++
		}
	}
	switch n {
	case 0:
		return -1
	case 1:
		return ready[0]
	}
	return ready[s.chooseCase(ready[:n])]
}

//go:norace
func (s *Sched) chooseCase(ready []int) int {
	d := &s.decision
	g := s.cur
	d.Runnable, d.Cur, d.Prev, d.Case, d.Key = ready, -1, g.id, true, mix(s.r.Class, 's')
	n := g.turns
	g.turns++
	i := 0
	if !s.fair {
		i = max(0, s.st.Next(d))
	}
	d.Case = false
	if i != 0 && len(s.switches) < cap(s.switches) {
		sw := Switch{G: g.id, N: n, To: ready[i]}
		if s.opt.Trace {
			sw.Site = lineOf(g.site)
		}
		s.switches = append(s.switches, sw)
	}
	return i
}
