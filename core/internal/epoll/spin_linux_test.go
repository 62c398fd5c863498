package epoll

import (
	"runtime"
	"testing"
	"time"

	"eventide/core/internal/poll"
)

// Each spin that finds nothing doubles the number of parks without a spin, and one that finds
// work sets it to none. Without a time there is no spin.
func TestSpinsThatFindNothingGetRarer(t *testing.T) {
	s := spinner{max: int64(time.Millisecond)}
	parks := func() (n int) { // until the next spin
		for n = 0; !s.begin(); n++ {
		}
		return n
	}
	for misses, last := 1, 0; misses <= maxMisses; misses++ {
		s.miss()
		n := parks()
		if n <= last {
			t.Errorf("%d parks without a spin after %d misses, want more than %d", n, misses, last)
		}
		last = n
	}
	s.hit()
	if n := parks(); n != 0 {
		t.Errorf("%d parks without a spin after a hit, want none", n)
	}
	if (&spinner{}).begin() {
		t.Error("a spinner without a time spins")
	}
}

// A spin ends after its time, even if the yields are fast.
func TestSpinEndsAfterItsTime(t *testing.T) {
	s := spinner{max: int64(time.Hour)}
	s.spinsOn(0)
	s.spinsOn(1)
	s.last = int64(time.Hour) // the last yield is no slow one
	s.since = time.Now().Add(-time.Hour)
	if s.spinsOn(2) {
		t.Error("the spin continues after its time")
	}
}

// A wake-up that comes some yields after the begin of Wait is found by a spin, so that the loop
// does not park. A busy machine ends single spins early, so one of many has to find it.
func TestSpinFindsAWakeUpBeforeThePark(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p, err := NewNetpoll(nil, 10*time.Millisecond, System())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 10_000 {
		parks := p.Parks()
		woken := make(chan struct{})
		go func() {
			defer close(woken)
			for range 5 {
				runtime.Gosched()
			}
			p.Wake()
		}()
		if err := p.Wait(poll.Deadline{}); err != nil {
			t.Fatal(err)
		}
		<-woken
		if p.Parks() == parks {
			return
		}
	}
	t.Error("each of 10,000 sleeps was a park, though the wake-up came a few yields later")
}
