package history

import "time"

// judgePrompt is V2 (G12). In virtual time only bodies take time, so accepted work begins
// at the instant at which it is ready, or bodies fill the time in between. In a log at
// rest no accepted work waits. A lazy task may wait for the next wake-up.
func judgePrompt(j *judge) {
	for _, e := range j.entries {
		if !e.accepted() || !e.began() || e.op() == OpExecuteLazy || e.registers() {
			continue
		}
		j.exercised()
		ready, ok := j.readyAt(e)
		late, exact := j.Rules.lateness()
		if !ok || !exact {
			continue
		}
		began := e.runs[0].begin.At
		if idle := began - ready - j.busy(ready, began); idle > late {
			j.blame(at(e.submit.ret.N, e.firstBegin()), "%s, ready at %v, began at %v, with the loop free for %v in between",
				e.what(), ready, began, idle)
		}
	}
	j.readinessPrompt()
	j.nothingWaits()
}

// readyAt returns when the entry's body can begin, if that is known.
func (h *History) readyAt(e *entry) (time.Duration, bool) {
	ret := e.submit.ret.At
	switch {
	case e.op().Timers():
		return e.deadline(0).known(), true
	case e.hook():
		return max(ret, h.askedAt), h.asked != 0
	default:
		return ret, true
	}
}

// nothingWaits judges a log at rest that is not done.
func (j *judge) nothingWaits() {
	if !j.Rules.AtRest || j.done != 0 || j.stuck() != nil || j.diedIn() != nil {
		return
	}
	if e := j.stranded(); e != nil {
		j.blame(at(e.submit.ret.N), "%s, accepted at #%d, was still waiting when nothing else could happen", e.what(), e.submit.ret.N)
	}
}

// judgeStarvation is V7 (G13): between the instant at which a timer, a tail task or a hook is
// ready and its Begin, the loop begins at most two batches of tasks: the rest of the current
// one, and the next one. One more batch is allowed for each batch of timers or tail tasks
// that begins before it. One more is allowed for each change of the state, because a change
// ends the turn before its timers and tail tasks: hooks may have to run first (G6). V7 is
// exercised if tasks began or waited meanwhile. Nor do chains of listeners delay a task: see
// listenersStarve.
func judgeStarvation(j *judge) {
	j.listenersStarve()
	tasks, waiting := j.taskCounts()
	for _, e := range j.entries {
		if !e.accepted() || e.cancelled() != nil || e.removed() != nil {
			continue
		}
		from, ok := j.waitsFrom(e)
		if !ok {
			continue
		}
		to := e.firstBegin()
		if to == 0 {
			to = j.waitsUntil(e)
		}
		between := tasks[max(to-1, from)] - tasks[from]
		if between > 0 || waiting[to] > 0 {
			j.exercised()
		}
		if bound := 2 * j.Rules.batch(); between > bound && between > bound+j.moreBatches(e, from, to)*j.Rules.batch() {
			j.blame(at(from, to), "%s, ready at #%d, waited for %d tasks, and a batch is %d", e.what(), from, between, j.Rules.batch())
		}
	}
}

// moreBatches returns how many batches of tasks e may wait for beyond two: one for each whole
// batch of bodies of its own kind, and one for each change of the state, between the positions.
// The tail tasks submitted before a shutdown call are a batch of their own, because later ones
// must not delay the hooks that wait for them (G6).
func (j *judge) moreBatches(e *entry, from, to int) int {
	older, moves, before := 0, 0, 0
	for _, s := range j.spans {
		if from < s.begin.N && s.begin.N < to && e.sharesBatch(s.entry) {
			older++
			if e.op() == OpAfterIteration && j.first != nil && j.asked < e.submit.inv.N && s.entry.submit.inv.N < j.asked {
				before = 1
			}
		}
	}
	for _, m := range j.moves {
		moves += one(j.mayMove(m, from, to))
	}
	return older/j.Rules.batch() + moves + before
}

// sharesBatch reports whether the loop runs both in one step of its turn: tail tasks, or timers of any
// operation.
func (e *entry) sharesBatch(other *entry) bool {
	return other.op() == e.op() || other.op().Timers() && e.op().Timers()
}

// waitsUntil returns where the wait of an entry that never began ends: at its end, or at
// the end of the log.
func (h *History) waitsUntil(e *entry) int {
	n := len(h.Events)
	if len(e.complete) > 0 {
		n = e.complete[0].N // its Complete may have been written long after the end
	}
	if e.op().Timers() && h.asked != 0 {
		n = min(n, h.asked)
	}
	return n
}

// waitsFrom returns the position from which on the entry is ready, if it must not starve.
func (h *History) waitsFrom(e *entry) (int, bool) {
	ret := e.submit.ret.N
	switch {
	case e.op() == OpAfterIteration:
		return ret, true
	case e.hook():
		return h.hookReady(ret)
	case e.op().Timers():
		set := e.deadline(0)
		due := set.known()
		for n := set.by.ret.N; n <= len(h.Events); n++ {
			if h.at(n) >= due {
				return n, true
			}
		}
	}
	return 0, false
}

// hookReady returns where the last task that was accepted before the shutdown call began.
func (h *History) hookReady(added int) (int, bool) {
	if h.first == nil {
		return 0, false
	}
	ready := max(added, h.asked)
	for _, s := range h.spans {
		older := s.entry.op().Tasks() && !h.first.returnedBefore(s.entry.submit.inv.N)
		if older {
			ready = max(ready, s.begin.N)
		}
	}
	return ready, true
}

// taskCounts returns for each position how many tasks had begun, and how many accepted
// tasks were waiting.
func (h *History) taskCounts() (begun, waiting []int) {
	begun, waiting = make([]int, len(h.Events)+1), make([]int, len(h.Events)+1)
	for i := range h.Events {
		begun[i+1], waiting[i+1] = begun[i], waiting[i]
		switch e := &h.Events[i]; {
		case e.Kind == Begin && e.Body == BodyTask:
			begun[i+1]++
			waiting[i+1]--
		case e.Kind == Return && e.Op.Tasks() && e.Op != OpAfterIteration && e.Outcome == Accepted:
			waiting[i+1]++
		}
	}
	return begun, waiting
}
