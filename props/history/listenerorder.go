package history

import "slices"

// judgeListenerOrder is V12 (G9). A task completes its future as it ends, and any body may complete
// a promise. The listeners that were added before run when the body has ended, and before the next
// body of the loop begins.
//
// It does not judge around a change of the state: the next turn of the loop then runs hooks and
// channels first. The loop may see the change as late as the next body, and may have made it up to
// the body before.
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
		if p.within != nil && p.within.end != nil && !p.inListener {
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
	for _, m := range h.moves {
		if m.To >= ShuttingDown && from < m.N && m.N < to {
			return true
		}
	}
	return false
}
