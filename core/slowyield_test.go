package core

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropSlowYieldIsPaid: a yield in which another goroutine has used the processor for some time is taken from the share,
// with the mutex, which is free afterwards; a shorter one is not. On one processor the scheduler may give it back to the
// caller at once, but not each time.
func TestPropSlowYieldIsPaid(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rapid.Check(t, func(rt *rapid.T) {
		took := rapid.SampledFrom([]time.Duration{0, slowYield + 1, 2 * slowYield}).Draw(rt, "another goroutine runs for")
		saved := time.Duration(rapid.IntRange(-2, 2).Draw(rt, "the last rest ended")) * slowShare * slowYield
		early := 0
		for range 100 {
			var w backlogWatch
			var mu sync.Mutex
			var over atomic.Bool
			ended := make(chan struct{})
			before := uptime()
			if saved != 0 {
				w.rests = before - slowShare*slowCredit/2 + saved
			}
			rests := w.rests
			go func() {
				defer close(ended)
				for began := uptime(); uptime()-began < took; {
				}
				over.Store(true)
			}()
			w.yield(&mu)
			after := uptime()
			during := over.Load()
			<-ended
			if !mu.TryLock() {
				rt.Fatal("yield keeps the mutex")
			}
			if after-before < slowYield {
				if w.rests != rests {
					rt.Fatalf("after a yield of less than %v, no yield before %v, want %v", slowYield, w.rests, rests)
				}
				if took < slowYield {
					return
				}
			}
			if !during || took < slowYield {
				continue
			}
			from := before - slowShare*slowCredit
			if rests != 0 {
				from = max(from, rests)
			}
			if least := from + slowShare*took; w.rests < least {
				if early++; early < 3 { // the scheduler may have interrupted the caller before the yield
					continue
				}
				rt.Fatalf("after a yield of %v or more, no yield before %v, want %v or later", took, w.rests, least)
			}
			from = after - slowShare*slowCredit
			if rests != 0 {
				from = max(from, rests)
			}
			if most := from + slowShare*(after-before); w.rests > most {
				rt.Fatalf("after a yield of %v or less, no yield before %v, want %v or earlier", after-before, w.rests, most)
			}
			return
		}
		if took >= slowYield {
			rt.Fatal("no other goroutine ran in 100 yields")
		}
	})
}
