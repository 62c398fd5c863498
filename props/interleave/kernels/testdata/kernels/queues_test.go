package kernels

import (
	"sync"
	"sync/atomic"
	"testing"
)

// A consumer announces that it sleeps, and does not look at the queue again.
func TestSleepFlag(t *testing.T)         { sleeper(false) }
func TestSleepFlagRepaired(t *testing.T) { sleeper(true) }

func sleeper(again bool) {
	var queued atomic.Int32
	var sleeps atomic.Bool
	wake := make(chan struct{}, 1)
	together(func() {
		for queued.Load() == 0 {
			if again {
				sleeps.Store(true)
				if queued.Load() != 0 {
					return
				}
			} else {
				sleeps.Store(true)
			}
			<-wake
		}
	}, func() {
		queued.Add(1)
		if sleeps.Load() {
			wake <- struct{}{}
		}
	})
}

// mailbox runs messages by a goroutine that it starts when there is one.
type mailbox struct {
	mu        sync.Mutex
	messages  []int
	scheduled atomic.Bool
	handled   atomic.Int32
	again     bool // look at the messages after the flag is cleared
	wg        sync.WaitGroup
}

func (m *mailbox) post(i int) {
	m.mu.Lock()
	m.messages = append(m.messages, i)
	m.mu.Unlock()
	m.schedule()
}

func (m *mailbox) schedule() {
	if m.scheduled.CompareAndSwap(false, true) {
		m.wg.Go(m.drain)
	}
}

func (m *mailbox) take() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.messages) == 0 {
		return false
	}
	m.messages = m.messages[1:]
	return true
}

func (m *mailbox) drain() {
	for m.take() {
		m.handled.Add(1)
	}
	m.scheduled.Store(false)
	if m.again {
		m.mu.Lock()
		n := len(m.messages)
		m.mu.Unlock()
		if n > 0 {
			m.schedule()
		}
	}
}

func postTwo(t *testing.T, m *mailbox) {
	together(func() { m.post(1) }, func() { m.post(2) })
	m.wg.Wait()
	if m.handled.Load() != 2 {
		t.Fatal("a message is stranded")
	}
}

// A message is posted between the last look at the mailbox and the clearing of its flag.
func TestStrandedMessage(t *testing.T)         { postTwo(t, &mailbox{}) }
func TestStrandedMessageRepaired(t *testing.T) { postTwo(t, &mailbox{again: true}) }

// node is of a queue whose push swaps the tail and then links the node.
type node struct {
	next atomic.Pointer[node]
}

type linkedQueue struct {
	head *node
	tail atomic.Pointer[node]
}

func (q *linkedQueue) push() {
	n := &node{}
	q.tail.Swap(n).next.Store(n)
}

func (q *linkedQueue) pop(wait bool) bool {
	next := q.head.next.Load()
	for wait && next == nil && q.tail.Load() != q.head {
		next = q.head.next.Load() // a push is between its two steps
	}
	if next == nil {
		return false
	}
	q.head = next
	return true
}

// The second of two pushes has returned, and the queue seems to be empty because the
// first has not linked its node.
func pushAndPop(t *testing.T, wait bool) {
	q := &linkedQueue{head: &node{}}
	q.tail.Store(q.head)
	var pushed atomic.Bool
	together(q.push, func() {
		q.push()
		pushed.Store(true)
	}, func() {
		if pushed.Load() && !q.pop(wait) {
			t.Error("a pushed node cannot be popped")
		}
	})
}

func TestPushAndLink(t *testing.T)         { pushAndPop(t, false) }
func TestPushAndLinkRepaired(t *testing.T) { pushAndPop(t, true) }
