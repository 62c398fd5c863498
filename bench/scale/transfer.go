package scale

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	transferGroups = 5000
	transferTrips  = 20 // of a group; two transfers each
	patientSpins   = 1 << 14
	lockedGroups   = 1000
	lockedInGroup  = 1000
)

// Transfer measures how long a cache line that another processor has written takes to
// move: two threads hand a word to each other, and the best of many groups of a few
// microseconds counts, because some of them are not interrupted even on a machine with
// other load. It returns 0 if Go may use only one processor.
func Transfer() time.Duration {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var word struct {
		_ [64]byte
		atomic.Int64
		_ [64]byte
	}
	var both sync.WaitGroup
	var best time.Duration
	both.Go(func() { best = handOver(&word.Int64, 0) })
	both.Go(func() { handOver(&word.Int64, 1) })
	both.Wait()
	return max(1, best/(2*transferTrips))
}

// handOver is one side. It waits for the even or the odd numbers, counts each on by one, and
// returns the least time of a group.
func handOver(word *atomic.Int64, side int64) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var best time.Duration
	for group := range int64(transferGroups) {
		began := time.Now()
		for trip := range int64(transferTrips) {
			next := 2*(group*transferTrips+trip) + side
			await(word, next)
			word.Store(next + 1)
		}
		if took := time.Since(began); best == 0 || took < best {
			best = took
		}
	}
	return best
}

// await spins until the word has the value. It yields now and then: the other side may be
// waiting for this processor.
func await(word *atomic.Int64, value int64) {
	for spins := 0; word.Load() != value; spins++ {
		if spins == patientSpins {
			spins = 0
			runtime.Gosched()
		}
	}
}

// Locked measures a locked instruction on a line that no other processor uses.
func Locked() time.Duration {
	var word atomic.Int64
	var best time.Duration
	for range lockedGroups {
		began := time.Now()
		for range lockedInGroup {
			word.Add(1)
		}
		if took := time.Since(began); best == 0 || took < best {
			best = took
		}
	}
	return max(1, best/lockedInGroup)
}
