package core_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"eventide/core"
)

const forever = time.Duration(math.MaxInt64)

// timersSpec specifies the timers of one loop, by time since the start.
type timersSpec struct {
	policy    core.TimersAtShutdown
	now       time.Duration
	busyUntil time.Duration // a hold ends then
	timers    []*plannedTimer
	running   *plannedTimer
	horizon   time.Duration // timers that are due later do not run

	called, closed  bool
	timedOut        bool
	quiet           time.Duration
	quietFrom       time.Duration
	closesAt, ended time.Duration
	counts          core.Stats
	log             []string
}

type plannedTimer struct {
	timersCall
	at, ranAt   time.Duration
	err         error
	over, moved bool
	cancelled   bool // while it ran
	ran         bool
}

// runTo lets the loop run until nothing more happens before t.
func (s *timersSpec) runTo(t time.Duration) {
	for s.ended == 0 {
		if s.busyUntil <= s.now {
			s.purge()
			if timer := s.first(); timer != nil && timer.at <= s.now {
				s.runTimer(timer)
				continue
			}
			s.quietEnds()
			if s.closed && s.first() == nil {
				s.ended = s.now
				return
			}
		}
		next := s.nextEvent()
		if next >= t {
			s.now = max(s.now, min(t, next))
			if t != forever {
				s.now = t - 1
			}
			return
		}
		s.now = next
		if s.called && !s.closed && s.now >= s.closesAt {
			s.close(true)
		}
	}
}

// nextEvent returns when something happens next: a hold, the quiet period or the timeout ends, or a timer is due.
func (s *timersSpec) nextEvent() time.Duration {
	next := forever
	if s.called && !s.closed {
		next = s.closesAt
	}
	if s.busyUntil > s.now {
		return min(next, s.busyUntil)
	}
	if timer := s.first(); timer != nil {
		return min(next, timer.at)
	}
	if s.called && !s.closed {
		next = min(next, s.quietEnd())
	}
	return next
}

// first returns the next timer to run, or nil. Timers that are due at one instant run in the order scheduled.
func (s *timersSpec) first() (first *plannedTimer) {
	for _, timer := range s.timers {
		if !timer.over && (first == nil || timer.at < first.at) {
			first = timer
		}
	}
	return first
}

func (s *timersSpec) runTimer(timer *plannedTimer) {
	n := slices.Index(s.timers, timer)
	s.running, timer.ranAt = timer, timer.at
	s.log = append(s.log, fmt.Sprintf("%d runs at %v", n, s.now))
	if !timer.ran {
		for _, op := range timer.inside {
			s.log = append(s.log, s.call(timer.nested(op, n)))
		}
	}
	timer.ran, s.running, s.quietFrom = true, nil, s.now
	s.counts.TimersRun++
	switch {
	case timer.op == "once":
		s.end(timer, nil)
		return
	case timer.cancelled:
		s.end(timer, core.ErrCancelled)
		return
	case timer.moved:
	case timer.op == "rate":
		timer.at += timer.every()
	default:
		timer.at = s.now + timer.every()
	}
	timer.moved = false
	if s.closed || timer.at > s.horizon {
		s.end(timer, core.ErrCancelled)
	}
}

func (s *timersSpec) end(timer *plannedTimer, err error) {
	timer.over, timer.err = true, err
	s.counts.Timers--
	if err == nil {
		s.counts.TimersEnded++
	} else {
		s.counts.TimersCancelled++
	}
}

// purge cancels the timers that do not run any more.
func (s *timersSpec) purge() {
	for _, timer := range s.timers {
		if !timer.over && timer.at > s.horizon {
			s.end(timer, core.ErrCancelled)
		}
	}
}

func (s *timersSpec) quietEnd() time.Duration { return s.quietFrom + s.quiet }

func (s *timersSpec) quietEnds() {
	if s.called && !s.closed && s.first() == nil && s.quietEnd() <= s.now {
		s.close(false)
	}
}

func (s *timersSpec) shutDown(end timersEnd) {
	s.called, s.quiet, s.quietFrom, s.closesAt = true, end.quiet, max(s.now, s.busyUntil), s.now+end.timeout
	switch s.policy {
	case core.CancelTimers:
		s.horizon = -1
	case core.RunDueTimers:
		s.horizon = s.now
	default:
		s.horizon = max(s.now, s.closesAt-1)
	}
	if end.timeout == 0 {
		s.close(false)
	}
}

func (s *timersSpec) close(timedOut bool) {
	s.closed, s.timedOut, s.horizon = true, timedOut, min(s.horizon, s.now)
}

// call makes a call, and returns its result.
func (s *timersSpec) call(c timersCall) string {
	at := s.now + c.delayAt(s.now)
	decided := s.closed || s.called && s.policy != core.RunTimersUntilTimeout
	switch c.op {
	case "cancel", "reset":
		if len(s.timers) == 0 {
			return "none"
		}
		timer := s.timers[c.which(len(s.timers))]
		if c.op == "cancel" {
			return fmt.Sprint("cancel ", s.cancel(timer))
		}
		moves := !timer.over && !decided && at <= s.horizon
		if timer == s.running {
			moves = moves && timer.op != "once" && !timer.cancelled
			timer.moved = timer.moved || moves
		} else {
			moves = moves && timer.at <= s.horizon
		}
		if moves {
			timer.at = at
		}
		return fmt.Sprint("reset ", moves)
	case "hold":
		if s.busyUntil > s.now {
			return "none"
		}
		if !s.closed {
			s.busyUntil = s.now + c.holds()
			s.quietFrom = s.busyUntil
		}
		return fmt.Sprint("hold ", !s.closed)
	}
	if s.closed {
		return "schedule false"
	}
	timer := &plannedTimer{timersCall: c, at: at, ranAt: -1}
	s.timers = append(s.timers, timer)
	s.counts.Timers++
	s.counts.TimersScheduled++
	if decided || at > s.horizon {
		s.end(timer, core.ErrCancelled)
	}
	return "schedule true"
}

func (s *timersSpec) cancel(timer *plannedTimer) bool {
	switch {
	case timer.over || timer.cancelled:
		return false
	case timer != s.running:
		s.end(timer, core.ErrCancelled)
		return true
	}
	timer.cancelled = timer.op != "once"
	return timer.cancelled
}
