package history

// judgeRefusal is S4 (G5). Before the close, calls are refused only for a full queue or a
// failed start. Once the log shows the close, every later call is refused. S9 judges
// hooks that are added after the close.
func judgeRefusal(j *judge) {
	known, why := j.knownClosed()
	for _, c := range j.calls {
		if !c.inv.Op.Submits() || c.ret == nil {
			continue
		}
		if c.refused() {
			j.exercised()
			j.honest(c)
		}
		j.admitOnItsSide(c)
		if c.inv.N < known || c.inv.Op == OpAddHook {
			continue
		}
		j.exercised()
		if c.accepted() {
			j.blame(at(known, c.ret.N), "%s was accepted at #%d, though %s at #%d", c.entry.name(c), c.ret.N, why, known)
		}
	}
	j.shutdownCloses()
}

// name returns the name of the subject of a call in messages.
func (e *entry) name(c *call) string {
	if e == nil {
		return noun(c.inv.Op)
	}
	return e.what()
}

// knownClosed returns the first position after which every call must be refused, and the
// event there in words.
func (h *History) knownClosed() (n int, why string) {
	n = neverN
	note := func(at int, what string) {
		if at != 0 && at < n {
			n, why = at, what
		}
	}
	note(h.closed, "admission had ended")
	note(h.done, "the executor was done")
	for _, c := range h.calls {
		switch {
		case c.ret == nil:
		case c.inv.Op == OpShutdown && !c.refused():
			note(c.ret.N, "Shutdown had returned")
		case c.inv.Op.Submits() && h.refusedAsClosed(c):
			note(c.ret.N, "a call had been refused as closed")
		}
	}
	return n, why
}

// refusedAsClosed reports whether the close is the only possible reason of the refusal.
func (h *History) refusedAsClosed(c *call) bool {
	if c.answered(RefusedClosed) {
		return true
	}
	return c.answered(Refused) && h.Rules.QueueBound == 0 && !h.Rules.Spawner
}

// honest judges that the reason of a refusal is true.
func (j *judge) honest(c *call) {
	what, n := c.entry.name(c), c.ret.N
	switch c.ret.Outcome {
	case RefusedClosed:
		if !j.mayBeClosed(c) {
			j.blame(at(n), "%s was refused as closed at #%d, before admission ended", what, n)
		}
	case RefusedQueueFull:
		if !j.mayBeFull(c) {
			j.blame(at(n), "%s was refused for a full queue at #%d, though there was room", what, n)
		}
	case RefusedStartFailed, RefusedStarting:
		if !j.Rules.Spawner {
			j.blame(at(n), "%s was refused for its start at #%d, though no start can fail", what, n)
		}
	case RefusedInLoop:
		j.blame(at(n), "%s was refused at #%d for being called in the loop, where submitting is legal", what, n)
	case Refused:
		if !j.mayBeClosed(c) && !j.mayBeFull(c) && !j.Rules.Spawner {
			j.blame(at(n), "%s was refused at #%d, before any shutdown and with room in the queue", what, n)
		}
	}
}

// mayBeClosed reports whether the close may have happened before the call returned.
func (h *History) mayBeClosed(c *call) bool {
	if h.Rules.Has(States) {
		return h.closed != 0 && h.closed < c.ret.N
	}
	return h.first != nil && h.first.inv.N < c.ret.N
}

// mayBeFull reports whether the queue may have been full at some moment of the call:
// enough tasks may have been accepted and not begun. Begin is written shortly after the
// dequeue, so the count may be too high, never too low: a correct executor is not blamed.
func (h *History) mayBeFull(c *call) bool {
	room := h.Rules.Capacity()
	if room == 0 || !c.inv.Op.Tasks() {
		return false
	}
	waiting := 0
	for _, e := range h.entries {
		if e.submit.inv.N > c.ret.N {
			break
		}
		if !e.op().Tasks() || e.submit.refused() || e.submit == c {
			continue
		}
		if begin := e.firstBegin(); begin == 0 || begin > c.inv.N {
			waiting++
		}
	}
	return waiting >= room
}

// admitOnItsSide judges the Admit event of a call, if there is one: an acceptance
// precedes the close, and a refusal as closed follows it.
func (j *judge) admitOnItsSide(c *call) {
	if c.admit == nil || j.closed == 0 || c.inv.Op == OpAddHook {
		return
	}
	n := c.admit.N
	switch {
	case c.admit.Outcome == Accepted && n > j.closed:
		j.blame(at(j.closed, n), "%s was admitted at #%d, after the close at #%d", c.entry.name(c), n, j.closed)
	case c.admit.Outcome == RefusedClosed && n < j.closed:
		j.blame(at(n, j.closed), "%s was turned away at #%d, before the close at #%d", c.entry.name(c), n, j.closed)
	}
}

// shutdownCloses judges that Shutdown has closed admission when it returns.
func (j *judge) shutdownCloses() {
	if !j.Rules.Has(States) {
		return
	}
	for _, c := range j.calls {
		if c.inv.Op != OpShutdown || c.ret == nil {
			continue
		}
		j.exercised()
		if j.closed == 0 || j.closed > c.ret.N {
			j.blame(at(c.ret.N), "Shutdown returned at #%d and admission was still open", c.ret.N)
		}
	}
}
