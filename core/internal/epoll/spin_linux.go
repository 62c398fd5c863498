package epoll

import "time"

// spinner decides whether to spin before a park. To spin is to poll for a while. A spin that finds
// nothing lasts the full time: a shorter one would end before the answer of a fast peer. Two things
// end it earlier: the deadline of the sleep, and a slow yield, which shows that other goroutines
// need the processor. How often it spins adapts: a miss doubles the number of parks without a spin,
// a hit sets it to zero. Loop only.
type spinner struct {
	max    int64 // nanoseconds; 0: never
	since  time.Time
	last   int64 // nanoseconds spun until the last turn
	misses int
	skip   int // the next so many parks have no spin
}

const (
	// slowYield is the time, in nanoseconds, above which a yield shows that other
	// goroutines need the processor. A goroutine that yields queues behind all of them; a
	// goroutine that is woken runs next.
	slowYield = int64(50 * time.Microsecond)
	maxMisses = 8
)

// begin reports whether to spin before this park.
func (s *spinner) begin() bool {
	if s.max == 0 {
		return false
	}
	if s.skip > 0 {
		s.skip--
		return false
	}
	return true
}

// spinsOn reports whether to spin for one more turn, which begins with a yield. It does not
// read the clock before the first turn: in a busy loop work usually waits after one yield, so
// that reading would be wasted.
func (s *spinner) spinsOn(turn int) bool {
	switch turn {
	case 0:
		return true
	case 1:
		s.since, s.last = time.Now(), 0
		return true
	}
	spun := int64(time.Since(s.since))
	slow := spun-s.last > slowYield
	s.last = spun
	if slow {
		s.misses += 3
	}
	return !slow && spun < s.max
}

// hit records that spinning has found work.
func (s *spinner) hit() { s.misses = 0 }

// miss records that spinning has found nothing.
func (s *spinner) miss() {
	s.misses = min(s.misses+1, maxMisses)
	s.skip = 1<<s.misses - 1
}

// yieldBackoff decides whether to yield once before parking, so that a goroutine that
// waits for a result of the last tasks need not also wait until the loop sleeps. While
// many goroutines need the processor a yield is long and delays readiness. So
// one yield in timedYield is timed, and a long one stops yielding for the next parks. Timing
// each yield would cost much of what yielding gains. Loop only.
type yieldBackoff struct {
	count int // yields since the last timed one; if negative, parks left without a yield
}

const (
	timedYield     = 16  // one yield in so many is timed
	unyieldedParks = 256 // parks without a yield after a slow one
)

// before is called before a park. It calls yield, unless this park has none, and reports whether
// it did.
func (c *yieldBackoff) before(yield func()) bool {
	c.count++
	switch {
	case c.count <= 0:
		return false
	case c.count < timedYield:
		yield()
	default:
		began := time.Now()
		yield()
		c.took(time.Since(began))
	}
	return true
}

// took records the duration of the timed yield.
func (c *yieldBackoff) took(d time.Duration) {
	c.count = 0
	if int64(d) > slowYield {
		c.count = -unyieldedParks
	}
}
