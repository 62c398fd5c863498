package kernels

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// A list is replaced by a changed copy, without a comparison with what was copied.
func TestStaleSnapshot(t *testing.T) {
	var list atomic.Pointer[[]int]
	list.Store(&[]int{})
	add := func(i int) {
		changed := append(slices.Clone(*list.Load()), i)
		list.Store(&changed)
	}
	together(func() { add(1) }, func() { add(2) })
	if n := len(*list.Load()); n != 2 {
		t.Fatalf("%d of 2 are in the list", n)
	}
}

func TestStaleSnapshotRepaired(t *testing.T) {
	var list atomic.Pointer[[]int]
	list.Store(&[]int{})
	add := func(i int) {
		for {
			old := list.Load()
			changed := append(slices.Clone(*old), i)
			if list.CompareAndSwap(old, &changed) {
				return
			}
		}
	}
	together(func() { add(1) }, func() { add(2) })
	if n := len(*list.Load()); n != 2 {
		t.Fatalf("%d of 2 are in the list", n)
	}
}

// A counted object is acquired after its last reference was released.
func TestRefCount(t *testing.T) {
	var refs, released atomic.Int32
	refs.Store(1)
	release := func() {
		if refs.Add(-1) == 0 {
			released.Add(1)
		}
	}
	acquire := func() bool {
		if refs.Load() == 0 {
			return false
		}
		refs.Add(1)
		return true
	}
	together(release, func() {
		if acquire() {
			if released.Load() != 0 {
				t.Error("acquired after the release")
			}
			release()
		}
	})
}

func TestRefCountRepaired(t *testing.T) {
	var refs, released atomic.Int32
	refs.Store(1)
	release := func() {
		if refs.Add(-1) == 0 {
			released.Add(1)
		}
	}
	acquire := func() bool {
		for n := refs.Load(); n > 0; n = refs.Load() {
			if refs.CompareAndSwap(n, n+1) {
				return true
			}
		}
		return false
	}
	together(release, func() {
		if acquire() {
			if released.Load() != 0 {
				t.Error("acquired after the release")
			}
			release()
		}
	})
}

// A task of a group cleans up with the group's context, which another task's error
// cancels.
func TestGroupContext(t *testing.T) {
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error { return errClosed })
	g.Go(func() error {
		if ctx.Err() != nil {
			t.Error("the clean-up was cancelled")
		}
		return nil
	})
	g.Wait()
}

func TestGroupContextRepaired(t *testing.T) {
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error { return errClosed })
	g.Go(func() error {
		if context.WithoutCancel(ctx).Err() != nil {
			t.Error("the clean-up was cancelled")
		}
		return nil
	})
	g.Wait()
}

// A unit is released that was not acquired, because the context was cancelled.
func TestReleaseWithoutAcquire(t *testing.T) {
	sem := semaphore.NewWeighted(1)
	ctx, cancel := context.WithCancel(context.Background())
	work := func() {
		sem.Acquire(ctx, 1)
		sem.Release(1)
	}
	together(work, work, cancel)
}

func TestReleaseWithoutAcquireRepaired(t *testing.T) {
	sem := semaphore.NewWeighted(1)
	ctx, cancel := context.WithCancel(context.Background())
	work := func() {
		if sem.Acquire(ctx, 1) == nil {
			sem.Release(1)
		}
	}
	together(work, work, cancel)
}

// Forget lets a second call begin while the first one still runs.
func TestFlightForget(t *testing.T) {
	var flight singleflight.Group
	var running atomic.Int32
	load := func() (any, error) {
		if running.Add(1) > 1 {
			t.Error("two calls of one key at once")
		}
		running.Add(-1)
		return 1, nil
	}
	together(func() { flight.Do("key", load) }, func() { flight.Forget("key"); flight.Do("key", load) })
}

func TestFlightForgetRepaired(t *testing.T) {
	var flight singleflight.Group
	var running atomic.Int32
	load := func() (any, error) {
		if running.Add(1) > 1 {
			t.Error("two calls of one key at once")
		}
		running.Add(-1)
		return 1, nil
	}
	together(func() { flight.Do("key", load) }, func() { flight.Do("key", load) })
}

// barrier lets two goroutines pass together, again and again.
type barrier struct {
	mu         sync.Mutex
	cond       *sync.Cond
	arrived    int
	generation int
	counted    bool // a goroutine waits for the next generation, not for a count
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	generation := b.generation
	if b.arrived++; b.arrived == 2 {
		b.generation++
		b.arrived = 0
		b.cond.Broadcast()
		return
	}
	for b.counted && b.generation == generation || !b.counted && b.arrived != 0 {
		b.cond.Wait()
	}
}

func passTwice(b *barrier) {
	b.cond = sync.NewCond(&b.mu)
	pass := func() {
		b.wait()
		b.wait()
	}
	together(pass, pass)
}

// A goroutine arrives for the second time before the other has seen the first.
func TestBarrierReuse(t *testing.T)         { passTwice(&barrier{}) }
func TestBarrierReuseRepaired(t *testing.T) { passTwice(&barrier{counted: true}) }

// A subscriber misses the only event, because it subscribes after the check.
func TestLateSubscriber(t *testing.T) {
	var mu sync.Mutex
	ready := false
	var subscribers []chan struct{}
	together(func() {
		mu.Lock()
		done := ready
		mu.Unlock()
		if done {
			return
		}
		c := make(chan struct{})
		mu.Lock()
		subscribers = append(subscribers, c)
		mu.Unlock()
		<-c
	}, func() {
		mu.Lock()
		defer mu.Unlock()
		ready = true
		for _, c := range subscribers {
			close(c)
		}
	})
}

func TestLateSubscriberRepaired(t *testing.T) {
	var mu sync.Mutex
	ready := false
	var subscribers []chan struct{}
	together(func() {
		mu.Lock()
		if ready {
			mu.Unlock()
			return
		}
		c := make(chan struct{})
		subscribers = append(subscribers, c)
		mu.Unlock()
		<-c
	}, func() {
		mu.Lock()
		defer mu.Unlock()
		ready = true
		for _, c := range subscribers {
			close(c)
		}
	})
}

// A future is completed and cancelled, and both report success.
func TestResultAgainstCancel(t *testing.T) {
	var state, won atomic.Int32
	end := func(to int32) {
		if state.Load() == 0 {
			state.Store(to)
			won.Add(1)
		}
	}
	together(func() { end(1) }, func() { end(2) })
	if won.Load() != 1 {
		t.Fatal("completed and cancelled")
	}
}

func TestResultAgainstCancelRepaired(t *testing.T) {
	var state, won atomic.Int32
	end := func(to int32) {
		if state.CompareAndSwap(0, to) {
			won.Add(1)
		}
	}
	together(func() { end(1) }, func() { end(2) })
	if won.Load() != 1 {
		t.Fatal("completed and cancelled")
	}
}

// A sum of two accounts is read with one lock after the other, between the two steps of
// a transfer.
func TestSumWithoutBothLocks(t *testing.T) {
	a, b := &account{balance: 1}, &account{balance: 1}
	read := func(x *account) int {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.balance
	}
	together(func() { transfer(a, b, 1) }, func() {
		if sum := read(a) + read(b); sum != 2 {
			t.Errorf("the sum is %d, want 2", sum)
		}
	})
}

func TestSumWithoutBothLocksRepaired(t *testing.T) {
	a, b := &account{balance: 1}, &account{balance: 1}
	together(func() { transfer(a, b, 1) }, func() {
		a.mu.Lock()
		b.mu.Lock()
		sum := a.balance + b.balance
		b.mu.Unlock()
		a.mu.Unlock()
		if sum != 2 {
			t.Errorf("the sum is %d, want 2", sum)
		}
	})
}
