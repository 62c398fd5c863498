package history

import (
	"cmp"
	"slices"
	"time"
)

// deadline is when a run of a timer is due.
type deadline struct {
	at time.Duration
	by *call // the Schedule or Reset that set it; nil: computed from the previous run
}

// known returns an instant at which the deadline has certainly been reached: the call that
// set it read the clock before the call returned.
func (d deadline) known() time.Duration {
	if d.by == nil || d.by.ret == nil {
		return d.at
	}
	return Later(Later(d.by.ret.At, max(0, d.by.inv.Delay)), d.by.entry.jitter)
}

// deadlineOf returns the deadline that a Schedule or Reset call sets.
func deadlineOf(c *call) deadline {
	return deadline{Later(Later(c.inv.At, max(0, c.inv.Delay)), c.entry.jitter), c}
}

// JitterOf returns how much later the deadlines of the timer that inv schedules are than without
// jitter.
func (r Rules) JitterOf(inv *Event) time.Duration {
	if inv.Op == OpFixedRate {
		return max(0, min(r.Jitter, inv.Period)) / 2
	}
	return r.Jitter / 2
}

// deadline returns the deadline of the i-th run.
func (e *entry) deadline(i int) deadline {
	if n := len(e.deadlines); n > 0 {
		return e.deadlines[min(i, n-1)]
	}
	if i == 0 {
		return deadlineOf(e.submit)
	}
	return deadline{e.unmoved(i), nil}
}

// position returns where in the log a call took effect, as far as the log shows it.
func (c *call) position() int {
	if c.admit != nil {
		return c.admit.N
	}
	return c.inv.N
}

// moves returns the Reset calls that returned true, in the order in which they took effect.
func (e *entry) moves() []*call {
	var all []*call
	for _, c := range e.resets {
		if c.answered(True) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *call) int { return cmp.Compare(a.position(), b.position()) })
	return all
}

// placeMoves finds the run that each Reset moved, and computes the deadlines of all runs of
// a moved timer.
func (h *History) placeMoves() {
	for _, e := range h.entries {
		moves := e.moves()
		if len(moves) == 0 || !e.op().Timers() {
			continue
		}
		next := deadlineOf(e.submit)
		for i, s := range e.runs {
			for len(moves) > 0 && h.movedBefore(moves[0], e, i, next.at) {
				next, moves = deadlineOf(moves[0]), moves[1:]
			}
			e.deadlines = append(e.deadlines, next)
			next = deadline{e.after(next.at, s), nil}
			for len(moves) > 0 && moves[0].position() < s.endN(h) {
				next, moves = deadlineOf(moves[0]), moves[1:]
			}
		}
		for _, c := range moves {
			next = deadlineOf(c)
		}
		e.deadlines = append(e.deadlines, next)
	}
}

// movedBefore reports whether a Reset that returned true moved the i-th run, which until then
// was due at due. A run that the loop had dequeued before the Reset may begin after the
// Reset in the log; then the Reset moved the next run of a periodic timer. In virtual time
// such a run begins at the instant of the Reset. If the run is also due by the new deadline, the
// run after it tells.
func (h *History) movedBefore(c *call, e *entry, i int, due time.Duration) bool {
	s, n, to := e.runs[i], c.position(), deadlineOf(c).at
	switch {
	case s.begin.N < n:
		return false
	case !e.periodic() || due > h.at(n) || h.Rules.Virtual && s.begin.At > h.at(n) || !h.nextBody(s, n):
		return true
	case s.begin.At < to:
		return false
	}
	return i+1 == len(e.runs) || e.runs[i+1].begin.At >= e.after(to, s)
}

// nextBody reports whether s is the first body that ends after n, so that the loop may have
// dequeued it before n. With Rules.Overlap each goroutine dequeues bodies of its own, so bodies of
// other goroutines do not count.
func (h *History) nextBody(s *span, n int) bool {
	for _, other := range h.spans {
		if other.endN(h) > n && (!h.Rules.Overlap || other.begin.G == s.begin.G) {
			return other == s
		}
	}
	return false
}

// after returns the deadline that follows a run which was due at due.
func (e *entry) after(due time.Duration, s *span) time.Duration {
	if e.op() == OpFixedDelay && s.end != nil {
		return Later(Later(s.end.At, e.submit.inv.Period), e.jitter)
	}
	return Later(due, e.submit.inv.Period)
}

// soonest returns the earliest of all deadlines that the first run of a timer may have
// had.
func (e *entry) soonest() time.Duration {
	due := e.firstDeadline()
	for _, c := range e.resets {
		if !c.answered(False) {
			due = min(due, deadlineOf(c).at)
		}
	}
	return due
}

// movable judges the answer to each Reset of a timer (G8): true only if a run could still be
// moved, false only if the body had begun, the timer had ended, or a shutdown had decided.
func (j *judge) movable(e *entry) {
	for _, c := range e.resets {
		switch {
		case c.answered(True):
			j.exercised()
			j.movedInTime(e, c)
		case c.answered(False):
			j.exercised()
			if over := e.began() && (!e.periodic() || e.runs[len(e.runs)-1].abrupt()) || len(e.complete) > 0 && e.complete[0].N < c.ret.N; over {
				continue
			}
			if yes := e.cancelled(); !e.accepted() || yes != nil && yes.inv.N < c.ret.N || j.asked != 0 && j.asked < c.ret.N || j.mayHaveFailed(c) {
				continue
			}
			j.blame(at(c.ret.N), "%s was waiting, and its reset at #%d said false", e.what(), c.ret.N)
		}
	}
}

// mayHaveFailed reports whether a shutdown may have begun before the call returned without
// an event that shows it.
func (j *judge) mayHaveFailed(c *call) bool {
	return j.asked == 0 && j.done != 0 && j.done < c.ret.N || !j.Rules.Has(States) && j.first != nil && j.first.inv.N < c.ret.N
}

// movedInTime judges a Reset that returned true.
func (j *judge) movedInTime(e *entry, c *call) {
	n := c.inv.N
	switch yes := e.cancelled(); {
	case yes != nil && yes.returnedBefore(n):
		j.blame(at(yes.ret.N, c.ret.N), "%s was reset at #%d, after its cancel had returned true at #%d", e.what(), c.ret.N, yes.ret.N)
	case !e.periodic() && e.began() && e.firstBegin() < n:
		j.blame(at(e.firstBegin(), c.ret.N), "%s began at #%d, and its reset at #%d returned true", e.what(), e.firstBegin(), c.ret.N)
	case len(e.complete) > 0 && e.complete[0].N < n:
		j.blame(at(e.complete[0].N, c.ret.N), "%s had ended at #%d, and its reset at #%d returned true", e.what(), e.complete[0].N, c.ret.N)
	case j.closed != 0 && j.closed < n, j.decidedBefore(n):
		j.blame(at(max(j.asked, j.closed), c.ret.N), "%s was reset at #%d, called after the shutdown had decided about it", e.what(), c.ret.N)
	}
}

// decidedBefore reports whether a shutdown call before n has decided which waiting timers
// run.
func (j *judge) decidedBefore(n int) bool {
	decides := j.Rules.Timers == CancelTimers || j.Rules.Timers == RunDueTimers
	return decides && j.first != nil && j.first.returnedBefore(n)
}
