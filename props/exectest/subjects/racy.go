package subjects

import (
	"sync"
	"sync/atomic"
	"time"
)

// Channelled is the simplest executor, a goroutine and a channel, with the simplest
// mistake: Execute checks whether it is closed, and then sends. Between the two the
// loop may receive its last task and end.
type Channelled struct {
	gap    func() // called between the check and the send
	tasks  chan func()
	quit   chan struct{}
	done   chan struct{}
	closed atomic.Bool
	once   sync.Once
}

func NewChannelled(gap func()) *Channelled {
	c := &Channelled{gap: gap, tasks: make(chan func(), 1024), quit: make(chan struct{}), done: make(chan struct{})}
	go c.loop()
	return c
}

func (c *Channelled) Execute(task func()) error {
	if c.closed.Load() {
		return errClosed
	}
	if c.gap != nil {
		c.gap()
	}
	c.tasks <- task
	return nil
}

func (c *Channelled) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	c.once.Do(func() {
		c.closed.Store(true)
		close(c.quit)
	})
	return nil
}

func (c *Channelled) Done() <-chan struct{} { return c.done }

// Abandon empties the channel, so that goroutines that wait to send to a loop that has
// ended can return.
func (c *Channelled) Abandon() {
	for {
		select {
		case <-c.tasks:
		default:
			return
		}
	}
}

func (c *Channelled) loop() {
	defer close(c.done)
	for {
		select {
		case task := <-c.tasks:
			task()
		case <-c.quit:
			for {
				select {
				case task := <-c.tasks:
					task()
				default:
					return
				}
			}
		}
	}
}

// Flagged has the same mistake, with a flag, and a slice under a lock.
type Flagged struct {
	shut atomic.Bool

	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // holds one
	done  chan struct{}
}

func NewFlagged() *Flagged {
	f := &Flagged{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go f.loop()
	return f
}

func (f *Flagged) Execute(task func()) error {
	if f.shut.Load() {
		return errClosed
	}
	f.mu.Lock()
	f.queue = append(f.queue, task)
	f.mu.Unlock()
	f.rouse()
	return nil
}

func (f *Flagged) rouse() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *Flagged) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	f.shut.Store(true)
	f.rouse()
	return nil
}

func (f *Flagged) Done() <-chan struct{} { return f.done }

func (f *Flagged) loop() {
	defer close(f.done)
	for {
		shut := f.shut.Load()
		f.mu.Lock()
		tasks := f.queue
		f.queue = nil
		f.mu.Unlock()
		for _, task := range tasks {
			task()
		}
		switch {
		case len(tasks) > 0:
		case shut:
			return
		default:
			<-f.wake
		}
	}
}

// Locked is correct, but for G18: senders wait for room with a lock that they share,
// so Shutdown called by a task waits for ever if the queue is full. The queue has room
// for the programs of G3, but not for its runs without the log.
type Locked struct {
	mu     sync.RWMutex
	closed bool
	tasks  chan func()
	done   chan struct{}
}

func NewLocked() *Locked {
	l := &Locked{tasks: make(chan func(), 100), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for task := range l.tasks {
			task()
		}
	}()
	return l
}

func (l *Locked) Execute(task func()) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return errClosed
	}
	l.tasks <- task
	return nil
}

func (l *Locked) Shutdown(_, _ time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.tasks)
	}
	return nil
}

func (l *Locked) Done() <-chan struct{} { return l.done }
