package pools

import (
	"sync"
	"sync/atomic"
)

// sleeper is a loop that announces its sleep, so that submitting to a busy one costs no
// wake-up.
//
// The mistake: the loop does not look at the queue again after the announcement. A task
// that came just before it was told of nobody, and waits for the next one.
type sleeper struct {
	mistaken bool

	mu     sync.Mutex
	queue  []func()
	closed bool

	asleep atomic.Bool
	wake   chan struct{}
	done   chan struct{}
}

func newSleeper(mistaken bool) *sleeper {
	s := &sleeper{mistaken: mistaken, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.loop()
	return s
}

func (s *sleeper) Submit(task func()) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	s.queue = append(s.queue, task)
	s.mu.Unlock()
	s.rouse()
	return nil
}

func (s *sleeper) rouse() {
	if s.asleep.CompareAndSwap(true, false) {
		s.wake <- struct{}{}
	}
}

func (s *sleeper) Stop() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.rouse()
}

func (s *sleeper) Done() <-chan struct{} { return s.done }

func (s *sleeper) take() (tasks []func(), closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, s.queue = s.queue, nil
	return tasks, s.closed
}

func (s *sleeper) loop() {
	defer close(s.done)
	for {
		tasks, closed := s.take()
		for _, task := range tasks {
			task()
		}
		switch {
		case len(tasks) > 0:
		case closed:
			return
		default:
			s.sleep()
		}
	}
}

func (s *sleeper) sleep() {
	s.asleep.Store(true)
	if !s.mistaken && s.hasWork() && s.asleep.CompareAndSwap(true, false) {
		return
	}
	<-s.wake
}

func (s *sleeper) hasWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0 || s.closed
}
