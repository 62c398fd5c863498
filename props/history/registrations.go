package history

// judgeRegistrations is S19 (G22): a registration ends once, and none of its bodies begins
// after the end. Its owner is notified once, after the end, with an error if and only if
// the owner did not end it.
func judgeRegistrations(j *judge) {
	for _, e := range j.entries {
		if !e.registers() || !e.accepted() {
			continue
		}
		if len(e.ends) > 0 {
			j.exercised()
		}
		if len(e.ends) > 1 {
			j.blame(at(e.ends[0].N, e.ends[1].N), "%s ended at #%d and again at #%d", e.what(), e.ends[0].N, e.ends[1].N)
		}
		j.endedByOwner(e)
		j.silentAfterEnd(e)
		j.lostEnds(e)
		j.calledOnlyWhenReady(e)
		j.notifiedOnce(e)
	}
}

// endedByOwner judges that before a shutdown or a fault only the owner ends a registration
// that is no channel.
func (j *judge) endedByOwner(e *entry) {
	end := e.endedBy()
	if end == nil || end.Outcome != Errored || e.op() != OpRegister || j.faultBefore(end.N) {
		return
	}
	if j.asked == 0 || end.N < j.asked {
		j.blame(at(end.N), "%s was ended by the executor at #%d, before any shutdown", e.what(), end.N)
	}
}

// faultBefore reports whether a fault may have cost the executor a registration by n.
func (j *judge) faultBefore(n int) bool {
	for i := range j.Events[:n] {
		if e := &j.Events[i]; e.Kind == Fault && e.Outcome != 0 {
			return true
		}
	}
	return false
}

// silentAfterEnd judges that no body of the registration begins after its end. If another
// goroutine ended the registration, a body that the loop had already dequeued may write
// its Begin late: then it is the next event of the loop.
func (j *judge) silentAfterEnd(e *entry) {
	end := e.endedBy()
	if end == nil {
		return
	}
	for _, s := range e.runs {
		if s.begin.N < end.N || !j.loops[end.G] && j.nextOfLoop(end.N) == s.begin.N {
			continue
		}
		j.blame(at(end.N, s.begin.N), "the %v of %s began at #%d, after its end at #%d", s.begin.Body, e.what(), s.begin.N, end.N)
		return
	}
}

// calledOnlyWhenReady judges that the handler is called at most as often as its descriptor
// became ready: an event of an older registration must not reach this handler.
func (j *judge) calledOnlyWhenReady(e *entry) {
	if !j.Rules.Has(Readiness) {
		return
	}
	heard := 0
	for _, s := range e.runs {
		if s.begin.Body != BodyReadiness {
			continue
		}
		heard++
		ready := 0
		for _, r := range e.readied {
			if r.N < s.begin.N {
				ready++
			}
		}
		if heard > ready {
			j.blame(at(s.begin.N), "the handler of %s was called for the %d. time at #%d, and its descriptor had been ready %d times", e.what(), heard, s.begin.N, ready)
			return
		}
	}
}

// lostEnds judges that a registration that a new poller could not take ends as soon as
// the loop is free. A channel may be aborted instead.
func (j *judge) lostEnds(e *entry) {
	for i := range j.Events {
		f := &j.Events[i]
		if f.Kind != Fault || f.ID != e.id || f.Outcome != RefusedByPoller {
			continue
		}
		j.exercised()
		heard := len(j.Events)
		if end := e.endedBy(); end != nil {
			heard = end.N
		}
		for _, s := range e.runs {
			if s.begin.Body == BodyAbort {
				heard = min(heard, s.begin.N)
			}
		}
		if idle := j.at(heard) - f.At - j.busy(f.At, j.at(heard)); j.Rules.Virtual && heard > f.N && idle > 0 {
			j.blame(at(f.N, heard), "%s was lost at #%d and neither ended nor aborted until #%d, with the loop free for %v in between", e.what(), f.N, heard, idle)
		}
		return
	}
}

// nextOfLoop returns the position of the first event after n that an awake loop writes
// about itself, or 0 if the loop sleeps at n.
func (h *History) nextOfLoop(n int) int {
	said := func(e *Event) bool {
		return e.Kind == Park || e.Kind == Unpark || e.Kind == Ended && e.Outcome == Errored && h.loops[e.G] || (e.Kind == Begin || e.Kind == End) && e.Body != BodyListener
	}
	for i := n - 2; i >= 0; i-- {
		if e := &h.Events[i]; said(e) {
			if e.Kind == Park {
				return 0
			}
			break
		}
	}
	for i := n; i < len(h.Events); i++ {
		if said(&h.Events[i]) {
			return h.Events[i].N
		}
	}
	return 0
}

// notifiedOnce judges the calls of the owner's listener.
func (j *judge) notifiedOnce(e *entry) {
	if len(e.listeners) == 0 {
		return
	}
	notified, end := e.listeners[0].begin.N, e.endedBy()
	switch {
	case len(e.listeners) > len(e.listens):
		j.blame(at(notified, e.listeners[1].begin.N), "the owner of %s was notified at #%d and again at #%d", e.what(), notified, e.listeners[1].begin.N)
	case end == nil || end.N > notified:
		j.blame(at(notified), "the owner of %s was notified at #%d, before its end", e.what(), notified)
	case len(e.complete) > 0 && e.complete[0].Outcome != end.Outcome:
		j.blame(at(end.N, notified), "%s ended as %v at #%d, and its owner was notified of %v at #%d", e.what(), end.Outcome, end.N, e.complete[0].Outcome, notified)
	}
}

// registrationOpen reports whether a registration may be open at n.
func (h *History) registrationOpen(n int) bool {
	for _, e := range h.entries {
		if !e.registers() || e.submit.refused() || e.submit.inv.N > n {
			continue
		}
		if end := e.endedBy(); end == nil || end.N > n {
			return true
		}
	}
	return false
}
