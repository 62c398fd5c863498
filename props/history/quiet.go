package history

import (
	"slices"
	"time"
)

// window holds the parameters of a graceful shutdown and its instants in the log. From
// these follow the instants at which G10 and G11 allow admission to end.
type window struct {
	*History
	start          time.Duration // the shutdown call
	quiet, timeout time.Duration
	end            time.Duration // when admission ended; without States, when the executor was done
	holding        []*entry      // registrations, and timers if the policy waits for them: see held
}

// closeWindow returns the window of the first shutdown call. There is none if that call
// was not graceful, or if admission does not end in the log.
func (h *History) closeWindow() (window, bool) {
	w := window{History: h, start: h.askedAt, timeout: Never}
	if h.first == nil || !h.Rules.Has(QuietPeriod) {
		return w, false
	}
	if !h.Rules.Virtual {
		w.start = min(w.start, h.first.inv.At) // it took effect at some moment of the call
	}
	switch h.first.inv.Op {
	case OpShutdownGracefully:
		w.quiet, w.timeout = h.first.inv.Quiet, h.first.inv.Timeout
	case OpClose:
		if h.first.inv.Timeout > 0 { // the default of the executor, if the writer knows it
			w.timeout = h.first.inv.Timeout
		}
	default:
		return w, false
	}
	switch {
	case h.startFailed() || h.broke() || h.slowHandlers():
		return w, false
	case h.Rules.Has(States) && h.closed != 0:
		w.end = h.at(h.closed)
	case !h.Rules.Has(States) && h.done != 0:
		w.end = h.at(h.done)
	default:
		return w, false
	}
	timers := h.Rules.Timers == RunTimersUntilTimeout || h.Rules.Timers == AnyTimers
	for _, e := range h.entries {
		if (e.registers() || timers && e.op().Timers()) && e.accepted() {
			w.holding = append(w.holding, e)
		}
	}
	return w, true
}

// startFailed reports whether there was never a loop: without one a quiet period is over at
// once (G17).
func (h *History) startFailed() bool {
	if !h.Rules.Spawner || len(h.spans) > 0 {
		return false
	}
	return !slices.ContainsFunc(h.Events, func(e Event) bool { return e.Kind == Park })
}

// limit returns the latest instant of the close: the timeout, or a Shutdown call.
func (w window) limit() time.Duration {
	limit := Later(w.start, w.timeout)
	for _, c := range w.calls {
		if c.inv.Op == OpShutdown && !c.refused() {
			limit = min(limit, max(c.inv.At, w.start))
		}
	}
	return limit
}

// legal reports whether admission ended at an instant that G10 allows. In real time only a
// close that is too early is illegal.
func (w window) legal() bool {
	if !w.Rules.Virtual || w.Rules.Spawner { // a slow spawner takes time
		return w.end >= w.soonest()
	}
	for _, c := range w.candidates() {
		if c == w.end || !w.Rules.Has(States) && c < w.end && w.busy(c, w.end) == w.end-c {
			return true
		}
	}
	return false
}

// soonest returns the earliest legal instant of the close in real time: quiet after the
// call or, if the log has the close, after the last body that ended between the call and
// the close. A body that ended before the call took effect does not count.
func (w window) soonest() time.Duration {
	idle := w.start
	for _, s := range w.spans {
		if n := s.endN(w.History); w.closed != 0 && n < w.closed && n > w.asked && !s.internal(w.asked) {
			idle = max(idle, s.end.At)
		}
	}
	return min(Later(idle, w.quiet), w.limit())
}

// candidates returns in order the instants at which the close is legal in virtual time.
// There is more than one if work arrived exactly at the end of the quiet period, and nothing shows
// whether the close or the work came first: see ties.
func (w window) candidates() []time.Duration {
	var found []time.Duration
	limit, idle, idleN := w.limit(), w.start, w.asked
	for _, s := range w.spans {
		if s.endN(w.History) < w.asked || s.internal(w.asked) {
			continue
		}
		quietEnd := w.held(w.free(Later(idle, w.quiet)), limit)
		switch {
		case s.begin.N < w.asked:
		case s.begin.At >= limit && quietEnd >= limit:
			return append(found, limit)
		case s.begin.At >= quietEnd && w.ties(s, quietEnd, idleN):
			found = append(found, quietEnd)
		case s.begin.At > quietEnd && s.ready() > quietEnd:
			return append(found, quietEnd)
		}
		if s.end == nil || s.end.At >= limit {
			return append(found, limit)
		}
		idle, idleN = max(idle, s.end.At), s.end.N
	}
	return append(found, min(w.held(w.free(Later(idle, w.quiet)), limit), limit))
}

// ready returns when the loop had a reason to run the body.
func (s *span) ready() time.Duration {
	if s.entry.op().Timers() {
		return s.entry.due(max(s.begin.Run-1, 0))
	}
	return s.entry.submit.inv.At
}

// ties reports whether the body became ready at exactly the instant of the close, and the log does not
// show which came first.
//
// It never does for a timer of an executor whose policy is known: a loop closes admission only when no
// timer waits that the policy lets run, so a timer that is due at that instant runs before, and its end
// restarts the quiet period. With AnyTimers the executor may also close without it.
//
// Other work is accepted, and admission closed, under one lock, in either order at one instant. If the
// log has both decisions, it has their order: work that was accepted before the close runs before the
// close, and only a hook can be accepted after it. Otherwise both are right, unless the body was queued when the loop
// became idle.
func (w window) ties(s *span, at time.Duration, idleN int) bool {
	submit := s.entry.submit
	switch {
	case s.ready() != at:
		return false
	case s.entry.op().Timers():
		return w.Rules.Timers == AnyTimers
	case submit.admit != nil && w.closed != 0:
		return submit.admit.N > w.closed
	default:
		return submit.ret != nil && submit.ret.N > idleN
	}
}

// free returns the first instant, at or after at, at which no listener keeps the loop from closing admission. A
// listener does not restart the quiet period. One that begins at that instant may come after the close.
func (w window) free(at time.Duration) time.Duration {
	for _, s := range w.slow {
		if at < s.end.At && (s.begin.At < at || s.begin.At == at && (w.closed == 0 || s.begin.N < w.closed)) {
			at = s.end.At
		}
	}
	return at
}

// held returns the first instant, at or after at, at which no registration is open and no
// timer is pending that the policy waits for.
func (w window) held(at, limit time.Duration) time.Duration {
	for again := len(w.holding) > 0; again && at < limit; {
		again = false
		for _, e := range w.holding {
			var until time.Duration
			if e.registers() {
				until = w.openUntil(e, at, limit)
			} else {
				until = w.pendingUntil(e, at, limit)
			}
			if until > at {
				at, again = until, true
			}
		}
	}
	return at
}

// pendingUntil returns when a timer that is pending at the instant begins its next run or
// ends without one. It returns 0 if the timer is not pending or not due before the timeout.
// If the policy is unknown, only runs that the executor makes are counted.
func (w window) pendingUntil(e *entry, at, limit time.Duration) time.Duration {
	if e.submit.inv.At > at {
		return 0
	}
	for _, s := range e.runs {
		if s.begin.At > at { // a body at this instant may be over: it may take no time
			return s.begin.At
		}
	}
	over := e.began() && (!e.periodic() || e.runs[len(e.runs)-1].abrupt())
	if over || w.Rules.Timers == AnyTimers || e.due(len(e.runs)) >= Later(w.start, w.timeout) {
		return 0
	}
	return min(w.lifeEnds(e, limit), limit)
}

// abrupt reports whether the body ended by a panic or by Goexit.
func (s *span) abrupt() bool { return s.end != nil && s.end.Outcome.Abrupt() }

// busy returns how much of the time between two instants bodies took, and listeners of the loop.
func (h *History) busy(from, to time.Duration) time.Duration {
	if to <= from {
		return 0
	}
	sum := h.busyWith(h.spans, from, to)
	if len(h.slow) > 0 {
		sum = min(sum+h.busyWith(h.slow, from, to), to-from) // those of a pool may run beside a body
	}
	return sum
}

func (h *History) busyWith(spans []*span, from, to time.Duration) (sum time.Duration) {
	for _, s := range spans {
		if h.Rules.Virtual && s.begin.At >= to {
			break // and so do the others
		}
		end := to
		if s.end != nil {
			end = min(to, s.end.At)
		}
		begin := max(from, s.begin.At)
		if end > begin {
			sum += end - begin
			from = end
		}
	}
	return sum
}

// judgeQuiet is V4 (G10): admission ends neither too early nor too late. V3 judges a close
// after the deadline, and S13 a close that a later call explains.
func judgeQuiet(j *judge) {
	w, ok := j.closeWindow()
	if !ok || w.end > w.limit() && j.Rules.Virtual {
		return
	}
	j.exercised()
	if w.legal() {
		j.refusedTooSoon(w)
		return
	}
	if j.overridden() != nil {
		return
	}
	due, how := w.soonest(), "only"
	if j.Rules.Virtual {
		c := w.candidates()
		due = c[len(c)-1]
	}
	if w.end < due {
		how = "already"
	}
	j.blame(at(j.asked, w.endN()), "admission ended %s at %v, and %v was due: shutdown called at %v with quiet %v, %s",
		how, w.end, due, w.start, w.quiet, w.lastBody())
}

func (w window) endN() int {
	if w.closed != 0 {
		return w.closed
	}
	return w.done
}

// lastBody returns in words when the last body before the close ended.
func (w window) lastBody() string {
	var last *span
	for _, s := range w.spans {
		if s.endN(w.History) < w.endN() {
			last = s
		}
	}
	if last == nil {
		return "no body before"
	}
	return "last body ended at " + last.end.At.String()
}

// refusedTooSoon judges an executor without states by its refusals: no call may be
// refused as closed before the earliest legal close.
func (j *judge) refusedTooSoon(w window) {
	if j.Rules.Has(States) || !j.Rules.Virtual {
		return
	}
	soonest := w.candidates()[0]
	for _, c := range j.calls {
		if c.inv.Op.Submits() && c.inv.N > j.asked && c.ret != nil && j.refusedAsClosed(c) && c.ret.At < soonest {
			j.blame(at(j.asked, c.ret.N), "%s was refused at %v, and admission was open until %v: shutdown called at %v with quiet %v",
				c.entry.name(c), c.ret.At, soonest, w.start, w.quiet)
			return
		}
	}
}
