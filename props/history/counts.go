package history

// judgeConservation is S15 (G20). In every sample the counters add up and none has
// decreased. The counters are never ahead of the log, and the sample at done agrees with
// the log exactly.
func judgeConservation(j *judge) {
	total, end := j.Tally(), 0
	for i := range j.Events {
		if j.Events[i].Kind == Sample {
			end = j.Events[i].N // by then every call has returned
		}
	}
	var seen Tally
	last := map[int64]Stats{} // per goroutine: two concurrent samples may be written in either order
	for i := range j.Events {
		e := &j.Events[i]
		seen.step(j.History, e)
		if e.Stats == nil || e.Kind == Sealed {
			continue
		}
		j.exercised()
		if j.sample(e, last[e.G], seen); j.done != 0 && e.takenAfter() > j.done {
			j.lastSample(e, total)
			if e.N == end {
				j.countedFromBelow(e, seen, total)
			}
		}
		last[e.G] = *e.Stats
	}
}

// takenAfter returns a position after which the sample was certainly taken: that of the
// Invoke of Stats, or its own if it is a Sample event.
func (e *Event) takenAfter() int {
	if e.Call != 0 {
		return e.Call
	}
	return e.N
}

// Tally counts the tasks of a log, which are the arguments of Execute, ExecuteLazy, Submit
// and ExecuteAfterIteration. A body counts if its task was accepted; S3 judges that other
// bodies do not run.
type Tally struct {
	Attempts  int // calls made
	Accepted  int
	Refused   int // bad arguments included
	Begun     int
	Ended     int
	Cancelled int // calls of Cancel that returned true
	Rejected  int // Refused without those for bad arguments
	Panicked  int // bodies and listeners that panicked
}

// Tally counts the tasks of the whole log.
func (h *History) Tally() Tally {
	var t Tally
	for i := range h.Events {
		t.step(h, &h.Events[i])
	}
	return t
}

func (t *Tally) step(h *History, e *Event) {
	switch e.Kind {
	case Invoke:
		t.Attempts += one(e.Op.Tasks())
	case Return:
		t.returned(h, e)
	case Begin, End:
		t.Panicked += one(e.Kind == End && e.Outcome == Panicked)
		if e.Body != BodyTask && e.Body != BodyTail || h.byID[e.ID].submit.refused() {
			return
		}
		t.Begun += one(e.Kind == Begin)
		t.Ended += one(e.Kind == End)
	}
}

func (t *Tally) returned(h *History, e *Event) {
	switch {
	case e.Op == OpCancel:
		t.Cancelled += one(e.Outcome == True && h.byID[e.ID].op().Tasks())
	case !e.Op.Tasks():
	case e.Outcome == Accepted:
		t.Accepted++
	default:
		t.Refused++
		t.Rejected += one(e.Outcome != RefusedBadArgument)
	}
}

func (j *judge) sample(e *Event, last Stats, seen Tally) {
	s, n := *e.Stats, e.N
	switch {
	case s.Accepted != s.Ran+s.Cancelled+s.Pending || s.Pending < 0:
		j.blame(at(n), "at #%d accepted %d, ran %d, cancelled %d, pending %d", n, s.Accepted, s.Ran, s.Cancelled, s.Pending)
	case s.Accepted < last.Accepted || s.Ran < last.Ran || s.Cancelled < last.Cancelled || s.Rejected < last.Rejected:
		j.blame(at(n), "a counter went back at #%d: %+v after %+v", n, s, last)
	case s.Accepted > seen.Attempts:
		j.blame(at(n), "at #%d accepted %d of %d attempts", n, s.Accepted, seen.Attempts)
	case s.Ran > seen.Ended:
		j.blame(at(n), "at #%d ran %d, and %d tasks had ended", n, s.Ran, seen.Ended)
	}
}

// lastSample compares a sample that was taken after done with the whole log, because a
// call that was decided before the sample may return after it.
func (j *judge) lastSample(e *Event, total Tally) {
	s, n := *e.Stats, e.N
	switch {
	case s.Pending != 0:
		j.blame(at(j.done, n), "%d tasks pending at #%d, after done", s.Pending, n)
	case s.Accepted != total.Accepted || s.Ran != total.Begun:
		j.blame(at(j.done, n), "at #%d, after done, accepted %d and ran %d; the log has %d accepted and %d begun",
			n, s.Accepted, s.Ran, total.Accepted, total.Begun)
	case s.Rejected > total.Refused:
		j.blame(at(j.done, n), "at #%d rejected %d, and %d tasks were refused", n, s.Rejected, total.Refused)
	}
}

// countedFromBelow judges that the last sample counts every refusal and every panic, if
// the executor counts both. Earlier samples may be taken between the end of a listener on
// another goroutine and its count.
func (j *judge) countedFromBelow(e *Event, seen, total Tally) {
	s, n := *e.Stats, e.N
	if !j.Rules.Has(All &^ Readiness) {
		return
	}
	if s.Rejected < seen.Rejected {
		j.blame(at(j.done, n), "at #%d rejected %d, and %d tasks had been refused", n, s.Rejected, seen.Rejected)
	}
	if s.Panicked < seen.Panicked || s.Panicked > total.Panicked {
		j.blameOn("G14", "a panic is counted once", at(j.done, n), "at #%d panicked %d, and %d bodies and listeners had", n, s.Panicked, total.Panicked)
	}
}

// judgeNothingLeft is S16 (G24), as far as a log can show it: no signal to a closed
// poller, whose descriptor may have been reused; no timer left at done; no call that has
// not returned.
func judgeNothingLeft(j *judge) {
	closed := 0
	for i := range j.Events {
		switch e := &j.Events[i]; {
		case e.Kind == Closed:
			j.exercised()
			closed = e.N
		case e.Kind == Wake && closed != 0:
			j.blame(at(closed, e.N), "a wake was signalled at #%d to the poller closed at #%d", e.N, closed)
		case e.Stats != nil && j.done != 0 && e.takenAfter() > j.done && e.Stats.Timers != 0:
			j.blame(at(j.done, e.N), "%d timers waiting at #%d, after done", e.Stats.Timers, e.N)
		}
	}
	if !j.Rules.AtRest || j.done == 0 {
		return
	}
	j.exercised()
	for _, c := range j.calls {
		if c.ret == nil && c.within == nil {
			j.blameAbsence(at(c.inv.N), "%v, called at #%d, never returned", c.inv.Op, c.inv.N)
		}
	}
}
