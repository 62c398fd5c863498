package pools

import (
	"sync"
	"sync/atomic"
)

// twice is a loop over a channel, and may be stopped by several owners.
//
// The mistake: Stop looks at the flag and then sets it. Two callers may both find the
// pool open, and close the channel twice.
type twice struct {
	mistaken bool
	closed   atomic.Bool
	mu       sync.Mutex
	queue    []func()
	wake     chan struct{}
	quit     chan struct{}
	done     chan struct{}
}

func newTwice(mistaken bool) *twice {
	w := &twice{
		mistaken: mistaken,
		wake:     make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go w.loop()
	return w
}

func (w *twice) Submit(task func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed.Load() {
		return errClosed
	}
	w.queue = append(w.queue, task)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

func (w *twice) Stop() {
	if w.mistaken {
		if !w.closed.Load() {
			w.closed.Store(true)
			close(w.quit)
		}
		return
	}
	if w.closed.CompareAndSwap(false, true) {
		close(w.quit)
	}
}

func (w *twice) Done() <-chan struct{} { return w.done }

func (w *twice) take() []func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	queue := w.queue
	w.queue = nil
	return queue
}

func (w *twice) loop() {
	defer close(w.done)
	for {
		select {
		case <-w.wake:
		case <-w.quit:
			for queue := w.take(); len(queue) > 0; queue = w.take() {
				run(queue)
			}
			return
		}
		run(w.take())
	}
}

func run(tasks []func()) {
	for _, task := range tasks {
		task()
	}
}
