package history

import "math"

// judgeOnce is S1 (G3): a body begins at most once. The runs of a periodic timer have the
// numbers 1, 2, ... without a gap or a repetition. A listener is called at most once
// (G9); Run is its number among the listeners of one future.
func judgeOnce(j *judge) {
	for _, e := range j.entries {
		if e.registers() {
			continue // S19
		}
		j.listenersOnce(e)
		if !e.began() {
			continue
		}
		j.exercised()
		if e.periodic() {
			j.runsInOrder(e)
			continue
		}
		if len(e.runs) > 1 {
			first, second := e.runs[0].begin.N, e.runs[1].begin.N
			j.blame(at(first, second), "%s began at #%d and again at #%d", e.what(), first, second)
		}
	}
}

func (j *judge) runsInOrder(e *entry) {
	for i, s := range e.runs {
		if s.begin.Run != i+1 {
			j.blame(at(s.begin.N), "run %d of %s began at #%d, expected run %d", s.begin.Run, e.what(), s.begin.N, i+1)
			return
		}
	}
}

func (j *judge) listenersOnce(e *entry) {
	called := map[int]int{}
	for _, s := range e.listeners {
		if before, twice := called[s.begin.Run]; twice {
			j.blameOn("G9", "a listener is called once", at(before, s.begin.N), "listener %d of %s was called at #%d and again at #%d",
				s.begin.Run, e.what(), before, s.begin.N)
		}
		called[s.begin.Run] = s.begin.N
	}
}

// judgeAcceptedRun is S2 (G3): at done, each accepted task has begun or was cancelled,
// and each accepted timer and future is complete (G9). S9 judges hooks.
func judgeAcceptedRun(j *judge) {
	if j.done == 0 {
		return
	}
	j.listenersCalled()
	for _, e := range j.entries {
		if e.hook() || !j.owed(e) {
			continue
		}
		switch {
		case e.registers():
			j.exercised()
			j.registrationEnded(e)
		case e.op().Tasks():
			j.exercised()
			j.taskRan(e)
			j.completedRightly(e)
		case j.Rules.Has(TimerEnds):
			j.exercised()
			j.completedRightly(e)
			if !e.timerEnded() {
				j.blame(at(e.submit.ret.N, j.done), "%s, accepted at #%d, was not complete when done, at #%d",
					e.what(), e.submit.ret.N, j.done)
			}
		}
	}
}

// owed reports whether the entry must have ended at done: it was accepted, by a call that
// began before done. The call may return later. A caller that is delayed between the
// check of admission and the enqueue returns after done, and its task may be lost (R26).
// An entry whose call returns after done counts only in a log that ends at rest, because
// the end of the entry may be written late. It does not count if it is a registration:
// the log names the end of a registration only after the call has returned.
func (j *judge) owed(e *entry) bool {
	if !e.accepted() {
		return false
	}
	return e.submit.ret.N < j.done || e.submit.inv.N < j.done && j.Rules.AtRest && !e.registers()
}

// registrationEnded judges that an accepted registration has ended at done, and that its
// owner was notified if the owner had added a listener in time (G3).
func (j *judge) registrationEnded(e *entry) {
	end := e.endedBy()
	switch {
	case end == nil || end.N > j.done:
		j.blame(at(e.submit.ret.N, j.done), "%s, accepted at #%d, was still open when done, at #%d", e.what(), e.submit.ret.N, j.done)
	case len(e.listens) > 0 && e.listens[0].returnedBefore(end.N) && (len(e.listeners) == 0 || e.listeners[0].begin.N > j.done):
		j.blame(at(e.submit.ret.N, end.N), "the owner of %s, which ended at #%d, was not notified before done", e.what(), end.N)
	}
}

func (j *judge) taskRan(e *entry) {
	switch {
	case e.cancelled() != nil || e.completedAs(Cancelled):
	case !e.began():
		j.blame(at(e.submit.ret.N, j.done), "%s, accepted at #%d, never ran", e.what(), e.submit.ret.N)
	case e.op() == OpSubmit && j.Rules.Has(Completions) && len(e.complete) == 0:
		j.blameOn("G9", "every future ends", at(e.submit.ret.N, j.done), "the future of %s, accepted at #%d, was never completed", e.what(), e.submit.ret.N)
	}
}

// completedRightly judges that a future or timer completed with the outcome of its body
// (G9). An executor that does not distinguish outcomes may report every outcome except
// Normal as Errored.
func (j *judge) completedRightly(e *entry) {
	if len(e.complete) == 0 {
		return
	}
	want := Cancelled
	if e.began() {
		last := e.runs[len(e.runs)-1].end
		switch {
		case last == nil:
			return
		case !e.periodic() || last.Outcome.Abrupt():
			want = last.Outcome
		}
	}
	got := e.complete[0]
	if got.Outcome != want && !(got.Outcome == Errored && want != Normal) {
		j.blameOn("G9", "a future completes with the outcome of its body", at(e.submit.ret.N, got.N), "%s is complete as %v, and its body %s", e.what(), got.Outcome, e.ending())
	}
}

// ending returns in words how the body of an entry ended.
func (e *entry) ending() string {
	if !e.began() {
		return "never began"
	}
	return "ended " + e.runs[len(e.runs)-1].end.Outcome.String()
}

// listenersCalled is the part of S2 that concerns listeners (G9): each listener of a
// future has been called once the executor is done and at rest.
func (j *judge) listenersCalled() {
	for _, e := range j.entries {
		if e.registers() || !j.Rules.AtRest {
			continue
		}
		given := 0
		for _, c := range e.listens {
			given += one(c.ret != nil)
		}
		if len(e.listeners) < given {
			j.blameOn("G9", "every listener is called once", at(e.listens[0].inv.N, j.done), "%d of the %d listeners of %s were called", len(e.listeners), given, e.what())
		}
	}
}

// timerEnded reports whether a timer has ended in any way.
func (e *entry) timerEnded() bool {
	if len(e.complete) > 0 || e.cancelled() != nil {
		return true
	}
	return !e.periodic() && e.began()
}

// judgeRefusedNeverRun is S3 (G3): a refused body never runs.
func judgeRefusedNeverRun(j *judge) {
	for _, e := range j.entries {
		if !e.submit.refused() {
			continue
		}
		j.exercised()
		if e.began() {
			j.blame(at(e.submit.ret.N, e.firstBegin()), "%s, refused at #%d, ran at #%d", e.what(), e.submit.ret.N, e.firstBegin())
		}
	}
}

// judgeFIFO is S5 (G4): if one submission returned before another was called, its body
// begins first, whichever goroutines called. Tail tasks have a queue and an order of
// their own. If the log has Admit events, the order of admission is judged too, even for
// overlapping calls.
func judgeFIFO(j *judge) {
	j.fifo(func(o Op) bool { return o.Tasks() && o != OpAfterIteration })
	j.fifo(func(o Op) bool { return o == OpAfterIteration })
}

// fifo sweeps the log once. Among the completed submissions, last is the one whose body
// began last; every later submission must begin after it.
func (j *judge) fifo(class func(Op) bool) {
	var last, lastAdmitted *entry
	floor := make([]*entry, len(j.calls))
	for i := range j.Events {
		e := &j.Events[i]
		c := j.callOf(e)
		if c == nil || c.entry == nil || !class(e.Op) {
			continue
		}
		ent := c.entry
		switch {
		case e.Kind == Invoke:
			floor[c.number] = last
		case !c.accepted() || !ent.began():
		case e.Kind == Admit && e.Outcome != Accepted: // an attempt that a retry followed
		case e.Kind == Admit:
			j.inOrder(lastAdmitted, ent)
			lastAdmitted = later(lastAdmitted, ent)
		case e.Kind == Return:
			j.inOrder(floor[c.number], ent)
			last = later(last, ent)
		}
	}
}

// callOf returns the call of an Invoke, Admit or Return.
func (h *History) callOf(e *Event) *call {
	switch e.Kind {
	case Invoke:
		return h.callAt(e.N)
	case Admit, Return:
		return h.callAt(e.Call)
	default:
		return nil
	}
}

func later(a, b *entry) *entry {
	if a == nil || a.firstBegin() < b.firstBegin() {
		return b
	}
	return a
}

func (j *judge) inOrder(before, after *entry) {
	if before == nil {
		return
	}
	j.exercised()
	if before.firstBegin() > after.firstBegin() {
		j.blame(at(before.firstBegin(), after.firstBegin()), "%s was accepted before %s was, yet began at #%d, after #%d",
			before.what(), after.what(), before.firstBegin(), after.firstBegin())
	}
}

// neverN is a position beyond every log.
const neverN = math.MaxInt
