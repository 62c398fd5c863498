package subjects

import (
	"runtime"
	"sync/atomic"
	"time"
)

// linked is an executor of one goroutine over a queue without a lock: a submitter swaps its
// node into the tail, and then links the node before to it.
type linked struct {
	mistake linkMistake
	head    *node // of the loop
	tail    atomic.Pointer[node]
	state   atomic.Int64 // pendingOne for each pending task, and stopped
	wake    chan struct{}
	done    chan struct{}

	abandoned chan struct{} // closed when the kit no longer needs it
}

// linkMistake is one way in which linked is wrong. A wrong queue yields in its gap, so that
// another goroutine steps into it on one processor too.
type linkMistake int

const (
	rightLink   linkMistake = iota
	gapIsTheEnd             // takes a node that is not linked yet for the end of the queue, and sleeps
	storesTail              // writes the tail without a swap, so that one of two nodes is lost
	countsLate              // counts a task after it was linked, so that the loop may end before it
)

const (
	stopped    = 1
	pendingOne = 2
)

type node struct {
	next atomic.Pointer[node]
	task func()
}

func newLinked(m linkMistake) *linked {
	l := &linked{mistake: m, head: &node{}, wake: make(chan struct{}, 1), done: make(chan struct{}), abandoned: make(chan struct{})}
	l.tail.Store(l.head)
	go l.loop()
	return l
}

func (l *linked) Execute(task func()) error {
	n := &node{task: task}
	if l.mistake == countsLate {
		if l.state.Load()&stopped != 0 {
			return errClosed
		}
		runtime.Gosched()
		l.tail.Swap(n).next.Store(n)
		l.state.Add(pendingOne)
		l.rouse()
		return nil
	}
	before := l.state.Load()
	for before&stopped == 0 && !l.state.CompareAndSwap(before, before+pendingOne) {
		before = l.state.Load()
	}
	if before&stopped != 0 {
		return errClosed
	}
	if l.mistake == storesTail {
		last := l.tail.Load()
		runtime.Gosched()
		l.tail.Store(n)
		last.next.Store(n)
	} else {
		last := l.tail.Swap(n)
		if l.mistake == gapIsTheEnd {
			runtime.Gosched()
		}
		last.next.Store(n)
	}
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

func (l *linked) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	l.state.Or(stopped)
	l.rouse()
	return nil
}

func (l *linked) Done() <-chan struct{} { return l.done }

// Abandon ends the goroutine of a queue that has lost a task or a wake-up.
func (l *linked) Abandon() { close(l.abandoned) }

func (l *linked) loop() {
	defer close(l.done)
	for {
		ran := l.drain()
		left := l.state.Add(-pendingOne * ran)
		switch {
		case left == stopped:
			return
		case ran > 0:
		case left >= pendingOne && l.mistake == rightLink:
			runtime.Gosched() // a submitter is between its two steps
		default:
			select {
			case <-l.wake:
			case <-l.abandoned:
				return
			}
		}
	}
}

// drain runs the linked tasks and returns their number.
func (l *linked) drain() (ran int64) {
	for next := l.head.next.Load(); next != nil; next = l.head.next.Load() {
		l.head = next
		runOne(next.task)
		next.task = nil
		ran++
	}
	return ran
}

func runOne(task func()) {
	defer func() { _ = recover() }()
	task()
}
