package verdicts

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestSpinBesideTimer(t *testing.T) {
	var n atomic.Int64
	go func() {
		time.Sleep(time.Millisecond)
		n.Store(1)
	}()
	for n.Load() == 0 {
	}
}

// The schedule may be unfair to the goroutine that ends the loop, but the guard must not
// fire because of that.
func TestSpinGuard(t *testing.T) {
	var done atomic.Bool
	go done.Store(true)
	for begin := time.Now(); !done.Load(); {
		if time.Since(begin) > time.Minute {
			t.Fatal("the guard has fired")
		}
	}
}

// The loop changes something, so that no time passes. Its schedule is too large to tell.
func TestBusyBesideTimer(t *testing.T) {
	var done atomic.Bool
	var n atomic.Int64
	time.AfterFunc(time.Hour, func() { done.Store(true) })
	for !done.Load() {
		n.Add(1)
	}
}
