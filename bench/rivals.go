package bench

import (
	"errors"
	"sync"
)

// errClosed is the error of the mutex executor after Close.
var errClosed = errors.New("bench: the executor is closed")

// channelExecutor is the usual replacement for an executor in Go programs: a buffered
// channel and one goroutine that receives. A full buffer makes Execute wait.
type channelExecutor struct {
	tasks chan func()
	done  chan struct{}
}

// channelCap is the capacity named in the targets.
const channelCap = 1024

// NewChannel returns a running channel executor.
func NewChannel() (Executor, error) {
	c := &channelExecutor{tasks: make(chan func(), channelCap), done: make(chan struct{})}
	go c.run()
	return c, nil
}

func (c *channelExecutor) run() {
	for task := range c.tasks {
		task()
	}
	close(c.done)
}

func (c *channelExecutor) Execute(task func()) error {
	c.tasks <- task
	return nil
}

func (c *channelExecutor) Close() error {
	close(c.tasks)
	<-c.done
	return nil
}

// mutexExecutor is the executor of textbooks: producers append to a slice under a mutex, and
// the consumer waits on a condition and swaps the slice for its empty one.
type mutexExecutor struct {
	mu     sync.Mutex
	filled sync.Cond
	queue  []func() // guarded by mu
	closed bool     // guarded by mu
	done   chan struct{}
}

// NewMutex returns a running mutex executor.
func NewMutex() (Executor, error) {
	m := &mutexExecutor{done: make(chan struct{})}
	m.filled.L = &m.mu
	go m.run()
	return m, nil
}

func (m *mutexExecutor) run() {
	defer close(m.done)
	var batch []func()
	for {
		batch = m.take(batch[:0])
		if len(batch) == 0 {
			return
		}
		for i, task := range batch {
			batch[i] = nil
			task()
		}
	}
}

// take returns the queued tasks, or none if the executor is closed and its queue is empty.
func (m *mutexExecutor) take(spent []func()) []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) == 0 && !m.closed {
		m.filled.Wait()
	}
	batch := m.queue
	m.queue = spent
	return batch
}

func (m *mutexExecutor) Execute(task func()) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return errClosed
	}
	m.queue = append(m.queue, task)
	first := len(m.queue) == 1
	m.mu.Unlock()
	if first {
		m.filled.Signal()
	}
	return nil
}

func (m *mutexExecutor) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.filled.Signal()
	<-m.done
	return nil
}
