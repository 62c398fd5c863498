package history

import (
	"cmp"
	"slices"
)

// judgeListenerOrder is V12 (G9). A task completes its future as it ends, and any body may complete
// a promise. The listeners that were added before run when the body has ended, and before the next
// body of the loop begins.
//
// It does not judge around a change of the state: the next turn of the loop then runs hooks and
// channels first. The loop may find the change as late as the next body, and the change may be
// in the log as early as in the body before.
func judgeListenerOrder(j *judge) {
	for _, s := range j.spans {
		if e := s.entry; s.end != nil && e.op() == OpSubmit && len(e.listens) > 0 && e.listens[0].returnedBefore(s.end.N) {
			heard := 0
			if len(e.listeners) > 0 {
				heard = e.listeners[0].begin.N
			}
			j.listenerBeforeNext(s, heard, e.what()+" has a listener since #%d, and", e.listens[0].inv.N)
		}
	}
	for _, p := range j.promised {
		if p.within != nil && p.within.end != nil && p.listener == nil {
			j.listenerBeforeNext(p.within, j.heard[p.event.ID], "promise %d was completed at #%d, and", p.event.ID, p.event.N)
		}
	}
}

// listenerBeforeNext blames a body that begins after s and before the listener, which began at
// heard; 0: never. The text says why it was due.
func (j *judge) listenerBeforeNext(s *span, heard int, text string, args ...any) {
	i, after := slices.Index(j.spans, s), 0
	if i > 0 && j.spans[i-1].end != nil {
		after = j.spans[i-1].end.N
	}
	if i+1 == len(j.spans) {
		return
	}
	next := j.spans[i+1]
	if next.begin.N < s.end.N || j.movedBetween(after, next.begin.N) {
		return
	}
	j.exercised()
	if heard == 0 || heard > next.begin.N {
		args = append(args, s.end.N, next.entry.what(), next.begin.N)
		j.blame(at(s.end.N, next.begin.N), text+" the body that completes it ended at #%d, and %s began at #%d, before the listener", args...)
	}
}

// movedBetween reports whether a shutdown changed the state between two positions.
func (h *History) movedBetween(from, to int) bool {
	return slices.ContainsFunc(h.moves, func(m *Event) bool { return m.To >= ShuttingDown && h.mayMove(m, from, to) })
}

// mayMove reports whether the loop may find the change m of the state between two positions. The change is
// in the log before the goroutine that makes it stops the batch of the loop, and the next event of the goroutine comes
// after that. So between the two the loop may begin bodies and not find the change.
func (h *History) mayMove(m *Event, from, to int) bool {
	if m.N >= to {
		return false
	}
	for i := m.N; i < from; i++ { // Events[m.N] follows m
		if h.Events[i].G == m.G {
			return false
		}
	}
	return true
}

// mostRounds is how many listeners in a row may each complete the promise of the next while a task
// waits: those of the turn in which the task was accepted, which the loop takes twice, and those of
// the turn that begins the task.
const mostRounds = 3

// listenersStarve is the part of V7 about listeners (G13). What a listener posts to the loop waits
// until a body has run, or for the next turn. So in a chain of listeners on the loop, each of which
// completes the promise of the next, no more than mostRounds links follow one another without a body
// in between while a task waits. A change of the state begins a chain anew, because it ends the turn.
// So does a task that was cancelled: the loop counts it as a body, and the log does not show when the
// loop takes it. So each one that may be among the listeners allows another mostRounds.
func (j *judge) listenersStarve() {
	links := j.listenerLinks()
	if len(links) == 0 || j.Rules.Overlap {
		return
	}
	for _, e := range j.entries {
		if !e.accepted() || !e.op().Tasks() || e.cancelled() != nil {
			continue
		}
		from, to := e.submit.ret.N, e.firstBegin()
		if to == 0 {
			to = j.waitsUntil(e)
		}
		rounds := map[int]int{} // by the begin of the listener
		for _, l := range links {
			if l.parent < from || l.child > to {
				continue
			}
			j.exercised()
			if rounds[l.child] = 1; !j.movedBetween(l.parent, l.child) && !j.bodyBetween(l.parent, l.child) {
				rounds[l.child] += rounds[l.parent]
			}
			if rounds[l.child] > mostRounds*(1+j.cancelledBefore(l.child)) {
				j.blame(at(from, l.child), "%s, accepted at #%d, waits for the listener at #%d, the %d. in a row that another one has posted", e.what(), from, l.child, rounds[l.child])
				break
			}
		}
	}
}

// cancelledBefore counts the cancelled bodies that the loop may have taken before n.
func (h *History) cancelledBefore(n int) int {
	count := 0
	for _, e := range h.entries {
		if c := e.cancelled(); c != nil && c.inv.N < n {
			count++
		}
	}
	return count
}

// link is a pair of listeners on the loop, by the positions of their begins: the parent completed
// the promise of the child.
type link struct{ parent, child int }

// listenerLinks returns the links in the order of the children.
func (j *judge) listenerLinks() []link {
	var links []link
	for _, p := range j.promised {
		heard := j.heard[p.event.ID]
		if p.listener != nil && p.listener.begin.InLoop && heard > p.event.N && j.Events[heard-1].InLoop {
			links = append(links, link{p.listener.begin.N, heard})
		}
	}
	slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.child, b.child) })
	return links
}

// bodyBetween reports whether a body that is no listener began between two positions.
func (h *History) bodyBetween(from, to int) bool {
	return slices.ContainsFunc(h.spans, func(s *span) bool { return from < s.begin.N && s.begin.N < to })
}
