package sync

import (
	real "sync"

	"eventide/props/lanes/interleave/det"
)

// WaitGroup is sync.WaitGroup.
type WaitGroup struct {
	o det.Obj
	n int // waited for; the real one has no way to ask
	w real.WaitGroup
}

// Add is WaitGroup.Add.
//
//go:norace
func (w *WaitGroup) Add(n int) {
	det.Enter(&w.o, det.OpAdd)
	w.w.Add(n)
	w.n += n
	det.Did(&w.o, det.OpAdd, true, int64(w.n))
	if w.n == 0 {
		det.Wake(&w.o)
	}
}

// Done is WaitGroup.Done.
//
//go:norace
func (w *WaitGroup) Done() { w.Add(-1) }

// Wait is WaitGroup.Wait.
//
//go:norace
func (w *WaitGroup) Wait() {
	det.Enter(&w.o, det.OpWait)
	for w.n > 0 && det.Active() {
		det.Block(det.OpWait, &w.o)
	}
	w.w.Wait() // at zero it returns at once; for the detector it is what orders
	det.Did(&w.o, det.OpWait, false, 0)
}

// Go is WaitGroup.Go.
func (w *WaitGroup) Go(f func()) {
	w.Add(1)
	det.Go(func() {
		defer w.Done()
		f()
	})
}

// Cond is sync.Cond.
type Cond struct {
	L Locker

	o       det.Obj
	waiting []*ticket
}

// ticket is one waiter of a Cond.
type ticket struct {
	o        det.Obj
	signaled bool
	c        chan struct{} // for the detector: the order that a signal makes
}

// NewCond is sync.NewCond.
func NewCond(l Locker) *Cond { return &Cond{L: l} }

// Wait is Cond.Wait.
//
//go:norace
func (c *Cond) Wait() {
	t := &ticket{c: make(chan struct{}, 1)}
	det.Enter(&c.o, det.OpWait)
	c.waiting = append(c.waiting, t)
	det.Did(&c.o, det.OpWait, true, 0)
	c.L.Unlock()
	for !t.signaled {
		det.Block(det.OpWait, &t.o)
	}
	<-t.c
	c.L.Lock()
}

// Signal is Cond.Signal.
//
//go:norace
func (c *Cond) Signal() {
	det.Enter(&c.o, det.OpSignal)
	if len(c.waiting) > 0 {
		c.first()
	}
	det.Did(&c.o, det.OpSignal, true, 1)
}

// Broadcast is Cond.Broadcast.
//
//go:norace
func (c *Cond) Broadcast() {
	det.Enter(&c.o, det.OpSignal)
	for len(c.waiting) > 0 {
		c.first()
	}
	det.Did(&c.o, det.OpSignal, true, 2)
}

//go:norace
func (c *Cond) first() {
	t := c.waiting[0]
	c.waiting = c.waiting[1:]
	t.signaled = true
	t.c <- struct{}{}
	det.Did(&t.o, det.OpSignal, true, 1)
	det.Wake(&t.o)
}

// Once is sync.Once.
type Once struct {
	m    Mutex
	done bool
	o    det.Obj
}

// Do is Once.Do.
func (o *Once) Do(f func()) {
	det.Enter(&o.o, det.OpOnce)
	det.Did(&o.o, det.OpLoad, false, 0)
	o.m.Lock()
	defer o.m.Unlock()
	if !o.done {
		defer o.finish()
		f()
	}
}

//go:norace
func (o *Once) finish() {
	o.done = true
	det.Did(&o.o, det.OpOnce, true, 1)
}

// OnceFunc is sync.OnceFunc.
func OnceFunc(f func()) func() {
	get := OnceValue(func() struct{} { f(); return struct{}{} })
	return func() { get() }
}

// OnceValue is sync.OnceValue.
func OnceValue[T any](f func() T) func() T {
	var once Once
	var v T
	var panicked any
	ok := false
	return func() T {
		once.Do(func() {
			defer func() {
				if !ok {
					panicked = recover()
					panic(panicked)
				}
			}()
			v = f()
			ok = true
		})
		if !ok {
			panic(panicked)
		}
		return v
	}
}

// OnceValues is sync.OnceValues.
func OnceValues[T, U any](f func() (T, U)) func() (T, U) {
	type pair struct {
		t T
		u U
	}
	get := OnceValue(func() pair { t, u := f(); return pair{t, u} })
	return func() (T, U) { p := get(); return p.t, p.u }
}
