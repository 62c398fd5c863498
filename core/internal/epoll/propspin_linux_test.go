package epoll

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropSpins compares spins with a specification, in virtual time. A spin ends at a slow yield, or when its time has
// passed since the first yield. After a hit, the next park has a spin. After a miss, the next 2n+1 parks have
// none if they were n before, and 255 at most. A spin that ends at a slow yield counts as four misses.
func TestPropSpins(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		longest := rapid.SampledFrom([]time.Duration{0, 1, 60 * time.Microsecond, 200 * time.Microsecond}).Draw(r, "the longest spin")
		var spins [][]time.Duration
		var hits []bool
		for range rapid.IntRange(1, 12).Draw(r, "spins") {
			yields := rapid.SampledFrom([]time.Duration{0, 1, 20 * time.Microsecond, 49 * time.Microsecond, 50 * time.Microsecond, 50*time.Microsecond + 1, time.Second})
			spins = append(spins, rapid.SliceOfN(yields, 1, 6).Draw(r, "yields"))
			hits = append(hits, rapid.SampledFrom([]bool{false, false, true}).Draw(r, "hit"))
		}
		var wrong string
		synctest.Test(t, func(*testing.T) { wrong = checkSpins(longest, spins, hits) })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}

// checkSpins spins with the given yields, and describes the first difference from the specification, if there is one.
func checkSpins(longest time.Duration, spins [][]time.Duration, hits []bool) string {
	s := spinner{max: int64(longest)}
	if longest == 0 {
		if s.begin() {
			return "a spinner without a time spins"
		}
		return ""
	}
	doubled := 0 // misses since the last hit, up to 8
	for i, yields := range spins {
		parks := 0
		for !s.begin() {
			parks++
		}
		if want := 1<<doubled - 1; parks != want {
			return fmt.Sprintf("spin %d comes after %d parks without one, want %d", i, parks, want)
		}
		if !s.spinsOn(0) || !s.spinsOn(1) {
			return fmt.Sprintf("spin %d ends before its second yield", i)
		}
		spun, slow := time.Duration(0), false
		for n, d := range yields {
			time.Sleep(d)
			spun += d
			slow = d > 50*time.Microsecond
			goesOn := !slow && spun < longest
			if s.spinsOn(2+n) != goesOn {
				return fmt.Sprintf("spin %d of %v goes on after the yields %v, want that: %v", i, longest, yields[:n+1], goesOn)
			}
			if !goesOn {
				break
			}
		}
		switch {
		case hits[i] && !slow:
			s.hit()
			doubled = 0
			continue
		case slow:
			doubled += 3
		}
		s.miss()
		doubled = min(doubled+1, 8)
	}
	return ""
}

// TestPropYields compares the yields before parks with a specification, in virtual time: one in sixteen is timed, and if
// that one took more than 50 µs, the next 256 parks come without a yield.
func TestPropYields(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		times := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, 50 * time.Microsecond, 50*time.Microsecond + 1}), 17, 80).Draw(r, "times of yields")
		wrong := ""
		synctest.Test(t, func(*testing.T) {
			var c yieldBackoff
			for i, d := range times {
				without := 0
				for !c.before(func() { time.Sleep(d) }) { // of the bubble
					without++
				}
				want := 0
				if i > 0 && i%16 == 0 && times[i-1] > 50*time.Microsecond {
					want = 256
				}
				if without != want && wrong == "" {
					wrong = fmt.Sprintf("%d parks come without a yield before yield %d, want %d; the times are %v", without, i, want, times)
				}
			}
		})
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}

// TestSpinWithoutDescriptorsPollsNothing: without a descriptor nothing can be ready, and a poll is a system call.
func TestSpinWithoutDescriptorsPollsNothing(t *testing.T) {
	calls, polls := System(), 0
	kernel := calls.Poll
	calls.Poll = func(epfd int, events []unix.EpollEvent) (int, error) { polls++; return kernel(epfd, events) }
	p, err := NewNetpoll(nil, time.Hour, calls)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range poll.BusyTurns {
		if err := p.Wait(time.Now().Add(-1)); err != nil { // the spin ends at the deadline
			t.Fatal(err)
		}
	}
	if polls > 0 || p.Parks() > 0 {
		t.Errorf("%d polls and %d parks, want none", polls, p.Parks())
	}
}
