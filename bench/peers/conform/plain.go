package conform

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventide/props/exectest"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
)

var errClosed = errors.New("closed")

// channelSubject is what one writes with a channel when it is to be right: a lock
// keeps senders from a channel that is closed.
type channelSubject struct {
	mu     sync.RWMutex
	closed bool // guarded by mu
	tasks  chan func()
	done   chan struct{}
}

func newChannel() exectest.Subject {
	s := &channelSubject{tasks: make(chan func(), 1024), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for task := range s.tasks {
			task()
		}
	}()
	return s
}

func (s *channelSubject) Execute(task func()) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	s.tasks <- task
	return nil
}

func (s *channelSubject) Shutdown(_, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.tasks)
	}
	return nil
}

func (s *channelSubject) Done() <-chan struct{} { return s.done }

func channelSpec() Spec {
	return Spec{
		Name: "channel", Open: inProcess(newChannel),
		Promises: append(line("G3", "G20"),
			Promise{"G2", "one receiver"},
			Promise{"G4", "The Go Programming Language Specification: channels act as first-in-first-out queues"}),
	}
}

// once runs the end of a subject a single time, beside the caller.
type once struct {
	sync.Once
	done chan struct{}
}

func (o *once) end(f func()) {
	o.Do(func() {
		go func() {
			f()
			close(o.done)
		}()
	})
}

func (o *once) Done() <-chan struct{} { return o.done }

type antsSubject struct {
	once
	pool *ants.Pool
}

func (s *antsSubject) Execute(task func()) error { return s.pool.Submit(task) }

// Shutdown is ReleaseContext, "waits all workers to exit before the context is done".
func (s *antsSubject) Shutdown(_, _ time.Duration) error {
	s.end(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s.pool.ReleaseContext(ctx)
	})
	return nil
}

func antsSpec() Spec {
	return Spec{
		Name: "ants", Options: realTime, RealTime: true,
		Open: inProcess(func() exectest.Subject {
			return &antsSubject{once: once{done: make(chan struct{})}, pool: must(ants.NewPool(64))}
		}),
		Promises: append(line("G3", "G20"), Promise{"G14", "README: Handle panic gracefully to prevent programs from crash"}),
	}
}

type pondSubject struct {
	once
	pool pond.Pool
}

func (s *pondSubject) Execute(task func()) error { return s.pool.Go(task) }

func (s *pondSubject) Shutdown(_, _ time.Duration) error {
	stopped := s.pool.Stop()
	s.end(func() { <-stopped.Done() })
	return nil
}

func pondSpec() Spec {
	return Spec{
		Name: "pond", Options: realTime, RealTime: true,
		Open: inProcess(func() exectest.Subject {
			return &pondSubject{once: once{done: make(chan struct{})}, pool: pond.NewPool(1)}
		}),
		Promises: append(line("G3", "G20"),
			Promise{"G2", "NewPool(maxConcurrency), here 1"},
			Promise{"G5", "Stop: The pool will not accept new tasks after it has been stopped"},
			Promise{"G14", "README: Panics recovery (panics are captured and returned as errors)"}),
	}
}
