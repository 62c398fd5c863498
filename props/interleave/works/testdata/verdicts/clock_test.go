package verdicts

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	last := time.Now()
	if d := last.Format("01-02 15:04"); d == "01-01 00:00" || last.Year() < 2020 {
		t.Fatal("an odd day to begin with:", last)
	}
	for range 1000 {
		now := time.Now()
		if !now.After(last) {
			t.Fatal("two readings are equal:", now)
		}
		last = now
	}
}

// A guard of five seconds must not fire while others work.
func TestGuard(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				mu.Lock()
				n++
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("the guard has fired")
	}
}

// Guards of a tenth of a second must not fire during operations of a few hundredths.
func guarded(t *testing.T, operations int) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range operations / 2 {
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		t.Error("the guard has fired")
	}
}

func TestLargeGuard(t *testing.T)  { guarded(t, 180000) }
func TestLargerGuard(t *testing.T) { guarded(t, 290000) }

// A loop that waits for the clock, and changes something each time.
func TestBusyWait(t *testing.T) {
	var mu sync.Mutex
	n := 0
	for begin := time.Now(); time.Since(begin) < time.Second; {
		mu.Lock()
		n++
		mu.Unlock()
	}
}

// Only early time shows it: the worker is late.
func TestEarly(t *testing.T) {
	result := make(chan int, 1)
	go func() { result <- 1 }()
	select {
	case <-result:
	case <-time.After(10 * time.Millisecond):
		t.Fatal("time-out")
	}
}

// Two timers that end within microseconds of each other.
func TestTimers(t *testing.T) {
	c := make(chan int, 1)
	time.AfterFunc(time.Millisecond, func() {
		select {
		case c <- 1:
		default:
		}
	})
	select {
	case <-c:
	case <-time.After(time.Millisecond):
		t.Fatal("time-out")
	}
}

// Two timers that are due at once: the second may be seen first.
func TestTimerOrder(t *testing.T) {
	a, b := time.NewTimer(time.Millisecond), time.NewTimer(time.Millisecond)
	select {
	case <-a.C:
	case <-b.C:
		t.Fatal("the second timer")
	}
}

// A result that comes at the moment of the time-out is in time.
func TestResultInTime(t *testing.T) {
	result := make(chan int, 1)
	late := time.NewTimer(10 * time.Millisecond)
	go func() {
		time.Sleep(10 * time.Millisecond)
		result <- 1
	}()
	select {
	case <-late.C:
	case <-result:
		t.Fatal("in time")
	}
}
