package subjects

import (
	"sync"
	"time"

	"eventide/props/exectest"
)

// poolSize is the most workers of a pool, and idleTime is how long a worker waits for a
// task before it ends.
const (
	poolSize = 2
	idleTime = time.Second
)

// pool is a pool of workers that start when they are needed: a slice, a lock and a
// condition. A body that panics or exits costs a goroutine, and another one replaces it.
// It ignores the requested quiet period and always uses 0.
type pool struct {
	mistake poolMistake

	mu      sync.Mutex
	queue   []func()
	free    []*worker
	workers int
	running int
	began   countdown // see addsInside
	closed  bool
	ended   bool
	done    chan struct{}

	abandoned chan struct{} // closed when the kit no longer needs it
}

// worker is a goroutine of a pool that waits for a task.
type worker struct{ tasks chan func() }

// poolMistake is one way in which pool is wrong.
type poolMistake int

const (
	rightPool         poolMistake = iota
	workerDies                    // a panic costs a worker
	exitIsForgotten               // Goexit, which recover does not see, costs a worker
	doneWithBodies                // closes Done when the queue is empty, whatever runs
	addsInside                    // calls WaitGroup.Add in the goroutine that Wait is to wait for
	countsPanicTwice              // a body that panics counts as two that have ended
	leavesWorkers                 // idle workers stay for ever
	idleCountStays                // a worker that was idle for too long ends, and is still counted
	handsToEnding                 // a worker that was idle for too long stays in the list of free workers
	stealsTwice                   // a worker that takes half of the queue leaves the last task of it behind
	firstErrorCancels             // a panic cancels the tasks that have not begun
)

func newPool(m poolMistake) *pool {
	return &pool{mistake: m, done: make(chan struct{}), abandoned: make(chan struct{})}
}

func (p *pool) Execute(task func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	switch n := len(p.free); {
	case n > 0:
		w := p.free[n-1]
		p.free = p.free[:n-1]
		p.running++
		w.tasks <- task
	case p.workers < poolSize:
		p.workers++
		p.running++
		go p.work(&worker{tasks: make(chan func(), 1)}, task)
	default:
		p.queue = append(p.queue, task)
		if p.mistake == stealsTwice && len(p.queue) == 8 {
			p.queue = append(p.queue[4:], p.queue[:5]...)
		}
	}
	return nil
}

// work runs tasks until the worker has had nothing to do for idleTime, or the pool ends.
func (p *pool) work(w *worker, task func()) {
	survived := false
	defer func() {
		panicked := recover() != nil
		if !survived {
			p.replace(w, panicked)
		}
	}()
	for task != nil {
		if p.mistake == addsInside {
			p.began.add(1)
		}
		task()
		if p.mistake == addsInside {
			p.began.add(-1)
		}
		task = p.next(w)
	}
	survived = true
}

// replace starts another worker after a body that ended abruptly.
func (p *pool) replace(w *worker, panicked bool) {
	p.mu.Lock()
	switch {
	case p.mistake == countsPanicTwice && panicked:
		p.running--
	case p.mistake == firstErrorCancels:
		p.queue = nil
	}
	p.mu.Unlock()
	if p.mistake == workerDies && panicked || p.mistake == exitIsForgotten && !panicked {
		return
	}
	if p.mistake == addsInside {
		p.began.add(-1)
	}
	go func() {
		if task := p.next(w); task != nil {
			p.work(w, task)
		}
	}()
}

// next ends the worker's task and returns another one, or nil at the end of the worker.
func (p *pool) next(w *worker) func() {
	p.mu.Lock()
	p.running--
	if len(p.queue) > 0 {
		task := p.queue[0]
		p.queue = p.queue[1:]
		p.running++
		p.mu.Unlock()
		return task
	}
	p.endIfOver()
	if p.ended && p.mistake != leavesWorkers {
		p.mu.Unlock()
		return nil
	}
	p.free = append(p.free, w)
	p.mu.Unlock()
	return p.await(w)
}

// await returns the next task of a free worker.
func (p *pool) await(w *worker) func() {
	done, idle := p.done, time.NewTimer(idleTime)
	defer idle.Stop()
	if p.mistake == leavesWorkers {
		done = nil
		idle.Stop()
	}
	select {
	case task := <-w.tasks:
		return task
	case <-done:
		return nil
	case <-p.abandoned:
		return nil
	case <-idle.C:
		return p.leave(w)
	}
}

// leave ends a worker, unless a submitter has just given it a task.
func (p *pool) leave(w *worker) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.free {
		if other != w {
			continue
		}
		if p.mistake != handsToEnding {
			p.free = append(p.free[:i:i], p.free[i+1:]...)
		}
		if p.mistake != idleCountStays && p.mistake != handsToEnding {
			p.workers--
		}
		return nil
	}
	return <-w.tasks
}

// endIfOver closes Done if everything has run. Called with the lock held.
func (p *pool) endIfOver() {
	idle := p.running <= 0
	switch p.mistake {
	case doneWithBodies:
		idle = true
	case addsInside:
		p.waitForBodies()
		return
	}
	if p.closed && !p.ended && len(p.queue) == 0 && idle {
		p.ended = true
		close(p.done)
	}
}

// countdown is a sync.WaitGroup whose misuse neither panics nor is a data race: only its
// count is wrong.
type countdown struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0; nil if no goroutine waits for that
}

func (c *countdown) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
	if c.n == 0 && c.zero != nil {
		close(c.zero)
		c.zero = nil
	}
}

func (c *countdown) wait() {
	c.mu.Lock()
	if c.n == 0 {
		c.mu.Unlock()
		return
	}
	if c.zero == nil {
		c.zero = make(chan struct{})
	}
	zero := c.zero
	c.mu.Unlock()
	<-zero
}

// waitForBodies is the end of a pool that counts its bodies in their own goroutines.
func (p *pool) waitForBodies() {
	if !p.closed || p.ended || len(p.queue) > 0 {
		return
	}
	p.ended = true
	go func() {
		p.began.wait()
		close(p.done)
	}()
}

func (p *pool) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.endIfOver()
	return nil
}

func (p *pool) Done() <-chan struct{} { return p.done }

// Abandon ends the workers of a pool that does not end by itself.
func (p *pool) Abandon() { close(p.abandoned) }

// poolOptions declare what a pool does not promise.
func poolOptions() []exectest.Option {
	return []exectest.Option{
		exectest.Without("G2", "bodies of two workers overlap"), exectest.Without("G4", "tasks of two workers have no order"),
		exectest.Without("G10", "it has no quiet period"), exectest.Without("G11", "it has no timeout"),
		exectest.Without("G16", "its shutdown has no parameters"),
	}
}
