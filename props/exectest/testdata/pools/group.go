package pools

import "sync"

// group runs each task on a goroutine of its own. After Stop a WaitGroup tells when the
// last one has ended.
//
// The mistake: a task is added to the WaitGroup after the look at the closed flag, when
// the wait may be over already.
type group struct {
	mistaken bool
	mu       sync.Mutex
	closed   bool
	tasks    sync.WaitGroup
	once     sync.Once
	done     chan struct{}
}

func newGroup(mistaken bool) *group {
	return &group{mistaken: mistaken, done: make(chan struct{})}
}

func (g *group) Submit(task func()) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return errClosed
	}
	if g.mistaken {
		g.mu.Unlock()
		g.tasks.Add(1)
	} else {
		g.tasks.Add(1)
		g.mu.Unlock()
	}
	go func() {
		defer g.tasks.Done()
		task()
	}()
	return nil
}

func (g *group) Stop() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.once.Do(func() {
		go func() {
			g.tasks.Wait()
			close(g.done)
		}()
	})
}

func (g *group) Done() <-chan struct{} { return g.done }
