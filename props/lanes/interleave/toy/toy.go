// Package toy has four planted bugs. Each run of the lane begins by looking for them: if
// the scheduler does not work, none is found, and the run has shown nothing.
package toy

import (
	"sync"
	"sync/atomic"
)

// LostUpdate adds one from each of two goroutines, in two steps between which the other
// goroutine can run. It returns the sum; 2 is right.
func LostUpdate() int32 {
	var n atomic.Int32
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			seen := n.Load()
			n.Store(seen + 1)
		})
	}
	both.Wait()
	return n.Load()
}

// LostWakeUp has a goroutine that sleeps if it has seen no work, and does not check
// again after it has announced its sleep. If the work comes in between, nothing wakes
// the goroutine, and it sleeps for ever.
func LostWakeUp() {
	var asleep, work atomic.Bool
	wake := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		if !work.Load() {
			asleep.Store(true)
			<-wake
		}
		close(done)
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

// Unordered writes a plain variable in one goroutine and reads it in another, with
// nothing to order them: it is for -race builds.
func Unordered() int {
	n := 0
	var flag atomic.Bool
	done := make(chan struct{})
	go func() {
		n = 1
		flag.Store(true)
		close(done)
	}()
	seen := n
	<-done
	return seen + n
}

// OneAfterTheOther writes a plain variable in two goroutines. Even if the second begins
// after the first has ended, nothing orders them. It is for -race builds.
func OneAfterTheOther() int {
	n := 0
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { n = i })
	}
	both.Wait()
	return n
}
