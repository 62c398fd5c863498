package pools

import (
	"sync"
	"sync/atomic"
)

// channelled is a loop over a channel that Stop closes.
//
// The mistake: a submitter looks whether the pool is closed, and then sends. Stop may
// close the channel in between.
type channelled struct {
	mistaken bool
	senders  sync.RWMutex // read-locked while a submitter sends
	closed   atomic.Bool
	tasks    chan func()
	done     chan struct{}
}

func newChannelled(mistaken bool) *channelled {
	c := &channelled{mistaken: mistaken, tasks: make(chan func(), 256), done: make(chan struct{})}
	go c.loop()
	return c
}

func (c *channelled) Submit(task func()) error {
	if !c.mistaken {
		c.senders.RLock()
		defer c.senders.RUnlock()
	}
	if c.closed.Load() {
		return errClosed
	}
	c.tasks <- task
	return nil
}

func (c *channelled) Stop() {
	if !c.mistaken {
		c.senders.Lock()
		defer c.senders.Unlock()
	}
	if c.closed.CompareAndSwap(false, true) {
		close(c.tasks)
	}
}

func (c *channelled) Done() <-chan struct{} { return c.done }

func (c *channelled) loop() {
	defer close(c.done)
	for task := range c.tasks {
		task()
	}
}
