package core

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"time"
)

// WithTimerJitter adds a random delay of zero or more and less than bound to the deadline of
// each run of each timer, so that many timers with the same deadline or period do not all run at
// once. The default is no delay.
//
// The sum is the run's deadline in every respect: a run is never early, timers run in the order
// of the sums (G7), Timer.Deadline returns the sum, and WithTimersAtShutdown decides by the sum.
//
// Each run has a delay of its own, and delays do not add up. A fixed rate keeps its phase: run k
// is due at initial + k*period + its delay, which is also less than period, so that the deadlines
// of one timer never go back. A fixed delay counts from the end of the run before. The delay given
// to Reset counts from the call of Reset.
//
// The executor reads one value of source for each call of Schedule, ScheduleAtFixedRate,
// ScheduleWithFixedDelay and Reset, and after each run of a periodic timer. So the same values of
// the source and the same order of calls and runs give the same delays.
// A nil source means rand.NewPCG(rand.Uint64(), rand.Uint64()), which differs in each process.
// Executors that are made with the same Option, such as the children of a group, share the source;
// one goroutine reads it at a time. The source must not call the executor, which may wait for it.
// A panic of the source has the effect of a panic of the clock: see Clock.
//
// bound must be positive.
func WithTimerJitter(bound time.Duration, source rand.Source) Option {
	if source == nil {
		source = rand.NewPCG(rand.Uint64(), rand.Uint64())
	}
	j := &jitter{bound: bound, source: source}
	return func(c *config) error {
		if bound <= 0 {
			return argumentError("WithTimerJitter", "bound is %v, want more than 0", bound)
		}
		c.jitter = j
		return nil
	}
}

// jitter is the random delay of the timers of all executors that have the option.
type jitter struct {
	bound time.Duration

	mu     sync.Mutex // no other mutex is locked while it is held
	source rand.Source
}

// drawJitter returns the delay of the next run of a timer. period has the meaning of
// Timer.period: negative for a fixed delay. drawJitter calls the user's source, so the executor's
// mutex must not be held.
func (s *setup) drawJitter(period time.Duration) time.Duration {
	j := s.cfg.jitter
	if j == nil {
		return 0
	}
	bound := j.bound
	if period > 0 {
		bound = min(bound, period)
	}
	// The high word of the product is less than bound. rand.N would read the source again
	// for some values, and for ever if the source is constant.
	delay, _ := bits.Mul64(j.read(), uint64(bound))
	return time.Duration(delay)
}

func (j *jitter) read() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.source.Uint64()
}
