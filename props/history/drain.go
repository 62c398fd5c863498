package history

// judgeDrain is S20 (G23): the requests of a shutdown to open channels.
func judgeDrain(j *judge) {
	for _, e := range j.entries {
		if e.op() != OpRegisterChannel || !e.accepted() {
			continue
		}
		a := j.asks(e)
		j.askedInOrder(e, a)
		j.askedByPolicy(e, a)
		j.requested(e, a)
	}
}

// asks holds the drain and abort requests to one channel, in the order of the log.
type asks struct{ drains, aborts []*span }

func (j *judge) asks(e *entry) (a asks) {
	for _, s := range e.runs {
		switch s.begin.Body {
		case BodyDrain:
			j.exercised()
			a.drains = append(a.drains, s)
		case BodyAbort:
			j.exercised()
			a.aborts = append(a.aborts, s)
		}
	}
	return a
}

// askedInOrder judges that each request is made at most once, and the abort last.
func (j *judge) askedInOrder(e *entry, a asks) {
	switch {
	case len(a.drains) > 1:
		j.blame(at(a.drains[0].begin.N, a.drains[1].begin.N), "%s was asked to drain at #%d and again at #%d", e.what(), a.drains[0].begin.N, a.drains[1].begin.N)
	case len(a.aborts) > 1:
		j.blame(at(a.aborts[0].begin.N, a.aborts[1].begin.N), "%s was aborted at #%d and again at #%d", e.what(), a.aborts[0].begin.N, a.aborts[1].begin.N)
	case len(a.drains) > 0 && len(a.aborts) > 0 && a.drains[0].begin.N > a.aborts[0].begin.N:
		j.blame(at(a.aborts[0].begin.N, a.drains[0].begin.N), "%s was asked to drain at #%d, after it was aborted at #%d", e.what(), a.drains[0].begin.N, a.aborts[0].begin.N)
	}
}

// askedByPolicy judges three rules. No request is made before the shutdown call or a fault.
// Only a graceful shutdown with the policy DrainChannels requests a drain, with the
// deadline of the shutdown. And with that policy no abort is requested before the close.
func (j *judge) askedByPolicy(e *entry, a asks) {
	for _, s := range a.drains {
		switch n := s.begin.N; {
		case j.asked == 0 || n < j.asked:
			j.blame(at(n), "%s was asked to drain at #%d, before any shutdown", e.what(), n)
		case j.Rules.Drain == CloseChannels:
			j.blame(at(n), "%s was asked to drain at #%d, and the policy is to close channels", e.what(), n)
		case j.Rules.Has(States) && j.asked == j.closed:
			j.blame(at(j.asked, n), "%s was asked to drain at #%d, and the shutdown at #%d left no time for it", e.what(), n, j.asked)
		default:
			j.drainDeadline(e, s)
		}
	}
	for _, s := range a.aborts {
		from := j.asked
		if j.Rules.Drain == DrainChannels && j.Rules.Has(States) {
			from = j.closed
		}
		if n := s.begin.N; (from == 0 || n < from) && !j.faultBefore(n) {
			j.blame(at(n), "%s was aborted at #%d, too early for its policy (%v)", e.what(), n, j.Rules.Drain)
		}
	}
}

// drainDeadline judges that the channel was given the deadline of admission.
func (j *judge) drainDeadline(e *entry, s *span) {
	if !j.Rules.Virtual || s.begin.Until == 0 || j.first == nil || j.first.inv.Op != OpShutdownGracefully && j.first.inv.Timeout == 0 {
		return
	}
	if want := Later(j.askedAt, j.first.inv.Timeout); s.begin.Until != want {
		j.blame(at(j.asked, s.begin.N), "%s was given until %v to drain, and the shutdown has until %v", e.what(), until(s.begin.Until), until(want))
	}
}

// requested judges that a channel that is open in a shutdown gets a request as soon as
// the loop is free, and another one at the close.
func (j *judge) requested(e *entry, a asks) {
	if j.asked == 0 {
		return
	}
	if j.Rules.Drain == CloseChannels || !j.Rules.Has(States) || j.asked == j.closed {
		j.requestedSoon(e, j.asked, j.end(), "aborted", a.aborts)
		return
	}
	j.requestedSoon(e, j.asked, j.end(), "asked to drain", append(a.drains[:len(a.drains):len(a.drains)], a.aborts...))
	if j.closed != 0 {
		j.requestedSoon(e, j.closed, j.end(), "aborted", a.aborts)
	}
}

// end returns the position up to which the log is complete.
func (j *judge) end() int {
	if j.done != 0 {
		return j.done
	}
	return len(j.Events)
}

// requestedSoon judges a channel that is open at from: if it stays open until the loop has
// been free for some time, it must have got the request.
func (j *judge) requestedSoon(e *entry, from, until int, what string, asked []*span) {
	from = max(from, e.submit.ret.N)
	if end := e.endedBy(); end != nil {
		until = min(until, end.N)
	}
	if until <= from {
		return
	}
	heard, when := until, j.at(until)
	if len(asked) > 0 {
		heard, when = asked[0].begin.N, asked[0].begin.At
	}
	if heard > until {
		heard, when = until, j.at(until)
	}
	idle := when - j.at(from) - j.busy(j.at(from), when)
	if j.Rules.Virtual && idle > 0 {
		j.blame(at(from, heard), "%s, open at #%d, was not %s until #%d, with the loop free for %v in between", e.what(), from, what, heard, idle)
	}
}

// judgeChannelCounts is S21 (G23): the report counts each channel that ended since the
// shutdown call as drained or aborted, and its discarded bytes.
func judgeChannelCounts(j *judge) {
	var sealed *Event
	for i := range j.Events {
		if j.Events[i].Kind == Sealed {
			sealed = &j.Events[i]
		}
	}
	if sealed == nil {
		return
	}
	var drained, aborted, discarded int
	for _, e := range j.entries {
		end := e.endedBy()
		if e.op() != OpRegisterChannel || end == nil || j.asked == 0 || end.N < j.asked {
			continue
		}
		j.exercised()
		by := e.closeThat(end)
		if by == nil {
			continue // the executor ended it because its descriptor number was reused
		}
		drained += one(by.inv.Outcome == Drained)
		aborted += one(by.inv.Outcome == Aborted)
		discarded += by.inv.Bytes
	}
	if s := sealed.Stats; s.Drained != drained || s.Aborted != aborted || s.Discarded != discarded {
		j.blame(at(sealed.N), "the report has %d channels drained, %d aborted and %d bytes discarded; the log %d, %d and %d",
			s.Drained, s.Aborted, s.Discarded, drained, aborted, discarded)
	}
	if s := sealed.Stats; s.Registrations != 0 {
		j.blameOn("G22", "a registration ends once, gets no call afterwards, and its owner is notified", at(sealed.N), "%d registrations are open in the last snapshot", s.Registrations)
	}
}

// closeThat returns the call inside which the registration ended, or nil.
func (e *entry) closeThat(end *Event) *call {
	for _, c := range e.closes {
		if c.inv.G == end.G && c.inv.N < end.N && (c.ret == nil || c.ret.N > end.N) {
			return c
		}
	}
	return nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
