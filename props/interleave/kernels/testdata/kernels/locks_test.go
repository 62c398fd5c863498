// Package kernels has one small concurrency bug in each test. A test whose name ends in
// Repaired is the same program without the bug.
package kernels

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// lockBoth locks two mutexes in the order of its arguments.
func lockBoth(x, y *sync.Mutex) {
	x.Lock()
	y.Lock()
	y.Unlock()
	x.Unlock()
}

// Two goroutines take two locks in different orders.
func TestLockOrder(t *testing.T) {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() { lockBoth(&a, &b) })
	wg.Go(func() { lockBoth(&b, &a) })
	wg.Wait()
}

func TestLockOrderRepaired(t *testing.T) {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() { lockBoth(&a, &b) })
	wg.Go(func() { lockBoth(&a, &b) })
	wg.Wait()
}

// Three goroutines take three locks in a ring.
func TestLockRing(t *testing.T) {
	var locks [3]sync.Mutex
	var wg sync.WaitGroup
	for i := range locks {
		wg.Go(func() { lockBoth(&locks[i], &locks[(i+1)%3]) })
	}
	wg.Wait()
}

func TestLockRingRepaired(t *testing.T) {
	var locks [3]sync.Mutex
	var wg sync.WaitGroup
	for i := range locks {
		j := (i + 1) % 3
		wg.Go(func() { lockBoth(&locks[min(i, j)], &locks[max(i, j)]) })
	}
	wg.Wait()
}

// account is locked by transfer in the order of the arguments.
type account struct {
	mu      sync.Mutex
	id      int
	balance int
}

func transfer(from, to *account, amount int) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.balance -= amount
	to.balance += amount
}

// Two transfers in opposite directions.
func TestTransfer(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	var wg sync.WaitGroup
	wg.Go(func() { transfer(a, b, 1) })
	wg.Go(func() { transfer(b, a, 1) })
	wg.Wait()
}

func TestTransferRepaired(t *testing.T) {
	a, b := &account{id: 1}, &account{id: 2}
	ordered := func(from, to *account, amount int) {
		if from.id > to.id {
			from, to, amount = to, from, -amount
		}
		transfer(from, to, amount)
	}
	var wg sync.WaitGroup
	wg.Go(func() { ordered(a, b, 1) })
	wg.Go(func() { ordered(b, a, 1) })
	wg.Wait()
}

// cacheOfOne fills itself on a miss. The error path of get forgets to unlock.
type cacheOfOne struct {
	mu     sync.Mutex
	closed bool
}

var errClosed = errors.New("closed")

func (c *cacheOfOne) get(unlock bool) error {
	c.mu.Lock()
	if c.closed {
		if unlock {
			c.mu.Unlock()
		}
		return errClosed
	}
	c.mu.Unlock()
	return nil
}

func (c *cacheOfOne) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
}

// An error path leaves the mutex locked.
func TestForgottenUnlock(t *testing.T) {
	var c cacheOfOne
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { c.get(false) })
	}
	wg.Go(c.close)
	wg.Wait()
}

func TestForgottenUnlockRepaired(t *testing.T) {
	var c cacheOfOne
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { c.get(true) })
	}
	wg.Go(c.close)
	wg.Wait()
}

// A method that holds the lock calls one that takes it, on a rare path.
func TestDoubleLock(t *testing.T) {
	var mu sync.Mutex
	var full atomic.Bool
	flush := func() {
		mu.Lock()
		full.Store(false)
		mu.Unlock()
	}
	var wg sync.WaitGroup
	wg.Go(func() { full.Store(true); flush() })
	wg.Go(func() {
		mu.Lock()
		defer mu.Unlock()
		if full.Load() {
			flush()
		}
	})
	wg.Wait()
}

func TestDoubleLockRepaired(t *testing.T) {
	var mu sync.Mutex
	var full atomic.Bool
	flushLocked := func() { full.Store(false) }
	var wg sync.WaitGroup
	wg.Go(func() {
		full.Store(true)
		mu.Lock()
		flushLocked()
		mu.Unlock()
	})
	wg.Go(func() {
		mu.Lock()
		defer mu.Unlock()
		if full.Load() {
			flushLocked()
		}
	})
	wg.Wait()
}

// A reader reads again while a writer waits.
func TestRecursiveRead(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.RLock()
		mu.RLock()
		mu.RUnlock()
		mu.RUnlock()
	})
	wg.Go(func() {
		mu.Lock()
		mu.Unlock()
	})
	wg.Wait()
}

func TestRecursiveReadRepaired(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.RLock()
		mu.RUnlock()
	})
	wg.Go(func() {
		mu.Lock()
		mu.Unlock()
	})
	wg.Wait()
}

// A reader turns itself into a writer, and nothing is locked in between.
func TestUpgrade(t *testing.T) {
	var mu sync.RWMutex
	made := 0
	create := func() {
		mu.RLock()
		missing := made == 0
		mu.RUnlock()
		if missing {
			mu.Lock()
			made++
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(create)
	}
	wg.Wait()
	if made != 1 {
		t.Fatalf("made %d times", made)
	}
}

func TestUpgradeRepaired(t *testing.T) {
	var mu sync.RWMutex
	made := 0
	create := func() {
		mu.RLock()
		missing := made == 0
		mu.RUnlock()
		if missing {
			mu.Lock()
			if made == 0 {
				made++
			}
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(create)
	}
	wg.Wait()
	if made != 1 {
		t.Fatalf("made %d times", made)
	}
}

// A callback is called with the lock held, and calls back.
func TestCallbackUnderLock(t *testing.T) {
	var mu sync.Mutex
	var onChange atomic.Pointer[func()]
	read := func() {
		mu.Lock()
		mu.Unlock()
	}
	set := func() {
		mu.Lock()
		defer mu.Unlock()
		if f := onChange.Load(); f != nil {
			(*f)()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { onChange.Store(&read) })
	wg.Go(set)
	wg.Wait()
}

func TestCallbackUnderLockRepaired(t *testing.T) {
	var mu sync.Mutex
	var onChange atomic.Pointer[func()]
	read := func() {
		mu.Lock()
		mu.Unlock()
	}
	set := func() {
		mu.Lock()
		f := onChange.Load()
		mu.Unlock()
		if f != nil {
			(*f)()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { onChange.Store(&read) })
	wg.Go(set)
	wg.Wait()
}

// TryLock is taken for a Lock: Unlock follows whether it succeeded or not.
func TestTryLockIgnored(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.Lock()
		mu.Unlock()
	})
	wg.Go(func() {
		mu.TryLock()
		mu.Unlock()
	})
	wg.Wait()
}

func TestTryLockIgnoredRepaired(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.Lock()
		mu.Unlock()
	})
	wg.Go(func() {
		if mu.TryLock() {
			mu.Unlock()
		}
	})
	wg.Wait()
}
