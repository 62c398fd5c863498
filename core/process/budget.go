package process

import (
	"math"
	"time"
)

// budget is the time that a step has, counted from its begin.
type budget struct {
	// timeout is the argument of ShutdownGracefully; 0 for a step with Run.
	timeout time.Duration

	// limit is when the next step begins, if this one has not ended before.
	limit time.Duration
}

// budget returns the time of step i, which begins when left is left of the Plan's
// Deadline. A Drain or Deadline that the step gives is used as it is. Otherwise the
// step has the rest, less the time of the later steps: a stuck step does not
// starve them. In a Plan that is short for all of its steps, half of the rest is the
// least: the later steps do not starve this one.
func (p *Plan) budget(i int, left time.Duration) budget {
	s := &p.Steps[i]
	kept := p.kept(i + 1)
	if s.Executor == nil {
		return budget{limit: orDefault(s.Deadline, min(DefaultStepDeadline, allBut(kept, left)))}
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

// notReadyTime returns how long NotReady may take. One that hangs does not starve the steps.
func (p *Plan) notReadyTime(left time.Duration) time.Duration {
	return min(DefaultStepDeadline, allBut(sum(p.PreDrain, p.kept(0)), left))
}

// preDrainTime returns PreDrain, or less after a slow NotReady: what that has taken of the
// time of the steps comes out of PreDrain.
func (p *Plan) preDrainTime(left time.Duration) time.Duration {
	taken := p.deadline() - left
	return max(0, min(p.PreDrain, max(left-p.kept(0), p.PreDrain-taken)))
}

func allBut(kept, left time.Duration) time.Duration { return max(left-min(kept, left), left/2) }

// timeoutWithin returns the Timeout, or less: if it passed at the deadline of the exit, the
// accepted tasks would have no time, and the report could not name the body that runs.
// Of little time it is half: an executor that is closed at once aborts its channels.
func (s *Step) timeoutWithin(left time.Duration) time.Duration {
	return max(s.Quiet, min(s.timeout(), left-min(s.drain(), left/2)))
}

// kept returns how much of the exit's time belongs to the steps from number first on.
func (p *Plan) kept(first int) (total time.Duration) {
	for i := first; i < len(p.Steps); i++ {
		total = sum(total, sum(p.Steps[i].declared(), heedTime))
	}
	return total
}

// declared returns how long the step may take by its own fields. The defaults are no
// declaration: a step that gives no time has a second.
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
