package history

import (
	"fmt"
	"math"
	"time"
)

// judgeTimers is S10 (G7): no timer is early, equal deadlines run in the order scheduled, a
// fixed rate keeps its phase, arguments are checked, and no run follows a panic.
func judgeTimers(j *judge) {
	for _, e := range j.entries {
		if !e.op().Timers() || e.submit.ret == nil {
			continue
		}
		j.timerArguments(e)
		for i, s := range e.runs {
			j.exercised()
			j.runInTime(e, i, s)
		}
		j.runsWhileDue(e)
	}
	j.equalDeadlines()
}

// timerArguments judges the answer to a delay or a period (R71, B51).
func (j *judge) timerArguments(e *entry) {
	p, answer := e.submit.inv, e.submit.ret
	bad := e.periodic() && (p.Delay < 0 || p.Period <= 0)
	switch {
	case bad && answer.Outcome == Accepted:
		j.blame(at(answer.N), "%s with initial delay %v and period %v was accepted at #%d", e.what(), p.Delay, p.Period, answer.N)
	case !bad && answer.Outcome == RefusedBadArgument:
		j.blame(at(answer.N), "%s with delay %v and period %v was refused for its arguments at #%d", e.what(), p.Delay, p.Period, answer.N)
	}
}

// runInTime judges the i-th run of a timer: it is not early, it does not follow an abrupt
// end, and in virtual time only other bodies may make it late.
func (j *judge) runInTime(e *entry, i int, s *span) {
	due := e.due(i)
	if s.begin.At < due {
		j.blame(at(e.submit.inv.N, s.begin.N), "%s began at %v, %v before its deadline %v", e.run(i), s.begin.At, due-s.begin.At, due)
	}
	if i == 0 {
		return
	}
	before := e.runs[i-1]
	if before.end != nil && before.end.Outcome.Abrupt() {
		j.blame(at(before.end.N, s.begin.N), "%s began at #%d, though the run before %s at #%d", e.run(i), s.begin.N, before.end.Outcome, before.end.N)
		return
	}
	late, exact := j.Rules.lateness()
	if idle := s.begin.At - due - j.busy(due, s.begin.At); exact && idle > late {
		j.blame(at(before.begin.N, s.begin.N), "%s began at %v, and its phase puts it at %v", e.run(i), s.begin.At, due)
	}
}

// runsWhileDue judges that a periodic timer ran each time it was due before the timer, the log
// or admission ended (B52).
func (j *judge) runsWhileDue(e *entry) {
	if !e.periodic() || !e.began() || !j.Rules.Virtual {
		return
	}
	last := e.runs[len(e.runs)-1]
	if last.end == nil || last.end.Outcome.Abrupt() {
		return
	}
	end := j.at(len(j.Events))
	if j.asked != 0 {
		end = j.askedAt
	}
	due, until := e.due(len(e.runs)), j.lifeEnds(e, end)
	if due < until && until-due > j.busy(due, until) {
		j.blameAbsence(at(last.end.N), "%s was due at %v and never began, up to %v", e.run(len(e.runs)), due, until)
	}
}

// lifeEnds returns the instant, no later than end, from which on a timer need not run,
// because it was cancelled or is complete.
func (h *History) lifeEnds(e *entry, end time.Duration) time.Duration {
	if len(e.complete) > 0 {
		end = min(end, e.complete[0].At)
	}
	if c := e.cancelled(); c != nil {
		end = min(end, c.inv.At)
	}
	return end
}

// due returns the deadline of the i-th run.
func (e *entry) due(i int) time.Duration { return e.deadline(i).at }

// unmoved returns the deadline of the i-th run of a timer that was not moved. A fixed rate
// counts from the first deadline, a fixed delay from the end of the run before.
func (e *entry) unmoved(i int) time.Duration {
	first := e.firstDeadline()
	switch {
	case i == 0:
		return first
	case e.op() == OpFixedDelay && e.runs[i-1].end != nil:
		return Later(Later(e.runs[i-1].end.At, e.submit.inv.Period), e.jitter)
	case e.op() == OpFixedRate:
		for range i {
			first = Later(first, e.submit.inv.Period)
		}
	}
	return first
}

// run returns the name of one run in messages.
func (e *entry) run(i int) string {
	if !e.periodic() {
		return e.what()
	}
	return fmt.Sprintf("run %d of %s", i+1, e.what())
}

// exact reports whether the log shows the deadline to the nanosecond, and the loop knew it
// before it was reached, even if it replaced another deadline.
func (d deadline) exact() bool {
	c := d.by
	return c.ret != nil && c.ret.At == c.inv.At && (c.inv.Op != OpReset || c.inv.Delay > 0)
}

// equalDeadlines judges the order of timers whose first deadlines are equal. Only in
// virtual time does the log show equal deadlines. If bodies may overlap, timers with
// equal deadlines may begin in any order.
func (j *judge) equalDeadlines() {
	if !j.Rules.Virtual || j.Rules.Overlap {
		return
	}
	last := map[time.Duration]*entry{} // per deadline: the timer that began last, of those scheduled so far
	for _, e := range j.entries {
		if !e.op().Timers() || !e.accepted() || !e.began() || !e.deadline(0).exact() {
			continue
		}
		due := e.due(0)
		before := last[due]
		if before != nil && before.submit.returnedBefore(e.submit.inv.N) {
			j.exercised()
			if before.firstBegin() > e.firstBegin() {
				j.blame(at(before.firstBegin(), e.firstBegin()), "%s and %s have the same deadline %v, and %s, scheduled first, began second",
					before.what(), e.what(), due, before.what())
			}
		}
		last[due] = later(before, e)
	}
}

// judgeTimerPolicy is S24 (G7): which timers may not begin after a shutdown has begun, and
// which must. It is apart from S10, because a shutdown cancels timers on a clock that goes back, too.
func judgeTimerPolicy(j *judge) {
	if j.asked == 0 || j.first == nil || j.Rules.Timers == AnyTimers {
		return
	}
	allowed, required := j.timerHorizon()
	for i, s := range j.spans {
		e := s.entry
		if !e.op().Timers() || s.begin.N < j.asked || j.inFlight(i) {
			continue
		}
		j.exercised()
		run := s.begin.Run - 1
		if due := e.due(max(run, 0)); due > allowed {
			j.blame(at(j.asked, s.begin.N), "%s, due at %v, began at #%d, after the shutdown called at %v (policy %v)",
				e.run(max(run, 0)), due, s.begin.N, j.askedAt, j.Rules.Timers)
		}
	}
	for _, e := range j.entries {
		must := e.op().Timers() && e.submit.returnedBefore(j.asked) && e.accepted() && j.dueBefore(e, required)
		if must && !e.began() && e.cancelled() == nil && j.done != 0 {
			j.blame(at(e.submit.ret.N, j.asked), "%s, due at %v, did not run (policy %v)", e.what(), e.due(0), j.Rules.Timers)
		}
	}
}

// dueBefore reports whether the first deadline of a timer is certainly before the deadline
// of the policy. In real time the call took effect at an unknown moment.
func (h *History) dueBefore(e *entry, required time.Duration) bool {
	if h.Rules.Virtual {
		return e.due(0) < required
	}
	if required == beforeAll {
		return false // no deadline is before, and the difference below would overflow
	}
	late := max(0, h.askedAt-h.first.inv.At) // the executor may have failed before the shutdown call
	return e.deadline(0).known() < required-late
}

// beforeAll is earlier than every deadline. Do not use -1: deadlines may be before the log begins.
const beforeAll time.Duration = math.MinInt64

// timerHorizon returns the latest deadline of a timer that may run after the shutdown call,
// and the deadline before which every timer must run. A timer with exactly that deadline
// may run or not.
func (h *History) timerHorizon() (allowed, required time.Duration) {
	switch h.Rules.Timers {
	case RunDueTimers:
		return h.askedAt, h.askedAt
	case RunTimersUntilTimeout:
		limit := h.askedAt
		if h.first.inv.Op == OpShutdownGracefully {
			limit = Later(limit, h.first.inv.Timeout)
		}
		required = limit
		for _, c := range h.calls {
			if c.inv.Op == OpShutdown && !c.refused() {
				required = min(required, c.inv.At)
			}
		}
		return limit, required
	default:
		return beforeAll, beforeAll
	}
}

// inFlight reports whether the i-th body may have been dequeued before the shutdown call: it is
// the first to begin after the call, and no body ran at the call. With Rules.Overlap each
// goroutine dequeues bodies of its own, so bodies of other goroutines do not count.
func (h *History) inFlight(i int) bool {
	g := h.spans[i].begin.G
	for i--; i >= 0; i-- {
		if before := h.spans[i]; !h.Rules.Overlap || before.begin.G == g {
			return before.endN(h) < h.asked
		}
	}
	return true
}
