package pools

import (
	"sync"
	"sync/atomic"
)

// mailbox runs its messages one after the other, on a goroutine that it starts when the
// first one comes and that ends when none is left.
//
// The mistake: a message counts before it is in the list. The goroutine that the count
// starts may come too early, find nothing, and end.
type mailbox struct {
	mistaken bool

	mu       sync.Mutex
	messages []func()
	closed   bool

	running atomic.Bool
	once    sync.Once
	done    chan struct{}
}

func newMailbox(mistaken bool) *mailbox {
	return &mailbox{mistaken: mistaken, done: make(chan struct{})}
}

func (m *mailbox) Submit(message func()) error {
	if m.mistaken {
		m.schedule()
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return errClosed
	}
	m.messages = append(m.messages, message)
	m.mu.Unlock()
	if !m.mistaken {
		m.schedule()
	}
	return nil
}

func (m *mailbox) schedule() {
	if m.running.CompareAndSwap(false, true) {
		go m.run()
	}
}

func (m *mailbox) Stop() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.schedule()
}

func (m *mailbox) Done() <-chan struct{} { return m.done }

func (m *mailbox) run() {
	for {
		for message := m.next(); message != nil; message = m.next() {
			message()
		}
		if m.ended() {
			m.once.Do(func() { close(m.done) })
			return
		}
		m.running.Store(false)
		if m.mistaken || !m.hasWork() || !m.running.CompareAndSwap(false, true) {
			return
		}
	}
}

func (m *mailbox) next() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.messages) == 0 {
		return nil
	}
	message := m.messages[0]
	m.messages = m.messages[1:]
	return message
}

func (m *mailbox) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed && len(m.messages) == 0
}

func (m *mailbox) hasWork() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.messages) > 0 || m.closed
}
