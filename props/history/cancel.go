package history

import "time"

// judgeCancel is S11 (G8). After a Cancel that returned true the body of a task or of a
// one-shot timer never begins, and a periodic timer has no further run. If Cancel
// returned false, there was nothing left to cancel. Likewise Reset returns true only for a
// run that has not begun, and false only if there was nothing left to move.
func judgeCancel(j *judge) {
	for _, e := range j.entries {
		j.movable(e)
		if yes := e.cancelled(); yes != nil {
			j.exercised()
			j.staysCancelled(e, yes)
			continue
		}
		for _, c := range e.cancels {
			if c.answered(False) {
				j.exercised()
				j.hadEnded(e, c)
			}
		}
		if e.completedAs(Cancelled) && e.began() && !e.periodic() {
			j.blame(at(e.firstBegin()), "%s both ran, at #%d, and ended as cancelled", e.what(), e.firstBegin())
		}
	}
}

func (j *judge) staysCancelled(e *entry, yes *call) {
	for i, s := range e.runs {
		n := s.begin.N
		switch {
		case !e.periodic():
			j.blame(at(yes.ret.N, n), "%s ran at #%d, and its cancel at #%d returned true", e.what(), n, yes.ret.N)
		case n > yes.ret.N && !j.taken(s, e.due(i), yes.ret.N):
			j.blame(at(yes.ret.N, n), "%s began at #%d, after its cancel had returned true at #%d", e.run(i), n, yes.ret.N)
			return
		}
	}
}

// taken reports whether the loop may have dequeued the run s of a periodic timer, due at due,
// before n, where Cancel returned: the run was due and is the next body of the loop.
func (h *History) taken(s *span, due time.Duration, n int) bool {
	return due <= h.at(n) && h.nextBody(s, n)
}

// hadEnded judges a Cancel that returned false: the body began at some time, the future
// was complete, or the executor is done and had refused the entry.
func (j *judge) hadEnded(e *entry, c *call) {
	if e.began() || len(e.complete) > 0 || !e.accepted() || j.done == 0 {
		return
	}
	if c.ret.N > j.done || j.asked != 0 && e.op().Timers() && c.ret.N > j.asked {
		return
	}
	j.blame(at(c.ret.N), "%s was neither run nor cancelled: its cancel at #%d returned false", e.what(), c.ret.N)
}
