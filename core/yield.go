package core

import (
	"runtime"
	"sync"
	"time"
)

const (
	// yieldEvery is the number of tasks between two yields: when the length of the backlog is
	// a multiple of yieldEvery, Execute yields. A growing backlog costs cache misses and
	// memory.
	yieldEvery = 256

	// firstCheck is the shortest backlog at which Execute checks the progress of the loop. It
	// checks again at each power of two.
	firstCheck = 8

	// notRunning is how long no task may begin or end before Execute yields. To wake a thread
	// takes about as long.
	notRunning = 20 * time.Microsecond

	// slowYield is how long a yield takes at least if the processor went to something other
	// than the loop: another process, or many goroutines. Slow yields may take one part in
	// slowShare of the time.
	slowYield = 500 * time.Microsecond
	slowShare = 64

	// slowCredit is what slow yields may take before the share counts: two or three time
	// slices. A single slow yield says little, because the machine may have stopped, or the
	// loop may have used its whole slice.
	slowCredit = 8 * time.Millisecond
)

// backlogWatch tells producers whether tasks are run while the backlog grows. A loop may be ready
// to run and not run: the kernel may have put its thread on the processor of a producer that never
// blocks. The Go scheduler counts that thread as running, but it waits for the end of the
// producer's time slice. A producer that yields ends the wait (SubmitLatency of package bench).
//
// Do not yield at a fixed length instead: 256 tasks are 0.2 ms at 1.5 million tasks per second,
// but 2 ms at 0.15 million; and a yield at each 64th task halves the throughput, because at full
// speed 64 tasks take less time than to wake a loop.
//
// A yield gives the processor to any thread that waits for it, also of another process, and then
// takes a time slice, a few milliseconds. On a busy machine a yield for each 256 tasks made
// Execute a hundred times as slow. There the kernel lets the loop's thread run in its turn
// anyway. So slow yields have a share of the time, and once they have used it up, Execute does
// not yield until they have it again. Do not rest after each slow yield instead: on a quiet machine
// one yield in some hundred is slow, and in a rest of 200 ms a loop that has to wait for the
// producer's processor waits for whole time slices. Guarded by the mutex of the executor or pool.
type backlogWatch struct {
	progress int64         // at since
	since    time.Duration // when that progress was seen first, by uptime
	rests    time.Duration // no yield before; 0: there was no slow one
}

// started is when the program started.
var started = time.Now()

// uptime reads the monotonic clock only. time.Now reads a second clock, and takes twice as long.
func uptime() time.Duration { return time.Since(started) }

// checksAt reports whether Execute calls mustYield when n tasks are queued.
func checksAt(n int) bool { return n >= firstCheck && (n&(n-1) == 0 || n%yieldEvery == 0) }

// mustYield reports whether the caller of Execute must yield after it has queued task n of the
// backlog. progress is a number that changes when a task begins or ends.
func (w *backlogWatch) mustYield(n int, progress int64) bool {
	now := uptime()
	if n == firstCheck || progress != w.progress {
		w.progress, w.since = progress, now
	}
	return (n%yieldEvery == 0 || now-w.since >= notRunning) && (w.rests == 0 || now >= w.rests)
}

// yield lets another goroutine run, and another thread. mu, which guards w, must not be held.
func (w *backlogWatch) yield(mu *sync.Mutex) { w.timed(mu, giveWay) }

// giveWay lets another goroutine run, and another thread.
func giveWay() {
	runtime.Gosched()
	_ = yieldThread() // it always succeeds
}

// timed calls yield, and takes its time from the share if it was slow. mu, which guards w, must not be held.
func (w *backlogWatch) timed(mu *sync.Mutex, yield func()) {
	began := uptime()
	yield()
	if took := uptime() - began; took >= slowYield {
		mu.Lock()
		w.pay(took)
		mu.Unlock()
	}
}

// pay takes the time of a slow yield from the share. Requires the mutex.
func (w *backlogWatch) pay(took time.Duration) {
	saved := uptime() - slowShare*slowCredit
	if w.rests == 0 || w.rests < saved {
		w.rests = saved
	}
	w.rests += slowShare * took
}
