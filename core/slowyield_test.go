package core

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestPropSlowYieldIsPaid: the time of a yield is taken from the share if it is slowYield or more. The mutex is free during the
// yield and afterwards. The share is changed with the mutex: another caller changes it at the same time, which only virtual
// time keeps apart, so that the race detector sees a change without it.
func TestPropSlowYieldIsPaid(t *testing.T) {
	const full = slowShare * slowCredit
	rapid.Check(t, func(rt *rapid.T) {
		took := rapid.SampledFrom([]time.Duration{0, slowYield - 1, slowYield, slowYield + 1, 2 * slowYield}).Draw(rt, "a yield takes")
		left := rapid.SampledFrom([]time.Duration{-full, 0, full / 2, full, 2 * full}).Draw(rt, "of the credit is left")
		first := rapid.Bool().Draw(rt, "there was no slow one")
		wrong := ""
		synctest.Test(t, func(*testing.T) {
			var w backlogWatch
			var mu sync.Mutex
			begin := uptime()
			time.Sleep(time.Second) // of the bubble, like those below: only virtual time orders the two callers
			rests := uptime() - left
			go func() {
				time.Sleep(took / 2) // of the bubble
				mu.Lock()
				if !first {
					w.rests = rests
				}
				mu.Unlock()
			}()
			w.timed(&mu, func() {
				if !mu.TryLock() {
					wrong = "the mutex is locked in the yield"
					return
				}
				mu.Unlock()
				time.Sleep(took) // of the bubble
			})
			synctest.Wait()
			if !mu.TryLock() {
				wrong = "the mutex is locked after the yield"
				return
			}
			want := rests
			if first {
				want = 0
			}
			if took >= slowYield {
				if want = uptime() - full; !first {
					want = max(want, rests)
				}
				want += slowShare * took
			}
			if w.rests != want {
				wrong = "after the yield there is none before " + (w.rests - begin).String() + ", want " + (want - begin).String()
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// TestASlowYieldIsTimed: a yield of the product is one of those that TestPropSlowYieldIsPaid speaks of. On one processor another
// goroutine uses it in the yield; the scheduler may give it back to the caller at once, but not each time.
func TestASlowYieldIsTimed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 100 {
		var w backlogWatch
		var mu sync.Mutex
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for began := uptime(); uptime()-began < slowYield; {
			}
		}()
		w.yield(&mu)
		<-ended
		if w.rests != 0 {
			return
		}
	}
	t.Error("none of 100 yields beside a busy goroutine was slow, want one that is taken from the share")
}
