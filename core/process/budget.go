package process

import (
	"math"
	"time"
)

// budget is the time of a step. Both durations count from the begin of the step.
type budget struct {
	// timeout is the argument of ShutdownGracefully; 0 for a step with Run.
	timeout time.Duration

	// limit is the time after which the next step begins, even if this step still runs.
	limit time.Duration
}

// budget returns the time of step i. left is the time from the begin of the step to the
// Plan's Deadline. A Drain or Deadline of the step is used as set. Otherwise the step has
// left, less the time reserved for later steps, so that a stuck step does not starve later
// ones. It has at least half of left, so that later steps do not starve it.
func (p *Plan) budget(i int, left time.Duration) budget {
	s := &p.Steps[i]
	kept := p.kept(i + 1)
	if s.Executor == nil {
		most := allBut(kept, left)
		if s.patient {
			most -= min(heedTime, most/2) // to report the requests that it cut
		} else {
			most = min(DefaultStepDeadline, most)
		}
		return budget{limit: orDefault(s.Deadline, most)}
	}
	timeout := s.timeoutWithin(left)
	switch {
	case s.Deadline > 0:
		return budget{timeout, s.Deadline}
	case s.Drain > 0:
		return budget{timeout, sum(timeout, s.Drain)}
	}
	return budget{timeout, sum(timeout, allBut(kept, left-timeout))}
}

// notReadyTime returns how long Run waits for NotReady, so that a NotReady that hangs does
// not starve the steps.
func (p *Plan) notReadyTime(left time.Duration) time.Duration {
	return min(DefaultStepDeadline, allBut(sum(p.PreDrain, p.kept(0)), left))
}

// preDrainTime returns PreDrain, or less after a slow NotReady: if the steps would lack
// time, PreDrain is shortened by up to the time that NotReady took.
func (p *Plan) preDrainTime(left time.Duration) time.Duration {
	taken := p.deadline() - left
	return max(0, min(p.PreDrain, max(left-p.kept(0), p.PreDrain-taken)))
}

// allBut returns left minus kept, but at least half of left.
func allBut(kept, left time.Duration) time.Duration { return max(left-min(kept, left), left/2) }

// timeoutWithin returns the Timeout, shortened if it would pass at the deadline of the exit:
// the accepted tasks would then have no time, and the report could not name the running
// body. If less than twice the drain time is left, it returns half of left and not 0,
// because an executor that closes at once aborts its channels.
func (s *Step) timeoutWithin(left time.Duration) time.Duration {
	return max(s.Quiet, min(s.timeout(), left-min(s.drain(), left/2)))
}

// kept returns the time reserved for the steps from index first on.
func (p *Plan) kept(first int) (total time.Duration) {
	for i := first; i < len(p.Steps); i++ {
		total = sum(total, sum(p.Steps[i].declared(), heedTime))
	}
	return total
}

// declared returns the time that the fields of the step reserve. Defaults do not count: a
// step that sets no time reserves one second.
func (s *Step) declared() time.Duration {
	switch {
	case s.Deadline > 0:
		return s.Deadline
	case s.Executor == nil:
		return leastTime
	}
	return sum(max(s.Timeout, s.Quiet), s.drain())
}

func (s *Step) timeout() time.Duration { return orDefault(s.Timeout, DefaultStepDeadline) }

func (s *Step) drain() time.Duration { return orDefault(s.Drain, leastTime) }

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// sum saturates. b is not negative.
func sum(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
