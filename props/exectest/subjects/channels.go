package subjects

import (
	"sync"
	"time"
)

// channels is the executor of one goroutine that receives tasks from a channel. Submitters
// share a lock with the shutdown, which closes the channel. It recovers from panics, and
// does not survive Goexit.
type channels struct {
	mistake channelMistake

	mu     sync.RWMutex
	closed bool
	tasks  chan func()
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
}

// channelMistake is one way in which channels is wrong.
type channelMistake int

const (
	rightChannel  channelMistake = iota
	selectsQuit                  // selects between a task and the end, which Go decides by chance
	recoversSend                 // recovers from the send on the closed channel, and reports success
	triesToSend                  // forgets a task that finds the channel full
	goesPerTask                  // runs each task on a goroutine of its own
	goesAndWaits                 // the same, and the loop waits until it has begun
	waitsForOne                  // gives up a task for a timeout, and goes on with the next one
	drainsByCount                // after the close it runs as many tasks as len reported
)

func newChannels(m channelMistake) *channels {
	c := &channels{mistake: m, tasks: make(chan func(), 4096), quit: make(chan struct{}), done: make(chan struct{})}
	if m == triesToSend {
		c.tasks = make(chan func(), 2)
	}
	go c.loop()
	return c
}

func (c *channels) Execute(task func()) (err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	switch {
	case c.mistake == recoversSend:
		defer func() { _ = recover() }()
	case c.closed:
		return errClosed
	case c.mistake == triesToSend:
		select {
		case c.tasks <- task:
		default:
		}
		return nil
	}
	c.tasks <- task
	return nil
}

func (c *channels) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	c.once.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.closed = true
		close(c.quit)
		if c.mistake != selectsQuit && c.mistake != drainsByCount {
			close(c.tasks)
		}
	})
	return nil
}

func (c *channels) Done() <-chan struct{} { return c.done }

func (c *channels) loop() {
	defer close(c.done)
	for {
		select {
		case task, ok := <-c.tasks:
			if !ok {
				return
			}
			c.run(task)
		case <-c.quit:
			switch c.mistake {
			case selectsQuit:
				return
			case drainsByCount:
				for range len(c.tasks) - 1 {
					c.run(<-c.tasks)
				}
				return
			}
			for task := range c.tasks {
				c.run(task)
			}
			return
		}
	}
}

func (c *channels) run(task func()) {
	switch c.mistake {
	case goesPerTask:
		go runOne(task)
	case goesAndWaits:
		began := make(chan struct{})
		go func() {
			close(began)
			runOne(task)
		}()
		<-began
	case waitsForOne:
		over := make(chan struct{})
		go func() {
			defer close(over)
			runOne(task)
		}()
		select {
		case <-over:
		case <-time.After(4 * time.Millisecond):
		}
	default:
		runOne(task)
	}
}
