package exectest_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"eventide/props/exectest"
)

// channelled is the plainest executor there is, a goroutine and a channel, and has
// the plainest mistake: it looks whether it is closed, and then sends. Between the
// two the loop may take its last look and be gone.
type channelled struct {
	gap    func() // called between the two
	tasks  chan func()
	quit   chan struct{}
	done   chan struct{}
	closed atomic.Bool
	once   sync.Once
}

func newChannelled(gap func()) *channelled {
	c := &channelled{gap: gap, tasks: make(chan func(), 1024), quit: make(chan struct{}), done: make(chan struct{})}
	go c.loop()
	return c
}

func (c *channelled) Execute(task func()) error {
	if c.closed.Load() {
		return errClosed
	}
	if c.gap != nil {
		c.gap()
	}
	c.tasks <- task
	return nil
}

func (c *channelled) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	c.once.Do(func() {
		c.closed.Store(true)
		close(c.quit)
	})
	return nil
}

func (c *channelled) Done() <-chan struct{} { return c.done }

// Abandon makes room, for those who wait to send to a loop that is gone.
func (c *channelled) Abandon() {
	for {
		select {
		case <-c.tasks:
		default:
			return
		}
	}
}

func (c *channelled) loop() {
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

// flagged is the same with a flag and a slice under a lock.
type flagged struct {
	shut atomic.Bool

	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // holds one
	done  chan struct{}
}

func newFlagged() *flagged {
	f := &flagged{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go f.loop()
	return f
}

func (f *flagged) Execute(task func()) error {
	if f.shut.Load() {
		return errClosed
	}
	f.mu.Lock()
	f.queue = append(f.queue, task)
	f.mu.Unlock()
	f.rouse()
	return nil
}

func (f *flagged) rouse() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *flagged) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	f.shut.Store(true)
	f.rouse()
	return nil
}

func (f *flagged) Done() <-chan struct{} { return f.done }

func (f *flagged) loop() {
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

// locked is correct, but for G18: senders wait for room with a lock that they share,
// so Shutdown called by a task waits for ever if the queue is full. The queue has room
// for the programs of G3, and not for its hammers.
type locked struct {
	mu     sync.RWMutex
	closed bool
	tasks  chan func()
	done   chan struct{}
}

func newLocked() *locked {
	l := &locked{tasks: make(chan func(), 100), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for task := range l.tasks {
			task()
		}
	}()
	return l
}

func (l *locked) Execute(task func()) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return errClosed
	}
	l.tasks <- task
	return nil
}

func (l *locked) Shutdown(_, _ time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.tasks)
	}
	return nil
}

func (l *locked) Done() <-chan struct{} { return l.done }

// racy are executors that lose a task only if a producer is held up in a gap of a
// few instructions.
var racy = []struct {
	name    string
	make    func() exectest.Subject
	needs2P bool // nothing but a second processor can step into the gap
}{
	{"flag and channel", func() exectest.Subject { return newChannelled(nil) }, true},
	{"flag and channel, yielding", func() exectest.Subject { return newChannelled(runtime.Gosched) }, false},
	{"flag and lock", func() exectest.Subject { return newFlagged() }, true},
	{"lock twice", bare(losesInRace), true},
	{"lock twice, yielding", bare(losesInRaceYields), false},
}
