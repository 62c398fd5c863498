package pools

import (
	"sync"
	"sync/atomic"
)

// shrinking is a pool that adds a worker for each task, up to a limit. A worker that finds
// no task ends.
//
// The mistake: a worker that found no task gives up its place later. In between a
// submitter sees all workers at work, and starts none.
type shrinking struct {
	mistaken bool
	limit    int64
	workers  atomic.Int64

	mu     sync.Mutex
	tasks  []func()
	closed bool
	once   sync.Once
	done   chan struct{}
}

func newShrinking(mistaken bool, limit int64) *shrinking {
	return &shrinking{mistaken: mistaken, limit: limit, done: make(chan struct{})}
}

func (s *shrinking) Submit(task func()) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	s.tasks = append(s.tasks, task)
	if !s.mistaken {
		s.grow()
	}
	s.mu.Unlock()
	if s.mistaken {
		s.grow()
	}
	return nil
}

// grow starts a worker unless there are as many as may be.
func (s *shrinking) grow() {
	for n := s.workers.Load(); n < s.limit; n = s.workers.Load() {
		if s.workers.CompareAndSwap(n, n+1) {
			go s.work()
			return
		}
	}
}

func (s *shrinking) work() {
	for {
		s.mu.Lock()
		if len(s.tasks) == 0 {
			s.leave()
			return
		}
		task := s.tasks[0]
		s.tasks = s.tasks[1:]
		s.mu.Unlock()
		task()
	}
}

// leave ends a worker. It is called with the lock held, and gives it back.
func (s *shrinking) leave() {
	if s.mistaken {
		s.mu.Unlock()
	} else {
		defer s.mu.Unlock()
	}
	s.workers.Add(-1)
	if s.mistaken {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	s.endIfOver()
}

func (s *shrinking) endIfOver() {
	if s.closed && len(s.tasks) == 0 && s.workers.Load() == 0 {
		s.once.Do(func() { close(s.done) })
	}
}

func (s *shrinking) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.endIfOver()
}

func (s *shrinking) Done() <-chan struct{} { return s.done }
