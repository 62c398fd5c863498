package det

import (
	"unsafe"
)

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
