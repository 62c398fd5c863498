package history

// judgeHooks is S9 (G6). An accepted hook runs unless it was removed. It runs after a
// shutdown has begun, in the order added, and before tasks that were submitted after the
// shutdown call. After the close, a hook may be added only inside a hook that was accepted
// before the close.
func judgeHooks(j *judge) {
	last := hookOrder{floor: make([]*entry, len(j.calls))}
	for i := range j.Events {
		if c := j.callOf(&j.Events[i]); c != nil && c.inv.Op == OpAddHook && c.entry != nil {
			last.step(j, &j.Events[i], c)
		}
	}
	for _, e := range j.entries {
		if !e.hook() || e.submit.ret == nil {
			continue
		}
		j.lateHook(e)
		if e.accepted() {
			j.hookRuns(e)
			j.heldBack(e)
		}
	}
}

// hookOrder sweeps the log for hooks that began out of order.
type hookOrder struct {
	last  *entry   // of the hooks whose AddShutdownHook is over, the one that began last
	floor []*entry // by call
}

func (o *hookOrder) step(j *judge, e *Event, c *call) {
	switch {
	case e.Kind == Invoke:
		o.floor[c.number] = o.last
	case e.Kind != Return || !c.accepted() || !c.entry.began():
	default:
		before := o.floor[c.number]
		if before != nil && before.firstBegin() > c.entry.firstBegin() {
			j.blame(at(before.firstBegin(), c.entry.firstBegin()), "%s was added before %s, yet began at #%d, after #%d",
				before.what(), c.entry.what(), before.firstBegin(), c.entry.firstBegin())
		}
		o.last = later(o.last, c.entry)
	}
}

// hookRuns judges that the hook ran during the shutdown if and only if no remove returned
// true.
func (j *judge) hookRuns(e *entry) {
	n, removed := e.firstBegin(), e.removed()
	switch {
	case n != 0 && removed != nil:
		j.exercised()
		j.blame(at(removed.ret.N, n), "%s ran at #%d, though remove returned true at #%d", e.what(), n, removed.ret.N)
	case n != 0 && (j.asked == 0 || n < j.asked):
		j.blame(at(n), "%s ran at #%d, before any shutdown", e.what(), n)
	case n != 0:
		j.exercised()
	case removed == nil && j.done != 0 && j.owed(e):
		j.exercised()
		j.blame(at(e.submit.ret.N, j.done), "%s, added at #%d, never ran and was not removed", e.what(), e.submit.ret.N)
	}
}

// heldBack judges that later tasks do not delay a hook that was added before the shutdown
// call. Once every task that may have been submitted before the call has ended, no task
// submitted after the call begins while the hook waits. If bodies may overlap, see
// couldHaveRun.
func (j *judge) heldBack(hook *entry) {
	if j.first == nil || !hook.submit.returnedBefore(j.first.inv.N) || hook.removed() != nil {
		return
	}
	for _, s := range j.spans {
		task := s.entry
		if hook.began() && s.begin.N > hook.firstBegin() {
			return
		}
		if !task.op().Tasks() || !j.first.returnedBefore(task.submit.inv.N) || j.olderWaits(s.begin.N) {
			continue
		}
		if j.Rules.Overlap && !j.couldHaveRun(hook, s.begin) {
			continue
		}
		j.blame(at(hook.submit.ret.N, s.begin.N), "%s, submitted after the shutdown call, began at #%d while %s, added at #%d, was waiting",
			task.what(), s.begin.N, hook.what(), hook.submit.ret.N)
		return
	}
}

// olderWaits reports whether a task that may have been accepted before the shutdown call
// had not ended at n.
func (h *History) olderWaits(n int) bool {
	for _, e := range h.entries {
		if !e.op().Tasks() || !e.accepted() || h.first.returnedBefore(e.submit.inv.N) {
			continue
		}
		if e.cancelled() != nil {
			if !h.overtaken(e, n) {
				return true // the loop has not yet dropped it
			}
			continue
		}
		if !e.began() || e.runs[0].endN(h) > n {
			return true
		}
	}
	return false
}

// couldHaveRun reports, for bodies that may overlap, whether hook could have run before a
// later task began. A task that begins while another hook runs delays no hook. A task that
// begins at the instant at which the last older task ends may have been dequeued before that
// end. So only virtual time shows a delay.
func (h *History) couldHaveRun(hook *entry, task *Event) bool {
	free := max(h.first.ret.At, hook.submit.ret.At)
	for _, s := range h.spans {
		if s.begin.N > task.N || s.entry == hook {
			continue
		}
		if running := s.end == nil || s.end.N > task.N; running && s.entry.hook() {
			return false
		} else if !running {
			free = max(free, s.end.At)
		}
	}
	return h.Rules.Virtual && task.At > free
}

// overtaken reports whether a task that was submitted after e to the same queue had begun
// by n: then e has left the queue.
func (h *History) overtaken(e *entry, n int) bool {
	for _, o := range h.entries {
		sameQueue := o.op().Tasks() && (o.op() == OpAfterIteration) == (e.op() == OpAfterIteration)
		if begin := o.firstBegin(); sameQueue && begin != 0 && begin < n && e.submit.returnedBefore(o.submit.inv.N) {
			return true
		}
	}
	return false
}

// lateHook judges the answer to a hook added after the close.
func (j *judge) lateHook(e *entry) {
	c := e.submit
	known, why := j.knownClosed()
	if c.inv.N < known {
		return
	}
	j.exercised()
	from := c.within
	switch {
	case c.accepted() && (from == nil || !from.entry.hook()):
		j.blame(at(known, c.ret.N), "%s was accepted at #%d from outside a hook, though %s at #%d", e.what(), c.ret.N, why, known)
	case c.accepted() && from.entry.submit.inv.N > known:
		j.blame(at(known, c.ret.N), "%s was accepted at #%d from %s, which was itself added after the close: the chain does not end",
			e.what(), c.ret.N, from.entry.what())
	case c.refused() && from != nil && from.entry.hook() && from.entry.submit.returnedBefore(known):
		j.blame(at(known, c.ret.N), "%s was refused at #%d inside %s, which was added before the close", e.what(), c.ret.N, from.entry.what())
	}
}
