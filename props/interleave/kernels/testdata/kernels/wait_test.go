package kernels

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The condition is tested before the lock is taken to wait for it.
func TestLostWakeUp(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	var ready atomic.Bool
	go func() {
		ready.Store(true)
		cond.Signal()
	}()
	if !ready.Load() {
		mu.Lock()
		cond.Wait()
		mu.Unlock()
	}
}

func TestLostWakeUpRepaired(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
		cond.Signal()
	}()
	mu.Lock()
	for !ready {
		cond.Wait()
	}
	mu.Unlock()
}

// waiters starts n goroutines that wait until ready, and counts those that wait.
func waiters(n int, announce func(cond *sync.Cond)) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			mu.Lock()
			for !ready {
				cond.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	ready = true
	mu.Unlock()
	announce(cond)
	wg.Wait()
}

// Two goroutines wait, and one is signalled.
func TestMissedBroadcast(t *testing.T)         { waiters(2, (*sync.Cond).Signal) }
func TestMissedBroadcastRepaired(t *testing.T) { waiters(2, (*sync.Cond).Broadcast) }

// A woken goroutine does not test its condition again.
func TestWaitWithoutLoop(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	items := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			if items == 0 {
				cond.Wait()
			}
			if items--; items < 0 {
				t.Error("took an item that is not there")
			}
		})
	}
	wg.Go(func() {
		for range 2 {
			mu.Lock()
			items++
			mu.Unlock()
			cond.Broadcast()
		}
	})
	wg.Wait()
}

func TestWaitWithoutLoopRepaired(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	items := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for items == 0 {
				cond.Wait()
			}
			if items--; items < 0 {
				t.Error("took an item that is not there")
			}
		})
	}
	wg.Go(func() {
		for range 2 {
			mu.Lock()
			items++
			mu.Unlock()
			cond.Broadcast()
		}
	})
	wg.Wait()
}

// The flag is set after the notification.
func TestNotifyBeforeChange(t *testing.T) {
	wake := make(chan struct{}, 1)
	var ready atomic.Bool
	go func() {
		wake <- struct{}{}
		ready.Store(true)
	}()
	<-wake
	if !ready.Load() {
		t.Fatal("woken before the change")
	}
}

func TestNotifyBeforeChangeRepaired(t *testing.T) {
	wake := make(chan struct{}, 1)
	var ready atomic.Bool
	go func() {
		ready.Store(true)
		wake <- struct{}{}
	}()
	<-wake
	if !ready.Load() {
		t.Fatal("woken before the change")
	}
}

// Add is called by the goroutine that is waited for.
func TestAddAfterWait(t *testing.T) {
	var wg sync.WaitGroup
	var n atomic.Int32
	for range 2 {
		go func() {
			wg.Add(1)
			n.Add(1)
			wg.Done()
		}()
	}
	time.Sleep(0)
	wg.Wait()
	if got := n.Load(); got != 2 {
		t.Fatalf("%d of 2 have been waited for", got)
	}
}

func TestAddAfterWaitRepaired(t *testing.T) {
	var wg sync.WaitGroup
	var n atomic.Int32
	wg.Add(2)
	for range 2 {
		go func() {
			n.Add(1)
			wg.Done()
		}()
	}
	wg.Wait()
	if got := n.Load(); got != 2 {
		t.Fatalf("%d of 2 have been waited for", got)
	}
}

// Two goroutines end one task, when its result and its cancellation meet.
func TestNegativeWaitGroup(t *testing.T) {
	var wg sync.WaitGroup
	var ended atomic.Bool
	wg.Add(1)
	finish := func() {
		if !ended.Load() {
			ended.Store(true)
			wg.Done()
		}
	}
	over := make(chan struct{}, 2)
	for range 2 {
		go func() { finish(); over <- struct{}{} }()
	}
	wg.Wait()
	<-over
	<-over
}

func TestNegativeWaitGroupRepaired(t *testing.T) {
	var wg sync.WaitGroup
	var ended atomic.Bool
	wg.Add(1)
	finish := func() {
		if ended.CompareAndSwap(false, true) {
			wg.Done()
		}
	}
	over := make(chan struct{}, 2)
	for range 2 {
		go func() { finish(); over <- struct{}{} }()
	}
	wg.Wait()
	<-over
	<-over
}

// A WaitGroup of a first round takes the tasks of a second one, whose tasks it does
// not wait for in time.
func TestWaitGroupReuse(t *testing.T) {
	var wg sync.WaitGroup
	var second atomic.Int32
	wg.Go(func() {
		go func() { wg.Go(func() { second.Add(1) }) }()
	})
	wg.Wait()
	if second.Load() != 1 {
		t.Fatal("the second round was not waited for")
	}
}

func TestWaitGroupReuseRepaired(t *testing.T) {
	var wg sync.WaitGroup
	var second atomic.Int32
	wg.Go(func() { wg.Go(func() { second.Add(1) }) })
	wg.Wait()
	if second.Load() != 1 {
		t.Fatal("the second round was not waited for")
	}
}

// An initialiser needs itself on a path that only a stopped service takes.
func TestOnceWithinOnce(t *testing.T) {
	var once sync.Once
	var stopped atomic.Bool
	var start func()
	start = func() {
		once.Do(func() {
			if stopped.Load() {
				start()
			}
		})
	}
	var wg sync.WaitGroup
	wg.Go(start)
	wg.Go(func() { stopped.Store(true) })
	wg.Wait()
}

func TestOnceWithinOnceRepaired(t *testing.T) {
	var once sync.Once
	var stopped atomic.Bool
	start := func() {
		once.Do(func() {
			if stopped.Load() {
				return
			}
		})
	}
	var wg sync.WaitGroup
	wg.Go(start)
	wg.Go(func() { stopped.Store(true) })
	wg.Wait()
}

// Once by hand: a second caller returns before the first has initialised.
func TestOnceByHand(t *testing.T) {
	var begun, done atomic.Bool
	initialise := func() {
		if begun.CompareAndSwap(false, true) {
			done.Store(true)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if initialise(); !done.Load() {
				t.Error("used before it was initialised")
			}
		})
	}
	wg.Wait()
}

func TestOnceByHandRepaired(t *testing.T) {
	var once sync.Once
	var done atomic.Bool
	initialise := func() { once.Do(func() { done.Store(true) }) }
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if initialise(); !done.Load() {
				t.Error("used before it was initialised")
			}
		})
	}
	wg.Wait()
}
