package epoll

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropRunnableGoroutineRunsBeforeThePark: on one processor, a goroutine that can run when Wait begins runs before the
// park, so that its wake-up ends Wait without a park and without a timer. After a long yield the next parks come without a
// yield. A busy machine may stop either goroutine at any time, so most sleeps have to be as described, and not all.
func TestPropRunnableGoroutineRunsBeforeThePark(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	yields, needless, others, missing := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		calls := System()
		timers, set, far := 0, calls.SetTimer, time.Now().Add(time.Hour)
		calls.SetTimer = func(fd int, d time.Duration) error { timers++; return set(fd, d) }
		p, err := NewNetpoll(nil, 0, calls)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		left := rapid.IntRange(0, 3).Draw(t, "parks left without a yield")
		p.yields.count = -left
		for i := range left + rapid.IntRange(0, timedYield-4).Draw(t, "later sleeps") {
			parks, woken := p.Parks(), make(chan struct{})
			go func() { p.Wake(); close(woken) }()
			timers, far = 0, far.Add(-time.Second) // a poller keeps a timer that fires earlier
			if err := p.Wait(far); err != nil {
				t.Fatalf("Wait: %v", err)
			}
			<-woken
			switch parked := p.Parks() > parks; {
			case i < left:
				if others++; !parked {
					missing++
				}
			default:
				if yields++; parked || timers > 0 {
					needless++
				}
			}
		}
	})
	if needless > yields/4 {
		t.Errorf("%d of %d sleeps were parks or had a timer, though a goroutine that could run had the wake-up", needless, yields)
	}
	if missing > others/4 {
		t.Errorf("%d of %d sleeps after a long yield were no parks, want none with a yield", missing, others)
	}
}
