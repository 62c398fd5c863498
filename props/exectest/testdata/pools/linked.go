package pools

import (
	"runtime"
	"sync/atomic"
)

// linked is a loop over a queue without a lock: a submitter swaps its node into the tail,
// and then links the node before to it. Only the submitter that finds nothing pending
// wakes the loop.
//
// The mistake: the loop takes a node that is not linked yet for the end of the queue, and
// sleeps, while a task is pending.
type linked struct {
	mistaken bool
	head     *node // of the loop
	tail     atomic.Pointer[node]
	state    atomic.Int64 // pendingOne for each pending task, and stopped
	wake     chan struct{}
	done     chan struct{}
}

const (
	stopped    = 1
	pendingOne = 2
)

type node struct {
	next atomic.Pointer[node]
	task func()
}

func newLinked(mistaken bool) *linked {
	l := &linked{mistaken: mistaken, head: &node{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.tail.Store(l.head)
	go l.loop()
	return l
}

func (l *linked) Submit(task func()) error {
	before := l.state.Load()
	for before&stopped == 0 && !l.state.CompareAndSwap(before, before+pendingOne) {
		before = l.state.Load()
	}
	if before&stopped != 0 {
		return errClosed
	}
	n := &node{task: task}
	l.tail.Swap(n).next.Store(n)
	if before == 0 {
		l.rouse()
	}
	return nil
}

func (l *linked) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *linked) Stop() {
	l.state.Or(stopped)
	l.rouse()
}

func (l *linked) Done() <-chan struct{} { return l.done }

func (l *linked) loop() {
	defer close(l.done)
	for {
		ran := l.drain()
		left := l.state.Add(-pendingOne * ran)
		switch {
		case left == stopped:
			return
		case ran > 0:
		case left >= pendingOne && !l.mistaken:
			runtime.Gosched() // a submitter is between its two steps
		default:
			<-l.wake
		}
	}
}

// drain runs the linked tasks and returns their number.
func (l *linked) drain() (ran int64) {
	for next := l.head.next.Load(); next != nil; next = l.head.next.Load() {
		l.head = next
		next.task()
		next.task = nil
		ran++
	}
	return ran
}
