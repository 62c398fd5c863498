package history

// judgeOneAtATime is S6 (G2): bodies do not overlap, unless the rules allow it. If the log has
// answers of InEventLoop, they are true in every body and false elsewhere; listeners are not
// judged. With OneLoop, the goroutine that runs bodies changes only after a Goexit, in a body
// or a listener, has ended the previous goroutine (G14).
func judgeOneAtATime(j *judge) {
	var last *span // of the bodies so far, the one that ended last
	for _, s := range j.spans {
		if last != nil {
			j.exercised()
			j.apart(last, s)
		}
		if last == nil || s.endN(j.History) > last.endN(j.History) {
			last = s
		}
		if j.Rules.Has(LoopKnown) {
			j.inLoopIsTrue(s)
		}
	}
	if j.Rules.Has(LoopKnown) {
		j.observedRight()
	}
}

// listenerExited reports whether a listener ended the goroutine of before by Goexit,
// between the end of before and the begin of s.
func (j *judge) listenerExited(before, s *span) bool {
	for i := before.end.N; i < s.begin.N; i++ {
		if e := &j.Events[i]; e.Kind == End && e.Body == BodyListener && e.Outcome == Exited && e.G == before.begin.G {
			return true
		}
	}
	return false
}

func (j *judge) apart(before, s *span) {
	n := s.begin.N
	switch {
	case j.Rules.Overlap:
	case before.endN(j.History) > n:
		j.blame(at(before.begin.N, n), "%s began at #%d while %s, begun at #%d, was running",
			s.entry.what(), n, before.entry.what(), before.begin.N)
	case j.Rules.Has(OneLoop) && before.begin.G != s.begin.G && before.end.Outcome != Exited && !j.listenerExited(before, s):
		j.blame(at(before.begin.N, n), "%s began at #%d on another goroutine than %s, which had ended normally",
			s.entry.what(), n, before.entry.what())
	}
}

func (j *judge) inLoopIsTrue(s *span) {
	for _, e := range []*Event{s.begin, s.end} {
		if e != nil && !e.InLoop {
			j.blame(at(e.N), "InEventLoop was false inside %s, at #%d", s.entry.what(), e.N)
			return
		}
	}
}

func (j *judge) observedRight() {
	for _, l := range j.looks {
		saw := l.event.Outcome == True
		if l.listener != nil || saw == (l.within != nil) {
			continue
		}
		where := "outside every body"
		if l.within != nil {
			where = "inside " + l.within.entry.what()
		}
		j.blame(at(l.event.N), "InEventLoop was %v %s, at #%d", saw, where, l.event.N)
	}
}

// judgeNothingAfterDone is S8 (G15): from done on, no body runs or begins and the loop does
// not sleep. The poller was closed after the last body.
func judgeNothingAfterDone(j *judge) {
	if j.done == 0 {
		return
	}
	j.exercised()
	for _, s := range j.spans {
		switch {
		case s.begin.N > j.done:
			j.blame(at(j.done, s.begin.N), "%s began at #%d, after done at #%d", s.entry.what(), s.begin.N, j.done)
		case s.endN(j.History) > j.done:
			j.blame(at(s.begin.N, j.done), "%s, begun at #%d, was still running when done, at #%d", s.entry.what(), s.begin.N, j.done)
		}
	}
	if j.Rules.Has(Parks) {
		j.pollerClosedInTime()
	}
}

func (j *judge) pollerClosedInTime() {
	closed, parked := 0, false
	for i := range j.Events {
		switch e := &j.Events[i]; e.Kind {
		case Park:
			parked = true
			if e.N > j.done {
				j.blame(at(j.done, e.N), "the loop went to sleep at #%d, after done at #%d", e.N, j.done)
			}
		case Closed:
			closed = e.N
			if e.N > j.done {
				j.blame(at(j.done, e.N), "the poller was closed at #%d, after done at #%d", e.N, j.done)
			}
		}
	}
	if closed == 0 && parked {
		j.blame(at(j.done), "done at #%d, and the poller was never closed", j.done)
	}
	for _, s := range j.spans {
		if closed != 0 && s.endN(j.History) > closed && s.begin.N < j.done {
			j.blame(at(closed), "the poller was closed at #%d, before %s had ended", closed, s.entry.what())
			return
		}
	}
}

// judgeContained is S14 (G14): after a body that panicked or exited, the loop continues.
// S14 is violated if that body was the last one and accepted work or a shutdown is left
// waiting at rest, or if the executor then ended without a shutdown call.
func judgeContained(j *judge) {
	for _, s := range j.spans {
		if s.end != nil && s.end.Outcome.Abrupt() {
			j.exercised()
		}
	}
	if n, how := j.endedUncalled(); n != 0 {
		if s := j.brokenBy(n); s != nil {
			j.blame(at(s.end.N, n), "%s %s at #%d, and the executor %s at #%d, without a shutdown call",
				s.entry.what(), s.end.Outcome, s.end.N, how, n)
		}
		return
	}
	s := j.diedIn()
	if s == nil {
		return
	}
	if e := j.stranded(); e != nil {
		j.blame(at(s.end.N), "%s %s at #%d, and %s, accepted at #%d, never began",
			s.entry.what(), s.end.Outcome, s.end.N, e.what(), e.submit.ret.N)
		return
	}
	if j.first != nil {
		j.blame(at(s.end.N), "%s %s at #%d, and the shutdown called at #%d never ended",
			s.entry.what(), s.end.Outcome, s.end.N, j.first.inv.N)
	}
}

// brokenBy returns the last body that began before n, if it also ended before n, by a
// panic or by Goexit.
func (h *History) brokenBy(n int) *span {
	var last *span
	for _, s := range h.spans {
		if s.begin.N < n {
			last = s
		}
	}
	if last == nil || last.endN(h) > n || !last.abrupt() {
		return nil
	}
	return last
}

// diedIn returns the last body if it ended by a panic or by Goexit and the log is at rest
// without done.
func (h *History) diedIn() *span {
	if !h.Rules.AtRest || h.done != 0 || len(h.spans) == 0 {
		return nil
	}
	s := h.spans[len(h.spans)-1]
	if s.end == nil || !s.end.Outcome.Abrupt() {
		return nil
	}
	return s
}

// stranded returns accepted work that has not begun by the end of a log at rest, though
// it should have.
func (h *History) stranded() *entry {
	for _, e := range h.entries {
		if !e.accepted() || e.began() || e.cancelled() != nil || len(e.complete) > 0 {
			continue
		}
		switch {
		case e.registers():
		case e.op() == OpExecuteLazy && h.first == nil:
		case e.hook() && (h.first == nil || e.removed() != nil):
		case e.op().Timers() && (h.first != nil || e.due(0) > h.Events[len(h.Events)-1].At):
		default:
			return e
		}
	}
	return nil
}

// stuck returns a body that was still running at the end of the log.
func (h *History) stuck() *span {
	for _, s := range h.spans {
		if s.end == nil {
			return s
		}
	}
	return nil
}

// judgeReentrant is S18 (G18): a call inside a body returns, and a call that would wait for
// its own loop returns ErrInEventLoop.
func judgeReentrant(j *judge) {
	for _, c := range j.calls {
		if c.within == nil {
			if c.answered(RefusedInLoop) && !c.inListener {
				j.blame(at(c.ret.N), "%v, called from outside at #%d, was refused as called in the loop", c.inv.Op, c.inv.N)
			}
			if c.inv.Op == OpClose && c.answered(RefusedStarting) && j.Rules.Has(States) && (j.asked == 0 || j.asked > c.ret.N) {
				j.blame(at(c.inv.N, c.ret.N), "%v, called at #%d in the spawner, has not begun a shutdown", c.inv.Op, c.inv.N)
			}
			continue
		}
		j.exercised()
		waits := c.inv.Op == OpAwait || c.inv.Op == OpClose
		switch {
		case c.ret == nil && j.Rules.AtRest:
			j.blameAbsence(at(c.inv.N), "%v, called at #%d inside %s, never returned", c.inv.Op, c.inv.N, c.within.entry.what())
		case c.ret != nil && c.inv.Op == OpClose && c.answered(RefusedInLoop) && j.Rules.Has(States) && (j.asked == 0 || j.asked > c.ret.N):
			j.blame(at(c.inv.N, c.ret.N), "%v, called at #%d inside %s, has not begun a shutdown", c.inv.Op, c.inv.N, c.within.entry.what())
		case c.ret != nil && waits && c.ret.Outcome != RefusedInLoop:
			j.blame(at(c.ret.N), "%v, called at #%d inside %s, answered %v instead of refusing to wait",
				c.inv.Op, c.inv.N, c.within.entry.what(), c.ret.Outcome)
		}
	}
}
