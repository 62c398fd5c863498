package epoll

import (
	"flag"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropSpinsPollRarely: a spin polls in one of its yields out of four, because a poll is a system call, which delays the
// tasks of other loops on the same processor. It ends with the first poll that finds an event. On one processor, in virtual
// time: another goroutine counts the yields, roughly, since the runtime may run it less often than the loop.
func TestPropSpinsPollRarely(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		ready := rapid.IntRange(8, 40).Draw(r, "the poll that finds an event")
		polls, yields, parks := 0, 0, int64(0)
		synctest.Test(t, func(t *testing.T) { polls, yields, parks = spinUntilPoll(t, ready) })
		if parks > 0 || polls != ready || yields < 2*polls {
			r.Fatalf("%d parks, %d polls and %d yields, want no park, %d polls and about four times as many yields, twice at least", parks, polls, yields, ready)
		}
	})
}

// spinUntilPoll spins until the nth poll, which finds an event.
func spinUntilPoll(t *testing.T, nth int) (polls, yields int, parks int64) {
	calls := System()
	calls.Poll = func(_ int, events []unix.EpollEvent) (int, error) {
		if polls++; polls < nth {
			return 0, nil
		}
		events[0] = unix.EpollEvent{Events: unix.EPOLLIN, Fd: 7}
		return 1, nil
	}
	p, err := NewNetpoll(nil, time.Hour, calls)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.watched.Add(1)
	var over atomic.Bool
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for ; !over.Load(); yields++ {
			runtime.Gosched()
		}
	}()
	err = p.Wait(time.Time{})
	over.Store(true)
	<-counted
	if err != nil {
		t.Fatal(err)
	}
	return polls, yields, p.Parks()
}

// What ends a spin.
const (
	spinFindsNothing = iota
	spinFindsAnEvent
	spinFindsAWakeUp
)

// TestPropSpinsOfWait: Wait counts a spin that finds nothing as a miss, and one that finds an event or a wake-up as a hit. After n
// misses in a row the next 2^n-1 parks have no spin, and after a hit the next park has one. In virtual time.
func TestPropSpinsOfWait(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ends := rapid.SliceOfN(rapid.SampledFrom([]int{spinFindsNothing, spinFindsNothing, spinFindsAnEvent, spinFindsAWakeUp}), 1, 8).Draw(r, "the ends of the spins")
		var got, want []int
		synctest.Test(t, func(t *testing.T) { got = parksBetweenSpins(t, ends) })
		misses := 0
		for _, end := range ends {
			if misses++; end != spinFindsNothing {
				misses = 0
			}
			want = append(want, 1<<misses-1)
		}
		if !slices.Equal(got, want) {
			r.Fatalf("the spins are followed by %v parks without a spin, want %v; the ends of the spins %v", got, want, ends)
		}
	})
}

// parksBetweenSpins returns how many parks without a spin follow each spin, 1000 at most. ends says how the spins end.
// Each park finds an event.
func parksBetweenSpins(t *testing.T, ends []int) (parks []int) {
	var p *NetpollPoller
	parked, spun, end := int64(0), false, spinFindsNothing // of this Wait
	calls := System()
	calls.Poll = func(_ int, events []unix.EpollEvent) (int, error) {
		if p.Parks() == parked {
			time.Sleep(time.Nanosecond) // of the bubble: a spin has no more time
			spun = true
			switch end {
			case spinFindsNothing:
				return 0, nil
			case spinFindsAWakeUp:
				p.Wake()
				return 0, nil
			}
		}
		events[0] = unix.EpollEvent{Events: unix.EPOLLIN, Fd: 7}
		return 1, nil
	}
	p, err := NewNetpoll(nil, 1, calls)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.watched.Add(1)
	wait := func(finds int) bool {
		parked, spun, end = p.Parks(), false, finds
		if err := p.Wait(time.Time{}); err != nil {
			t.Fatal(err)
		}
		return spun
	}
	wait(ends[0])
	for _, next := range append(slices.Clone(ends[1:]), spinFindsAnEvent) {
		n := 0
		for n < 1000 && !wait(next) {
			n++
		}
		parks = append(parks, n)
	}
	return parks
}
