package verdicts

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"
)

// Waits that end, however long they are.

func TestTimerOfAnHour(t *testing.T) { <-time.After(time.Hour) }

func TestSleepOfADay(t *testing.T) { time.Sleep(24 * time.Hour) }

func TestContextOfAnHour(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	<-ctx.Done()
}

func TestFunctionAfterAnHour(t *testing.T) {
	done := make(chan struct{})
	time.AfterFunc(time.Hour, func() { close(done) })
	select {
	case <-done:
	case <-time.After(2 * time.Hour):
		t.Error("late")
	}
}

// A goroutine listens to a ticker meanwhile, and nobody listens to another.
func TestDayBesideTickers(t *testing.T) {
	begin := time.Now()
	idle, second := time.NewTicker(time.Millisecond), time.NewTicker(time.Minute)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-second.C:
			case <-stop:
				return
			}
		}
	}()
	<-time.After(24 * time.Hour)
	second.Stop()
	close(stop)
	<-time.After(24 * time.Hour)
	if d := time.Since(begin); d < 48*time.Hour || d > 48*time.Hour+time.Minute {
		t.Error(d)
	}
	idle.Stop()
}

// The last of many ticks ends the wait.
func TestManyTicks(t *testing.T) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for begin := time.Now(); time.Since(begin) < 10*time.Hour; {
			<-tick.C
		}
		close(done)
	}()
	<-done
}

// A ticker goes on, and a timer that never ends is pending.
func TestPartialNever(t *testing.T) {
	var mu sync.Mutex
	n := 0
	go func() {
		never := time.NewTimer(math.MaxInt64)
		for range time.NewTicker(time.Second).C {
			if n++; n < 0 {
				mu.Unlock()
				never.Stop()
			}
		}
	}()
	mu.Lock()
	mu.Lock()
}

// A goroutine sleeps longer than the clock goes on.
func TestCenturies(t *testing.T) {
	done := make(chan struct{})
	time.AfterFunc(220*365*24*time.Hour, func() { close(done) })
	<-done
}
