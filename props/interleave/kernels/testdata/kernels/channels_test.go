package kernels

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Two goroutines find the channel open, and close it.
func TestDoubleClose(t *testing.T) {
	done := make(chan struct{})
	var closed atomic.Bool
	stop := func() {
		if !closed.Load() {
			closed.Store(true)
			close(done)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(stop)
	}
	wg.Wait()
}

func TestDoubleCloseRepaired(t *testing.T) {
	done := make(chan struct{})
	var closed atomic.Bool
	stop := func() {
		if closed.CompareAndSwap(false, true) {
			close(done)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(stop)
	}
	wg.Wait()
}

// A producer is still sending when the channel is closed.
func TestSendOnClosed(t *testing.T) {
	jobs := make(chan int, 4)
	var stopped atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 3 {
			if stopped.Load() {
				return
			}
			jobs <- i
		}
	})
	stopped.Store(true)
	close(jobs)
	wg.Wait()
}

func TestSendOnClosedRepaired(t *testing.T) {
	jobs := make(chan int, 4)
	var stopped atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 3 {
			if stopped.Load() {
				return
			}
			jobs <- i
		}
	})
	stopped.Store(true)
	wg.Wait()
	close(jobs)
}

// A channel field is used before another goroutine has made the channel: a send to nil
// waits for ever.
func TestNilChannel(t *testing.T) {
	var events atomic.Pointer[chan int]
	var none chan int
	events.Store(&none)
	var wg sync.WaitGroup
	wg.Go(func() {
		c := make(chan int, 1)
		events.Store(&c)
	})
	wg.Go(func() { *events.Load() <- 1 })
	wg.Wait()
}

func TestNilChannelRepaired(t *testing.T) {
	var events atomic.Pointer[chan int]
	c := make(chan int, 1)
	events.Store(&c)
	var wg sync.WaitGroup
	wg.Go(func() { *events.Load() <- 1 })
	wg.Wait()
}

// A full channel is sent to with the lock held that its receiver needs.
func TestSendUnderLock(t *testing.T) {
	var mu sync.Mutex
	events := make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 2 {
			mu.Lock()
			events <- i
			mu.Unlock()
		}
	})
	wg.Go(func() {
		for range 2 {
			mu.Lock()
			mu.Unlock()
			<-events
		}
	})
	wg.Wait()
}

func TestSendUnderLockRepaired(t *testing.T) {
	var mu sync.Mutex
	events := make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 2 {
			mu.Lock()
			mu.Unlock()
			events <- i
		}
	})
	wg.Go(func() {
		for range 2 {
			mu.Lock()
			mu.Unlock()
			<-events
		}
	})
	wg.Wait()
}

// The first of two answers is taken, and the other goroutine sends for ever.
func TestNobodyReceives(t *testing.T) {
	answers := make(chan int)
	var quick atomic.Bool
	for i := range 2 {
		go func() {
			if !quick.Swap(true) || i == 1 {
				answers <- i
			}
		}()
	}
	<-answers
}

func TestNobodyReceivesRepaired(t *testing.T) {
	answers := make(chan int, 2)
	var quick atomic.Bool
	for i := range 2 {
		go func() {
			if !quick.Swap(true) || i == 1 {
				answers <- i
			}
		}()
	}
	<-answers
}

// A select without the case that ends the loop.
func TestMissedCase(t *testing.T) {
	done, work := make(chan struct{}), make(chan int)
	go func() {
		for range 2 {
			select {
			case <-done:
				return
			default:
			}
			work <- 1 // has to be a case beside done
		}
	}()
	<-work
	close(done)
}

func TestMissedCaseRepaired(t *testing.T) {
	done, work := make(chan struct{}), make(chan int)
	go func() {
		for range 2 {
			select {
			case <-done:
				return
			case work <- 1:
			}
		}
	}()
	<-work
	close(done)
}

// Of two cases that are ready, a select may take the job after the stop.
func TestSelectPriority(t *testing.T) {
	stop, jobs := make(chan struct{}), make(chan int, 1)
	var stopped atomic.Bool
	go func() {
		stopped.Store(true)
		close(stop)
	}()
	jobs <- 1
	select {
	case <-stop:
	case <-jobs:
		if stopped.Load() {
			t.Error("a job ran after the stop")
		}
	}
}

func TestSelectPriorityRepaired(t *testing.T) {
	stop, jobs := make(chan struct{}), make(chan int, 1)
	var state atomic.Int32 // 1: a job runs, 2: stopped
	go func() {
		state.CompareAndSwap(0, 2)
		close(stop)
	}()
	jobs <- 1
	select {
	case <-stop:
	case <-jobs:
		if ran := state.CompareAndSwap(0, 1); ran && state.Load() == 2 {
			t.Error("a job ran after the stop")
		}
	}
}

// A select with a default case polls a goroutine that has given up.
func TestDefaultSpin(t *testing.T) {
	results := make(chan int, 1)
	var cancelled atomic.Bool
	go func() {
		if !cancelled.Load() {
			results <- 1
		}
	}()
	go cancelled.Store(true)
	for {
		select {
		case <-results:
			return
		default:
		}
	}
}

func TestDefaultSpinRepaired(t *testing.T) {
	results := make(chan int, 1)
	var cancelled atomic.Bool
	go func() {
		defer close(results)
		if !cancelled.Load() {
			results <- 1
		}
	}()
	go cancelled.Store(true)
	for {
		select {
		case <-results:
			return
		default:
		}
	}
}

// A range over a channel that an error path does not close.
func TestRangeWithoutClose(t *testing.T) {
	items := make(chan int, 2)
	var failed atomic.Bool
	go failed.Store(true)
	go func() {
		items <- 1
		if failed.Load() {
			return // has to close items too
		}
		close(items)
	}()
	for range items {
	}
}

func TestRangeWithoutCloseRepaired(t *testing.T) {
	items := make(chan int, 2)
	var failed atomic.Bool
	go failed.Store(true)
	go func() {
		defer close(items)
		items <- 1
		if failed.Load() {
			return
		}
	}()
	for range items {
	}
}

// A timeout that comes at the moment of the result: nobody takes the result.
func TestTimeoutLeak(t *testing.T) {
	result := make(chan int)
	go func() {
		time.Sleep(10 * time.Millisecond)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(10 * time.Millisecond):
	}
}

func TestTimeoutLeakRepaired(t *testing.T) {
	result := make(chan int, 1)
	go func() {
		time.Sleep(10 * time.Millisecond)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(10 * time.Millisecond):
	}
}
