// Package pool runs tasks in a fixed number of goroutines. It is wrong: a worker waits
// without a loop, and Stop wakes one worker alone.
package pool

import (
	"errors"
	"sync"
)

var ErrStopped = errors.New("stopped")

type Pool struct {
	mu      sync.Mutex
	cond    *sync.Cond
	queue   []func()
	idle    int
	stopped bool
	wg      sync.WaitGroup
}

func New(workers int) *Pool {
	p := &Pool{}
	p.cond = sync.NewCond(&p.mu)
	for range workers {
		p.wg.Add(1)
		go p.work()
	}
	return p
}

func (p *Pool) Submit(task func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return ErrStopped
	}
	p.queue = append(p.queue, task)
	if p.idle > 0 {
		p.cond.Signal()
	}
	return nil
}

func (p *Pool) work() {
	defer p.wg.Done()
	for {
		p.mu.Lock()
		if len(p.queue) == 0 && !p.stopped {
			p.idle++
			p.cond.Wait()
			p.idle--
		}
		if len(p.queue) == 0 && p.stopped {
			p.mu.Unlock()
			return
		}
		task := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		task()
	}
}

func (p *Pool) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.cond.Signal()
	p.mu.Unlock()
	p.wg.Wait()
}
