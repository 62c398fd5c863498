package driver

import (
	"sync"
	"time"
)

// A budget is divided among the tests that are left. Time that a test does not need
// goes to the others.
type budget struct {
	mu      sync.Mutex
	total   time.Duration
	tests   int
	workers int
}

// share returns the budget of the next test; 0 is no limit.
func (b *budget) share() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total == 0 {
		return 0
	}
	workers := min(b.workers, max(b.tests, 1))
	share := max(b.total*time.Duration(workers)/time.Duration(max(b.tests, 1)), time.Millisecond)
	share = min(share, max(b.total, time.Millisecond))
	b.tests--
	b.total -= share / time.Duration(workers)
	b.total = max(b.total, time.Millisecond)
	return share
}

// unused gives back what a test left of its share. For a test that needed more than its
// share d is negative, and the excess is taken from the other tests.
func (b *budget) unused(d time.Duration) { b.spend(-d / time.Duration(b.workers)) }

// spend takes from the budget time that is not part of any share.
func (b *budget) spend(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total > 0 {
		b.total = max(b.total-d, time.Millisecond)
	}
}

// plain limits the run without control of a package with that many tests to half of the
// budget of its tests. 0 is no limit.
func (b *budget) plain(tests int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total * time.Duration(tests) / time.Duration(2*max(b.tests, 1))
}

// Limits of a run with a budget.
const (
	budgetGrace = time.Second      // how long a schedule may still run after the time of its test is over
	traceLimit  = 10 * time.Second // of the repetition from which a report is made
)

// timed says whether findings take their time from the budget of the test. It is false
// without Options.Budget, where the time of a search is not promised, and in Hunt, which
// wants the smallest schedule.
func (s *search) timed() bool { return s.opts.Budget > 0 && s.budget > 0 && !s.opts.hunting }

// spare is the rest of the budget of the test; it is negative if the test took more.
func (s *search) spare() time.Duration {
	if s.timed() {
		return s.budget - s.spent - s.confirming
	}
	return s.budget - s.spent
}

// minimiseBy is the time at which minimising must end if it begins at begin.
func (s *search) minimiseBy(begin time.Time) time.Time {
	if s.timed() {
		return begin.Add(min(minimiseLimit, max(s.spare(), 0)))
	}
	return begin.Add(minimiseLimit)
}

// tooLate says whether nothing is left for a finding but to repeat it once.
func (s *search) tooLate(begin time.Time) bool { return s.timed() && time.Since(begin) >= s.spare() }

// cutOff sets the time at which processes started by once are killed, if there is a
// budget.
func (s *search) cutOff(then time.Time) {
	if s.timed() {
		s.onceBy = then
	}
}

// alonePlain is how long a run of the test without control may take; 0 is no limit of its
// own.
func (s *search) alonePlain() time.Duration {
	if s.timed() {
		return max(s.spare()/2, budgetGrace)
	}
	return 0
}
