package history

// judgeStates is S7 (G1): each transition is legal and begins in the state in which the
// last one ended, and no later observation sees an earlier state.
func judgeStates(j *judge) {
	state := NotStarted
	for i := range j.moves {
		m := j.moves[i]
		j.exercised()
		switch {
		case m.From != state:
			j.blame(at(m.N), "%v->%v at #%d, but the state was %v", m.From, m.To, m.N, state)
		case !legalMove(m.From, m.To):
			j.blame(at(m.N), "%v->%v at #%d is not a legal move", m.From, m.To, m.N)
		}
		state = m.To
	}
	j.statesSeen()
}

// sighting is an observed state, and the position from which on every new observation must
// see this state or a later one.
type sighting struct {
	state State
	n     int
}

// statesSeen compares each sighting with the sightings that ended before it began: a State
// call with all earlier ones, a bare observation, whose beginning is unknown, with those
// of its own goroutine.
func (j *judge) statesSeen() {
	var latest sighting
	floor := make([]sighting, len(j.calls))
	own := map[int64]sighting{}
	for i := range j.Events {
		e := &j.Events[i]
		if e.Op != OpState {
			continue
		}
		switch e.Kind {
		case Invoke:
			floor[j.callAt(e.N).number] = latest
		case Return:
			j.notBack(floor[j.callAt(e.Call).number], e)
			latest = latest.with(e)
			own[e.G] = own[e.G].with(e)
		case Observe:
			j.notBack(own[e.G], e)
			latest = latest.with(e)
			own[e.G] = own[e.G].with(e)
		}
	}
}

func (s sighting) with(e *Event) sighting {
	if e.To > s.state {
		return sighting{e.To, e.N}
	}
	return s
}

func (j *judge) notBack(before sighting, e *Event) {
	if before.n == 0 {
		return
	}
	j.exercised()
	if e.To < before.state {
		j.blame(at(before.n, e.N), "%v was seen at #%d, and %v afterwards at #%d", before.state, before.n, e.To, e.N)
	}
}

// judgeDoneOnce is S12 (G15): Done is written at most once, behind the move to Terminated, and no
// observation precedes it. A goroutine that has seen Done closed or the state Terminated sees both from then
// on.
func judgeDoneOnce(j *judge) {
	written := 0
	seen := map[int64]int{} // per goroutine, where it first saw the end
	for i := range j.Events {
		e := &j.Events[i]
		if e.Kind == Transit && e.To == Terminated && written != 0 {
			j.blame(at(written, e.N), "done at #%d, before the state moved to %v at #%d", written, e.To, e.N)
		}
		if e.Kind == Done {
			j.exercised()
			switch {
			case written != 0:
				j.blame(at(written, e.N), "done at #%d and again at #%d", written, e.N)
			case j.done < e.N:
				j.blame(at(j.done, e.N), "done was seen at #%d, before it happened at #%d", j.done, e.N)
			}
			written = e.N
		}
		j.seesEndForGood(e, seen)
	}
}

// seesEndForGood compares one observation of Done or of the state with earlier observations by
// the same goroutine.
func (j *judge) seesEndForGood(e *Event, seen map[int64]int) {
	looked := e.Kind == Observe || e.Kind == Return
	var over bool
	switch {
	case looked && e.Op == OpDone:
		over = e.Outcome == True
	case looked && e.Op == OpState:
		over = e.To == Terminated
	default:
		return
	}
	first := seen[e.G]
	switch {
	case first != 0:
		j.exercised()
		if !over {
			j.blame(at(first, e.N), "the end was seen at #%d, and %s afterwards, at #%d", first, e.sight(), e.N)
		}
	case over:
		j.exercised()
		seen[e.G] = e.N
	}
}

// sight returns what an observation saw that did not see the end.
func (e *Event) sight() string {
	if e.Op == OpDone {
		return "Done was open"
	}
	return "the state was " + e.To.String()
}
