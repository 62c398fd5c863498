package pollertest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"eventide/core"
)

// sleepCases are the cases about Wait, Wake and deadlines.
func sleepCases() []Case {
	return []Case{
		{Name: "wake before wait", Run: run(wakeBeforeWait)},
		{Name: "wake while waiting", Run: run(wakeWhileWaiting)},
		{Name: "coalesced wakes", Run: run(coalescedWakes)},
		{Name: "a wake is for one wait", Run: run(wakeIsForOneWait)},
		{Name: "deadline", Run: run(deadlines)},
		{Name: "deadline in the past", Run: run(pastDeadline)},
		{Name: "deadline far away", Run: run(farDeadline)},
		{Name: "deadline after one that was never reached", Run: run(movedDeadlines)},
		{Name: "no deadline after one that has passed", Run: run(noDeadlineAfterOne)},
		{Name: "wake at the deadline", Run: run(wakeAtDeadline)},
		{Name: "late wake after close", Run: run(lateWake)},
		{Name: "close with a wake pending", Run: run(func(s *script) error { s.Poller.Wake(); return nil })},
		{Name: "close with a deadline pending", Run: run(func(s *script) error {
			s.Poller.Wake()
			return s.wait(s.now().Add(time.Hour))
		})},
	}
}

func wakeBeforeWait(s *script) error {
	for range 100 {
		s.Poller.Wake()
		if err := s.wait(core.Deadline{}); err != nil {
			return err
		}
	}
	return nil
}

// wakeWhileWaiting has no other waker that could make up for a lost wake-up.
func wakeWhileWaiting(s *script) error {
	for i := range 500 {
		var waker sync.WaitGroup
		waker.Go(func() {
			for range i % 50 {
				runtime.Gosched()
			}
			s.Poller.Wake()
		})
		err := s.wait(core.Deadline{})
		waker.Wait()
		if err != nil {
			return fmt.Errorf("wake %d: %w", i, err)
		}
		// The wake-up may have come after a return without a reason: then it is still
		// pending.
		if err := s.returnsUntil(s.now().Add(10 * time.Microsecond)); err != nil {
			return fmt.Errorf("after wake %d: %w", i, err)
		}
	}
	return nil
}

// returnsUntil waits until the deadline has passed, and returns an error if Wait returns
// too often before it.
func (s *script) returnsUntil(until core.Deadline) error {
	for n := 0; s.now().Before(until); n++ {
		if n == mostEarly {
			return fmt.Errorf("Wait returned %d times before its deadline, with nothing to report", n)
		}
		if err := s.wait(until); err != nil {
			return err
		}
	}
	return nil
}

// mostEarly is how often Wait may return before a deadline: for a pending wake-up, for a
// late one, for an earlier deadline of its timer, and once more.
const mostEarly = 4

func coalescedWakes(s *script) error {
	for range 5 {
		for range 1000 {
			s.Poller.Wake()
		}
		if err := s.returnsUntil(s.now().Add(2 * time.Millisecond)); err != nil {
			return fmt.Errorf("after 1000 wakes: %w", err)
		}
	}
	return nil
}

func wakeIsForOneWait(s *script) error {
	for range 5 {
		s.Poller.Wake()
		if err := s.wait(core.Deadline{}); err != nil {
			return err
		}
		if err := s.returnsUntil(s.now().Add(2 * time.Millisecond)); err != nil {
			return fmt.Errorf("the wake-up was consumed before: %w", err)
		}
	}
	return nil
}

// deadlines uses short deadlines, which may pass between the setting of a timer and the
// sleep, and some longer ones.
func deadlines(s *script) error {
	for d := time.Duration(0); d < 30*time.Microsecond; d += 97 * time.Nanosecond {
		if err := s.returnsUntil(s.now().Add(d)); err != nil {
			return fmt.Errorf("deadline in %v: %w", d, err)
		}
	}
	for _, d := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 7 * time.Millisecond} {
		if err := s.returnsUntil(s.now().Add(d)); err != nil {
			return fmt.Errorf("deadline in %v: %w", d, err)
		}
	}
	return nil
}

func pastDeadline(s *script) error {
	for _, ago := range []time.Duration{0, 1, time.Hour, 100 * 365 * 24 * time.Hour} {
		for range 3 {
			if err := s.wait(s.now().Add(-ago)); err != nil {
				return err
			}
		}
	}
	return nil
}

// farDeadline: a deadline in centuries is like none, and must not be an error.
func farDeadline(s *script) error {
	for range 3 {
		s.Poller.Wake()
		if err := s.wait(s.now().Add(1<<63 - 1)); err != nil {
			return err
		}
	}
	// The timer may still be set to the far deadline: the next one is earlier.
	return s.returnsUntil(s.now().Add(time.Millisecond))
}

// movedDeadlines moves the deadline both ways, and reaches every third one.
func movedDeadlines(s *script) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		until := s.now().Add(time.Duration(rng.IntN(400)) * time.Microsecond)
		if i%3 == 0 {
			if err := s.returnsUntil(until); err != nil {
				return fmt.Errorf("deadline %d: %w", i, err)
			}
			continue
		}
		s.Poller.Wake()
		if err := s.wait(until); err != nil {
			return err
		}
	}
	return nil
}

func noDeadlineAfterOne(s *script) error {
	for range 3 {
		if err := s.returnsUntil(s.now().Add(time.Millisecond)); err != nil {
			return err
		}
		s.Poller.Wake()
		if err := s.wait(core.Deadline{}); err != nil {
			return err
		}
	}
	return nil
}

func wakeAtDeadline(s *script) error {
	for i := range 300 {
		until := s.now().Add(50 * time.Microsecond)
		var waker sync.WaitGroup
		waker.Go(func() {
			for range i {
				runtime.Gosched()
			}
			s.Poller.Wake()
		})
		err := s.returnsUntil(until)
		waker.Wait()
		if err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	return nil
}

// lateWake: wake-ups by slow wakers after Close have no effect.
func lateWake(s *script) error {
	s.Poller.Wake()
	if err := s.wait(core.Deadline{}); err != nil {
		return err
	}
	wakers := func(n int) *sync.WaitGroup {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				for range 100 {
					s.Poller.Wake()
				}
			})
		}
		return &all
	}
	during := wakers(4)
	err := s.Poller.Close()
	during.Wait()
	wakers(4).Wait()
	s.Poller = closedAlready{s.Poller}
	return err
}

// closedAlready prevents run from closing the poller a second time.
type closedAlready struct{ core.Poller }

func (closedAlready) Close() error { return nil }
