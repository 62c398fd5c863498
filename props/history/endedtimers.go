package history

import "time"

// judgeCancelledInTime is S23 (G7). The timers that a shutdown call cancels have ended when
// the next body begins: from there on no snapshot counts them, and Cancel returns false.
// A body may rely on this.
func judgeCancelledInTime(j *judge) {
	if j.first == nil || j.Rules.Timers == AnyTimers || j.Rules.Overlap {
		return // a timer that runs beside the next body has not ended
	}
	behind := j.firstBehind()
	if behind == nil {
		return
	}
	from, latest := behind.begin.N, j.latestKept(behind.begin.At)
	kept, ended := 0, 0 // timers submitted so far: those whose deadline lets them run, and the others
	for i := range j.Events {
		switch e := &j.Events[i]; {
		case e.Kind == Invoke && e.Op.Timers() && j.soonestOf(e) > latest:
			ended++
		case e.Kind == Invoke && e.Op.Timers():
			kept++
		case ended == 0:
		case e.Stats != nil && e.takenAfter() >= from:
			j.exercised()
			if e.Stats.Timers > kept {
				j.blame(at(j.asked, from, e.N), "%d timers were waiting at #%d, though the shutdown called at #%d had left no more than %d when %s began at #%d",
					e.Stats.Timers, e.N, j.asked, kept, behind.entry.what(), from)
				return
			}
		case e.Kind == Return && e.Op == OpCancel:
			j.nothingToCancel(j.callAt(e.Call), behind, latest)
		}
	}
}

// nothingToCancel judges a Cancel that was called after the shutdown ended the timer.
func (j *judge) nothingToCancel(c *call, behind *span, latest time.Duration) {
	e := c.entry
	if e == nil || !e.op().Timers() || e.soonest() <= latest || c.inv.N < behind.begin.N {
		return
	}
	j.exercised()
	if c.answered(True) {
		j.blame(at(j.asked, behind.begin.N, c.ret.N), "the cancel of %s, called at #%d, returned true: the shutdown called at #%d had not ended it when %s began at #%d",
			e.what(), c.inv.N, j.asked, behind.entry.what(), behind.begin.N)
	}
}

// firstBehind returns the first body of which the log shows that the loop dequeued it
// after it had seen the shutdown call, or nil. This is a hook, a task that was submitted
// after the call returned, or the next body after one that ended after the call returned.
// Other bodies may have been dequeued before the call returned.
func (h *History) firstBehind() *span {
	for i, s := range h.spans {
		e := s.entry
		switch {
		case s.begin.N < h.asked:
		case e.hook(), e.op().Tasks() && h.first.returnedBefore(e.submit.inv.N), i > 0 && h.follows(h.spans[i-1], s):
			return s
		}
	}
	return nil
}

// follows reports whether the body before s ended after the shutdown call returned, so
// that the loop dequeued s afterwards.
func (h *History) follows(before, s *span) bool {
	return before.end != nil && h.first.returnedBefore(before.end.N) && before.end.N < s.begin.N
}

// latestKept returns the latest deadline of a timer that the shutdown call may have left
// waiting. If neither the log nor the clock shows the instant of the call, latestKept
// assumes the latest possible instant, by.
func (h *History) latestKept(by time.Duration) time.Duration {
	latest, _ := h.timerHorizon()
	if latest != beforeAll && !h.Rules.Virtual && !h.Rules.Has(States) {
		latest = Later(latest, by-h.askedAt)
	}
	return latest
}

// soonestOf returns the earliest deadline that the timer of an Invoke may have had.
func (h *History) soonestOf(inv *Event) time.Duration {
	if e := h.callAt(inv.N).entry; e != nil {
		return e.soonest()
	}
	return Later(inv.At, inv.Delay)
}
