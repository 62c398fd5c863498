package pools

import (
	"sync"
	"time"
)

// purged is a pool that keeps workers for the next task, and ends those that nobody used
// for a while.
//
// The mistake: the purge signals an unused worker to end before it takes it from the list.
// A submitter may still find the worker there, and hand a task to it.
type purged struct {
	mistaken bool
	unused   time.Duration // after which a worker ends

	mu      sync.Mutex
	free    []*worker
	pending int
	closed  bool
	quit    chan struct{}
	done    chan struct{}
}

type worker struct {
	tasks chan func() // nil means the end
	since time.Time   // it has no task
}

func newPurged(mistaken bool, unused time.Duration) *purged {
	p := &purged{mistaken: mistaken, unused: unused, quit: make(chan struct{}), done: make(chan struct{})}
	go p.purgeNowAndThen()
	return p
}

func (p *purged) Submit(task func()) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	p.pending++
	w := p.last()
	p.mu.Unlock()
	w.tasks <- task
	return nil
}

// last takes the worker that was used last, or starts one.
func (p *purged) last() *worker {
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	w := &worker{tasks: make(chan func(), 2)}
	go p.work(w)
	return w
}

func (p *purged) work(w *worker) {
	for task := range w.tasks {
		if task == nil {
			return
		}
		task()
		if !p.release(w) {
			return
		}
	}
}

// release puts the worker into the list, or returns false at the end of the pool.
func (p *purged) release(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending--
	p.endIfOver()
	if p.closed {
		return false
	}
	w.since = time.Now()
	p.free = append(p.free, w)
	return true
}

func (p *purged) endIfOver() {
	if p.closed && p.pending == 0 {
		close(p.done)
	}
}

func (p *purged) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	close(p.quit)
	p.endAll(p.free)
	p.free = nil
	p.endIfOver()
}

func (p *purged) endAll(workers []*worker) {
	for _, w := range workers {
		w.tasks <- nil
	}
}

func (p *purged) Done() <-chan struct{} { return p.done }

func (p *purged) purgeNowAndThen() {
	tick := time.NewTicker(p.unused)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.purge(time.Now().Add(-p.unused))
		case <-p.quit:
			return
		}
	}
}

// purge ends the workers that have had no task since the moment. They come first in the
// list.
func (p *purged) purge(since time.Time) {
	p.mu.Lock()
	n := 0
	for n < len(p.free) && p.free[n].since.Before(since) {
		n++
	}
	old := p.free[:n:n]
	if !p.mistaken {
		p.free = p.free[n:]
	}
	p.mu.Unlock()
	p.endAll(old)
	if p.mistaken {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = p.free[min(n, len(p.free)):]
	}
}
