package history

// judgePassedTails is S22 (G6). While a hook waits for a tail task, both accepted before
// the shutdown call, no task that was submitted after the call begins, because it would
// delay both. Tasks that may have been accepted on either side of the call, and hooks that
// may have been removed, are not judged.
func judgePassedTails(j *judge) {
	if j.first == nil {
		return
	}
	tail, hook := j.lastOlder(OpAfterIteration), j.lastOlder(OpAddHook)
	if tail == nil || hook == nil {
		return
	}
	until := min(tail.beginN(), hook.beginN())
	for _, s := range j.spans {
		task := s.entry
		if !task.op().Tasks() || !j.first.returnedBefore(task.submit.inv.N) {
			continue
		}
		j.exercised()
		if s.begin.N < until {
			j.blame(at(tail.submit.ret.N, s.begin.N), "%s, submitted after the shutdown call, began at #%d before %s, accepted at #%d, for which %s waits",
				task.what(), s.begin.N, tail.what(), tail.submit.ret.N, hook.what())
			return
		}
	}
}

// lastOlder returns the last to begin of the tail tasks or hooks that were certainly
// accepted before the shutdown call, or one that did not begin, or nil.
func (h *History) lastOlder(o Op) (last *entry) {
	for _, e := range h.entries {
		if e.op() != o || !e.accepted() || !e.submit.returnedBefore(h.first.inv.N) || !e.began() && len(e.removes) > 0 {
			continue
		}
		if last == nil || e.beginN() > last.beginN() {
			last = e
		}
	}
	return last
}

// beginN returns firstBegin, or a position beyond the log if the body did not begin.
func (e *entry) beginN() int {
	if !e.began() {
		return neverN
	}
	return e.firstBegin()
}
