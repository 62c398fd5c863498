package kernels

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// The caller leaves when the context is cancelled; the worker's result has no taker.
func TestContextLeak(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan int)
	go func() { result <- 1 }()
	go cancel()
	select {
	case <-result:
	case <-ctx.Done():
	}
}

func TestContextLeakRepaired(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan int, 1)
	go func() { result <- 1 }()
	go cancel()
	select {
	case <-result:
	case <-ctx.Done():
	}
}

// A cancellation is looked at once, before the wait that it should end.
func TestLostCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	work := make(chan int)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if ctx.Err() == nil {
			<-work
		}
	}()
	cancel()
	<-done
}

func TestLostCancelRepaired(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	work := make(chan int)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-work:
		case <-ctx.Done():
		}
	}()
	cancel()
	<-done
}

// A clean-up runs with the context of the request, which may be cancelled by then.
func TestWrongParent(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	cleaned := make(chan error, 1)
	go func() { cleaned <- ctx.Err() }()
	if err := <-cleaned; err != nil {
		t.Fatal("the clean-up was cancelled")
	}
}

func TestWrongParentRepaired(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	cleaned := make(chan error, 1)
	go func() { cleaned <- context.WithoutCancel(ctx).Err() }()
	if err := <-cleaned; err != nil {
		t.Fatal("the clean-up was cancelled")
	}
}

// A callback of AfterFunc runs though Stop came before its work.
func TestTimerStop(t *testing.T) {
	var closed atomic.Bool
	ran := make(chan struct{}, 1)
	timer := time.AfterFunc(time.Millisecond, func() {
		if closed.Load() {
			t.Error("the callback runs after the close")
		}
		ran <- struct{}{}
	})
	time.Sleep(time.Millisecond)
	stopped := timer.Stop()
	closed.Store(true)
	if !stopped {
		<-ran
	}
}

func TestTimerStopRepaired(t *testing.T) {
	var closed atomic.Bool
	ran := make(chan struct{}, 1)
	timer := time.AfterFunc(time.Millisecond, func() {
		if closed.Load() {
			t.Error("the callback runs after the close")
		}
		ran <- struct{}{}
	})
	time.Sleep(time.Millisecond)
	if !timer.Stop() {
		<-ran
	}
	closed.Store(true)
}

// An idle timer is reset by a request that came as it expired.
func TestTimerReset(t *testing.T) {
	var active, expired atomic.Bool
	timer := time.AfterFunc(time.Millisecond, func() {
		if !active.Load() {
			expired.Store(true)
		}
	})
	time.Sleep(time.Millisecond)
	active.Store(true)
	timer.Reset(time.Hour)
	if expired.Load() {
		t.Error("an active connection was closed as idle")
	}
	timer.Stop()
}

func TestTimerResetRepaired(t *testing.T) {
	var state atomic.Int32 // 1: active, 2: expired
	timer := time.AfterFunc(time.Millisecond, func() { state.CompareAndSwap(0, 2) })
	time.Sleep(time.Millisecond)
	if state.CompareAndSwap(0, 1) {
		timer.Reset(time.Hour)
		if state.Load() == 2 {
			t.Error("an active connection was closed as idle")
		}
	}
	timer.Stop()
}

// A goroutine ranges over a ticker, which Stop does not close.
func TestTickerLeak(t *testing.T) {
	ticker := time.NewTicker(time.Millisecond)
	var stopped atomic.Bool
	go func() {
		for range ticker.C {
			if stopped.Load() {
				return
			}
		}
	}()
	time.Sleep(3 * time.Millisecond)
	stopped.Store(true)
	ticker.Stop()
}

func TestTickerLeakRepaired(t *testing.T) {
	ticker := time.NewTicker(time.Millisecond)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	time.Sleep(3 * time.Millisecond)
	close(stop)
	ticker.Stop()
}

// pool runs jobs in one goroutine until it is stopped.
type pool struct {
	mu      sync.Mutex
	jobs    chan func()
	stopped atomic.Bool
	locked  bool // submit and stop exclude each other
	ended   chan struct{}
}

func newPool(locked bool) *pool {
	p := &pool{jobs: make(chan func(), 4), locked: locked, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for job := range p.jobs {
			job()
		}
	}()
	return p
}

func (p *pool) submit(job func()) bool {
	if p.locked {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	if p.stopped.Load() {
		return false
	}
	p.jobs <- job
	return true
}

func (p *pool) stop() {
	if p.locked {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	p.stopped.Store(true)
	close(p.jobs)
}

// A submit meets a stop.
func TestSubmitAgainstStop(t *testing.T) {
	p := newPool(false)
	together(func() { p.submit(func() {}) }, p.stop)
	<-p.ended
}

func TestSubmitAgainstStopRepaired(t *testing.T) {
	p := newPool(true)
	together(func() { p.submit(func() {}) }, p.stop)
	<-p.ended
}

// queue counts accepted items; close takes out those that are there.
type queue struct {
	mu       sync.Mutex
	items    []int
	closed   atomic.Bool
	handled  atomic.Int32
	accepted atomic.Int32
}

func (q *queue) put(check bool) {
	if q.closed.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if check && q.closed.Load() {
		return
	}
	q.accepted.Add(1)
	q.items = append(q.items, 1)
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed.Store(true)
	q.handled.Add(int32(len(q.items)))
	q.items = nil
}

// An item is put between the check for the close and the drain.
func TestDrainAgainstClose(t *testing.T) {
	var q queue
	together(func() { q.put(false) }, q.close)
	if q.accepted.Load() != q.handled.Load() {
		t.Fatal("an accepted item is stranded")
	}
}

func TestDrainAgainstCloseRepaired(t *testing.T) {
	var q queue
	together(func() { q.put(true) }, q.close)
	if q.accepted.Load() != q.handled.Load() {
		t.Fatal("an accepted item is stranded")
	}
}

// Two stops: the second returns before the first has released everything.
func TestDoubleStop(t *testing.T) {
	var stopping, released atomic.Bool
	stop := func() {
		if stopping.Swap(true) {
			return
		}
		released.Store(true)
	}
	check := func() {
		if stop(); !released.Load() {
			t.Error("stopped, and not released")
		}
	}
	together(check, check)
}

func TestDoubleStopRepaired(t *testing.T) {
	var once sync.Once
	var released atomic.Bool
	stop := func() { once.Do(func() { released.Store(true) }) }
	check := func() {
		if stop(); !released.Load() {
			t.Error("stopped, and not released")
		}
	}
	together(check, check)
}

// A task of a limited group starts another task, and the group is full.
func TestGroupLimit(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(2)
	for range 2 {
		g.Go(func() error {
			g.Go(func() error { return nil })
			return nil
		})
	}
	g.Wait()
}

func TestGroupLimitRepaired(t *testing.T) {
	var g errgroup.Group
	g.SetLimit(2)
	for range 2 {
		g.Go(func() error {
			if !g.TryGo(func() error { return nil }) {
				return nil // run it here
			}
			return nil
		})
	}
	g.Wait()
}

// Two goroutines acquire two units each, one by one.
func TestSemaphoreInParts(t *testing.T) {
	sem := semaphore.NewWeighted(2)
	ctx := context.Background()
	both := func() {
		sem.Acquire(ctx, 1)
		sem.Acquire(ctx, 1)
		sem.Release(2)
	}
	together(both, both)
}

func TestSemaphoreInPartsRepaired(t *testing.T) {
	sem := semaphore.NewWeighted(2)
	ctx := context.Background()
	both := func() {
		sem.Acquire(ctx, 2)
		sem.Release(2)
	}
	together(both, both)
}

// Callers that share a flight share the cancellation of the first one.
func TestFlightCancelled(t *testing.T) {
	var flight singleflight.Group
	first, cancel := context.WithCancel(context.Background())
	get := func(ctx context.Context) error {
		_, err, _ := flight.Do("key", func() (any, error) { return 1, ctx.Err() })
		return err
	}
	together(cancel, func() { get(first) }, func() {
		if err := get(context.Background()); err != nil {
			t.Error("cancelled by another caller")
		}
	})
}

func TestFlightCancelledRepaired(t *testing.T) {
	var flight singleflight.Group
	first, cancel := context.WithCancel(context.Background())
	get := func(ctx context.Context) error {
		_, err, _ := flight.Do("key", func() (any, error) { return 1, context.WithoutCancel(ctx).Err() })
		return err
	}
	together(cancel, func() { get(first) }, func() {
		if err := get(context.Background()); err != nil {
			t.Error("cancelled by another caller")
		}
	})
}
