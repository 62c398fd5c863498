package history

import (
	"slices"
	"time"
)

// readinessTurns is the number of turns, each with a batch of tasks, that a busy loop may
// run between two polls.
const readinessTurns = 17

// judgeReadinessStarves is V10 (G13): between the moment at which a descriptor is ready and
// the call of its handler the loop begins a bounded number of tasks. V10 is exercised if
// tasks began meanwhile.
func judgeReadinessStarves(j *judge) {
	bound := readinessTurns * j.Rules.batch()
	var tasks []int
	for _, e := range j.entries {
		if !e.registers() || !e.accepted() || len(e.readied) == 0 {
			continue
		}
		if tasks == nil {
			tasks, _ = j.taskCounts()
		}
		for _, ready := range e.readied {
			to := j.heardAt(e, ready)
			between := tasks[max(to-1, ready.N)] - tasks[ready.N]
			if between > 0 {
				j.exercised()
			}
			if between > bound {
				j.blame(at(ready.N, to), "%s, ready at #%d, waited for %d tasks, and at most %d may come first", e.what(), ready.N, between, bound)
				break
			}
		}
	}
}

// heardAt returns the position at which the wait of a ready descriptor is over: its handler
// began, the registration ended or changed, the poller failed, or the log ended. There is
// no wait while another goroutine changes the registration, because the change writes its
// events first. Nor is there one after a fault that may have broken the poller for good: if
// admission is closed already, no event shows that it has.
func (h *History) heardAt(e *entry, ready *Event) int {
	if h.changesAt(e, ready) || h.Rules.Breaks && slices.ContainsFunc(h.Events[:ready.N], breaksPoller) {
		return ready.N
	}
	until := len(h.Events)
	if end := e.endedBy(); end != nil {
		until = end.N
	}
	for _, s := range e.runs {
		if s.begin.N > ready.N {
			until = min(until, s.begin.N)
			break
		}
	}
	for i := ready.N; i < until; i++ {
		ev := &h.Events[i]
		dead := ev.Kind == Fault && ev.ID == e.id || breaksPoller(*ev)
		if dead || ev.ID == e.id && ev.Kind == Invoke && (ev.Op == OpModify || ev.Op == OpEnd) {
			return ev.N
		}
	}
	return until
}

func breaksPoller(ev Event) bool { return ev.Kind == Fault && ev.Outcome == Errored }

// changesAt reports whether another goroutine was in a call that changes or ends the
// registration.
func (h *History) changesAt(e *entry, ready *Event) bool {
	for _, c := range h.calls {
		if c.inv.N > ready.N {
			break
		}
		changes := c.inv.ID == e.id && (c.inv.Op == OpModify || c.inv.Op == OpEnd)
		if changes && c.inv.G != ready.G && !c.returnedBefore(ready.N) {
			return true
		}
	}
	return false
}

// readinessPrompt is the part of V2 that concerns descriptors: in virtual time the handler
// is called at the instant at which its descriptor is ready, or bodies fill the time in
// between.
func (j *judge) readinessPrompt() {
	if !j.Rules.Virtual {
		return
	}
	for _, e := range j.entries {
		if !e.registers() || !e.accepted() {
			continue
		}
		for _, ready := range e.readied {
			j.exercised()
			to := j.heardAt(e, ready)
			if j.asked != 0 && to > j.asked && e.op() == OpRegister {
				to = max(j.asked, ready.N)
			}
			if idle := j.at(to) - ready.At - j.busy(ready.At, j.at(to)); idle > 0 {
				j.blame(at(ready.N, to), "%s was ready at %v and its handler was not called until %v, with the loop free for %v in between",
					e.what(), ready.At, j.at(to), idle)
				return
			}
		}
	}
}

// internal reports whether the body belongs to a registration in a shutdown. Such a body
// does not restart the quiet period.
func (s *span) internal(asked int) bool {
	return s.begin.Body.Registration() && (asked != 0 && s.begin.N > asked || s.begin.Body != BodyReadiness)
}

// slowHandlers reports whether handlers take time. A handler that begins near the
// shutdown call restarts the quiet period or not, depending on when the loop saw the
// call, and no log shows that.
func (h *History) slowHandlers() bool {
	for _, s := range h.spans {
		if s.begin.Body.Registration() && (s.end == nil || s.end.At > s.begin.At) {
			return true
		}
	}
	return false
}

// broke reports whether a failure of the poller closed the executor.
func (h *History) broke() bool {
	if !h.Rules.Breaks {
		return false
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == Fault && e.Outcome == Errored {
			return h.closed == 0 || e.N < h.closed
		}
	}
	return false
}

// openUntil returns when a registration ends that is open at the instant, and otherwise 0.
func (w window) openUntil(e *entry, at, limit time.Duration) time.Duration {
	if e.submit.inv.At > at {
		return 0
	}
	if end := e.endedBy(); end != nil {
		return min(end.At, limit)
	}
	return limit
}

// lastRegistrationEnds returns the instant at which the last registration ended before
// done.
func (h *History) lastRegistrationEnds() (last time.Duration) {
	for _, e := range h.entries {
		if end := e.endedBy(); end != nil && (h.done == 0 || end.N < h.done) {
			last = max(last, end.At)
		}
	}
	return last
}
