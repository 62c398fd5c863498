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
		p := placing{h: h, e: e, moves: moves, cancel: e.cancelled(), deadlines: make([]deadline, len(e.runs)+1), failed: map[placed]bool{}}
		if !p.from(0, 0, deadlineOf(e.submit)) { // the one in which the first early run comes latest says what is wrong
			p.lenient, p.failed = true, nil
			copy(p.deadlines, p.furthest)
			p.from(len(p.furthest), p.early.call, p.early.next)
		}
		e.deadlines = p.deadlines
	}
}

// placing explains the Reset calls of a timer that returned true: each moved the run that began
// next, unless the loop had dequeued that run already, which the log does not show; then it moved
// the run after. An explanation is wrong if with it a run began before its deadline. Which one
// is right may only show many runs later, when a timer that was late has caught up.
type placing struct {
	h     *History
	e     *entry
	moves []*call // in the order in which they took effect

	cancel    *call      // that returned true; nil: none did
	deadlines []deadline // of the runs, and of the run after the last one
	failed    map[placed]bool
	lenient   bool // runs may begin early

	early    placed     // where the search got furthest: this run began early in each explanation
	furthest []deadline // of the runs before it
}

// placed is a state of the search: the runs before run and the calls of Reset before call are
// explained.
type placed struct {
	run, call int
	next      deadline // of the run, unless another call moves it
}

// from explains the runs from the i-th on, and reports whether it could. The calls before call are
// explained. next is the deadline of the i-th run, unless another call moves it.
func (p *placing) from(i, call int, next deadline) bool {
	if i == len(p.e.runs) {
		if n := len(p.moves); call < n {
			next = deadlineOf(p.moves[n-1])
		}
		p.deadlines[i] = next
		return true
	}
	at := placed{i, call, next}
	if p.failed[at] {
		return false
	}
	s := p.e.runs[i]
	for n := p.before(s.begin.N, call); n >= call; n-- { // the run was dequeued after n calls
		due := next
		if n > call {
			due = deadlineOf(p.moves[n-1])
		}
		early := s.begin.At < due.at || p.cancel != nil && p.cancel.ret.N < s.begin.N && !p.h.taken(s, due.at, p.cancel.ret.N)
		if early && !p.lenient || !p.dequeued(s, n, due.at) {
			continue
		}
		p.deadlines[i] = due
		following, moved := deadline{p.e.after(due.at, s), nil}, p.before(s.endN(p.h), n)
		if moved > n {
			following = deadlineOf(p.moves[moved-1])
		}
		if p.from(i+1, moved, following) {
			return true
		}
	}
	p.failed[at] = true // not if lenient: then the first explanation is taken
	if i >= len(p.furthest) {
		p.early, p.furthest = at, slices.Clone(p.deadlines[:i])
	}
	return false
}

// before returns how many calls there are before n in the log. The calls before call are.
func (p *placing) before(n, call int) int {
	for call < len(p.moves) && p.moves[call].position() < n {
		call++
	}
	return call
}

// dequeued reports whether the loop may have dequeued the run s, due at due, after the first n
// calls: before the next call, or at its begin. In virtual time a run begins at the instant at
// which it is dequeued.
func (p *placing) dequeued(s *span, n int, due time.Duration) bool {
	if n == p.before(s.begin.N, n) {
		return true
	}
	c, h := p.moves[n].position(), p.h
	return p.e.periodic() && due <= h.at(c) && !(h.Rules.Virtual && s.begin.At > h.at(c)) && h.nextBody(s, c)
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
