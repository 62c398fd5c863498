package bench

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// bareQueue is what is left of an executor without its guarantees: a queue of many producers and one
// consumer, with the two locked instructions that such a queue costs a producer in Go, one to take a slot
// and one to publish it. Nothing orders a task with the close, and the consumer never sleeps, so nobody has
// to wake it. It is no rival: it shows what a queue without a lock costs.
type bareQueue struct {
	slots []unsafe.Pointer // of func values; nil: empty

	_     [64]byte
	taken atomic.Int64 // slots that producers have taken
	_     [64]byte
	spent atomic.Int64 // slots that the consumer has emptied, published every bareStride slots
	_     [64]byte

	done chan struct{}
}

const (
	bareSlots  = 1 << 16
	bareStride = 256
)

// NewBare returns a running bare queue. A task must not submit more than bareSlots tasks.
func NewBare() (Executor, error) {
	q := &bareQueue{slots: make([]unsafe.Pointer, bareSlots), done: make(chan struct{})}
	go q.run()
	return q, nil
}

func (q *bareQueue) run() {
	defer close(q.done)
	for at := int64(0); ; at++ {
		slot := &q.slots[at%bareSlots]
		p := atomic.LoadPointer(slot)
		for p == nil {
			runtime.Gosched()
			p = atomic.LoadPointer(slot)
		}
		*slot = nil // no other goroutine reads it before spent tells that it is empty
		if (at+1)%bareStride == 0 {
			q.spent.Store(at + 1)
		}
		task := *(*func())(unsafe.Pointer(&p))
		task()
		if p == stopBare {
			return
		}
	}
}

func (q *bareQueue) Execute(task func()) error {
	q.push(*(*unsafe.Pointer)(unsafe.Pointer(&task)))
	return nil
}

func (q *bareQueue) push(task unsafe.Pointer) {
	at := q.taken.Add(1) - 1
	for at-q.spent.Load() >= bareSlots {
		runtime.Gosched()
	}
	atomic.StorePointer(&q.slots[at%bareSlots], task)
}

// stopBare is the last task of a bare queue.
var stopBare = func() unsafe.Pointer {
	stop := func() {}
	return *(*unsafe.Pointer)(unsafe.Pointer(&stop))
}()

// Close is called when no other call of Execute comes.
func (q *bareQueue) Close() error {
	q.push(stopBare)
	<-q.done
	return nil
}
