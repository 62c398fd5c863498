package epoll

import "time"

// spinner decides whether to look for work once more before parking. It spins for
// the full time or not at all: a short spin never sees the answer that comes fast
// only if somebody waits for it. What adapts is how often: a miss doubles the
// number of sleeps that go by without a spin, a hit makes it zero. Loop only.
type spinner struct {
	max    int64 // nanoseconds; 0: never
	since  time.Time
	last   int64 // nanoseconds spun, as of the turn before
	misses int
	skip   int // sleeps to go by
}

const (
	// slowYield is how long a yield takes if others need the processor: one who
	// yields queues behind all of them, while one who is woken runs next.
	slowYield = int64(50 * time.Microsecond)
	maxMisses = 8
)

// begin reports whether to spin before this sleep.
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

// goesOn is asked before each turn, which begins with a yield. It does not read
// the clock before the first: work that is there after one yield is the common
// case of a busy loop, and to read the clock takes as long.
func (s *spinner) goesOn(turn int) bool {
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

// hit says that spinning has found work.
func (s *spinner) hit() { s.misses = 0 }

// miss says that it has not.
func (s *spinner) miss() {
	s.misses = min(s.misses+1, maxMisses)
	s.skip = 1<<s.misses - 1
}

// yieldBackoff decides whether to yield once before parking, so that a goroutine that waits for
// what the loop has just done does not wait for the loop to fall asleep as well.
// Where many others need the processor a yield is long, and readiness would wait for
// its end: each so many yields are timed, and a long one stops the next ones. To
// time all of them would cost a good part of what they gain. Loop only.
type yieldBackoff struct {
	count int       // of yields, or below zero of parks to go by without one
	began time.Time // of the yield that is being timed
}

const (
	timedYield     = 16  // each so many yields are timed
	unyieldedParks = 256 // parks without a yield after a slow one
)

// begin reports whether to yield.
func (c *yieldBackoff) begin() bool {
	c.count++
	if c.count == timedYield {
		c.began = time.Now()
	}
	return c.count > 0
}

// end is called after the yield.
func (c *yieldBackoff) end() {
	if c.count == timedYield {
		c.took(time.Since(c.began))
	}
}

// took says how long the yield was that has been timed.
func (c *yieldBackoff) took(d time.Duration) {
	c.count = 0
	if int64(d) > slowYield {
		c.count = -unyieldedParks
	}
}
