package main

import (
	"sync"
	"sync/atomic"
	"time"
)

func lostUpdate() bool {
	var n atomic.Int32
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { n.Store(n.Load() + 1) })
	}
	both.Wait()
	return n.Load() != 2
}

func lostWakeUp(repaired bool) {
	var asleep, work atomic.Bool
	wake, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		if repaired {
			asleep.Store(true)
			if !work.Load() {
				<-wake
			}
		} else if !work.Load() {
			asleep.Store(true)
			<-wake
		}
	}()
	work.Store(true)
	if asleep.Load() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	<-done
}

func leak() bool {
	c := make(chan int)
	var mu sync.Mutex
	gone := false
	go func() {
		mu.Lock()
		left := gone
		mu.Unlock()
		if !left {
			c <- 1
		}
	}()
	mu.Lock()
	defer mu.Unlock()
	gone = true
	return false
}

func panics() bool {
	c := make(chan int)
	var both sync.WaitGroup
	var closed atomic.Bool
	for range 2 {
		both.Go(func() {
			if !closed.Load() {
				closed.Store(true)
				close(c)
			}
		})
	}
	both.Wait()
	return false
}

// livelock has one goroutine that takes step after step, and one that waits for it.
func livelock() bool {
	var n atomic.Int32
	done := make(chan struct{})
	go func() {
		for n.Load() == 0 || n.Load() == 1 {
			n.Store(1 - n.Load())
		}
		close(done)
	}()
	<-done
	return false
}

func ticker() bool {
	t := time.NewTicker(time.Millisecond)
	for range t.C {
	}
	return false
}

// early has a timer that expires before the work beside it is done.
func early() bool {
	var work atomic.Int32
	expired := make(chan int32, 1)
	time.AfterFunc(time.Second, func() { expired <- work.Load() })
	for range 3 {
		work.Add(1)
	}
	return <-expired < 3
}

func late() bool {
	start, expired := time.Now(), make(chan time.Duration, 1)
	time.AfterFunc(time.Second, func() { expired <- time.Since(start) })
	return <-expired == time.Second+1
}
