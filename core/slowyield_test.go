package core

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSlowYieldIsPaid: a yield in which another goroutine has used the processor for some time is taken from the share, with
// the mutex, which is free afterwards. On one processor the scheduler may give it back to the caller at once, but not
// each time.
func TestSlowYieldIsPaid(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const took = 3 * slowYield
	for range 100 {
		var w backlogWatch
		var mu sync.Mutex
		var over atomic.Bool
		ended := make(chan struct{})
		before := uptime()
		go func() {
			defer close(ended)
			for began := uptime(); uptime()-began < took; {
			}
			over.Store(true)
		}()
		w.yield(&mu)
		during := over.Load()
		<-ended
		if !during {
			continue
		}
		if least := before + slowShare*(took-slowCredit); w.rests == 0 || w.rests < least {
			t.Errorf("after a yield of %v or more, no yield before %v, want %v or later", took, w.rests, least)
		}
		if !mu.TryLock() {
			t.Error("yield keeps the mutex")
		}
		return
	}
	t.Error("no other goroutine ran in 100 yields")
}
