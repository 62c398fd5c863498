package pools

import (
	"sync"
	"sync/atomic"
	"time"
)

// elastic is a pool of one worker that adds others while tasks wait, up to a limit. A
// worker that had nothing to do for a while ends, unless it is the only one.
//
// The mistake: a worker looks at the number of workers and then gives up its place. Two
// of two may end.
type elastic struct {
	mistaken bool
	limit    int64
	unused   time.Duration // after which a worker ends
	workers  atomic.Int64
	tasks    chan func()

	mu      sync.Mutex
	pending int
	closed  bool
	done    chan struct{}
}

func newElastic(mistaken bool, unused time.Duration) *elastic {
	e := &elastic{mistaken: mistaken, limit: 2, unused: unused, tasks: make(chan func(), 256), done: make(chan struct{})}
	e.workers.Store(1)
	go e.work()
	return e
}

func (e *elastic) Submit(task func()) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errClosed
	}
	e.pending++
	if n := e.workers.Load(); e.pending > 1 && n < e.limit && e.workers.CompareAndSwap(n, n+1) {
		go e.work()
	}
	e.mu.Unlock()
	e.tasks <- task
	return nil
}

func (e *elastic) work() {
	idle := time.NewTimer(e.unused)
	defer idle.Stop()
	for {
		select {
		case task := <-e.tasks:
			task()
			e.ended()
		case <-e.done:
			return
		case <-idle.C:
			if e.leave() {
				return
			}
		}
		idle.Reset(e.unused)
	}
}

// leave gives up the worker's place, unless it is the last one.
func (e *elastic) leave() bool {
	if e.mistaken {
		if e.workers.Load() == 1 {
			return false
		}
		e.workers.Add(-1)
		return true
	}
	for n := e.workers.Load(); n > 1; n = e.workers.Load() {
		if e.workers.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

func (e *elastic) ended() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending--
	e.endIfOver()
}

func (e *elastic) endIfOver() {
	if e.closed && e.pending == 0 {
		close(e.done)
	}
}

func (e *elastic) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		e.endIfOver()
	}
}

func (e *elastic) Done() <-chan struct{} { return e.done }
