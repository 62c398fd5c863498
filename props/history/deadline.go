package history

import "time"

// extreme is the smallest timeout that counts as huge: no caller would wait that long.
const extreme = 1000 * time.Hour

// judgeDeadline is V3 (G11): admission ends no later than timeout after the shutdown call,
// even while a body runs, and only bodies delay done after the close.
func judgeDeadline(j *judge) {
	if j.first == nil || j.first.inv.Op != OpShutdownGracefully {
		return
	}
	limit := Later(j.askedAt, j.first.inv.Timeout)
	if limit == Never {
		return
	}
	late := Later(limit, j.Rules.Slack)
	if j.closed != 0 {
		if j.at(j.closed) >= limit {
			j.exercised()
		}
		if j.at(j.closed) > late {
			j.blame(at(j.asked, j.closed), "admission ended at %v, and the deadline was %v: timeout %v after the call at %v",
				j.at(j.closed), limit, j.first.inv.Timeout, j.askedAt)
			return
		}
	}
	if !j.acceptedLate(late) {
		j.doneFollows(limit)
	}
}

// acceptedLate blames an executor for accepting work after the deadline.
func (j *judge) acceptedLate(late time.Duration) bool {
	for _, c := range j.calls {
		if !c.inv.Op.Submits() || c.inv.At <= late || c.ret == nil || c.inv.Op == OpAddHook {
			continue
		}
		j.exercised()
		if c.accepted() && j.closed == 0 {
			j.blame(at(j.asked, c.ret.N), "%s was accepted at %v, after the deadline at %v: timeout %v after the call at %v",
				c.entry.name(c), c.inv.At, late, j.first.inv.Timeout, j.askedAt)
			return true
		}
	}
	return false
}

// doneFollows judges that from the close, or from the deadline, to done the loop was
// never idle: bodies took all of that time.
func (j *judge) doneFollows(limit time.Duration) {
	if !j.Rules.Virtual || j.done == 0 || j.closed == 0 && j.at(j.done) < limit {
		return
	}
	from := limit
	if j.closed != 0 {
		from = j.at(j.closed)
	}
	from = max(from, j.lastRegistrationEnds())
	j.exercised()
	end := j.at(j.done)
	if idle := end - from - j.busy(from, end); idle > 0 {
		j.blame(at(j.asked, j.done), "done at %v, %v after admission ended at %v, with no body to wait for in %v of it",
			end, end-from, from, idle)
	}
}

// judgeExtremes is V5 (G15): a shutdown with zero, equal or huge parameters ends like any
// other.
func judgeExtremes(j *judge) { j.mustEnd(true) }

// judgeConverges is V9 (G15): after a shutdown call, once all accepted work has run, the
// executor is done, whatever went wrong before.
func judgeConverges(j *judge) {
	j.mustEnd(false)
	j.endsUncalled()
}

// endsUncalled judges that an executor does not end by itself, unless its poller or its start
// has failed for good. S14 judges an executor that a body broke.
func (j *judge) endsUncalled() {
	n, how := j.endedUncalled()
	if n == 0 {
		return
	}
	j.exercised()
	if j.brokenBy(n) == nil {
		j.blame(at(n), "the executor %s at #%d, without a shutdown call", how, n)
	}
}

// endedUncalled returns the position at which the executor began to end, or that of done
// if the log does not show the begin. It returns 0 if the executor has not ended, or if a
// shutdown call or a failure explains the end.
func (h *History) endedUncalled() (n int, how string) {
	n, how = h.done, "was done"
	if h.Rules.Has(States) && h.asked != 0 {
		n, how = h.asked, "began to end"
	}
	if n == 0 || h.Rules.Spawner || !h.Rules.AtRest {
		return 0, ""
	}
	for i := range h.Events[:n] {
		e := &h.Events[i]
		if e.Kind == Invoke && e.Op.Shuts() || e.Kind == Fault && e.Outcome == Errored {
			return 0, ""
		}
	}
	return n, how
}

// mustEnd judges that a shutdown ends. It considers only shutdowns with extreme
// parameters, or only those without. V2 judges work that never began, and S14 a loop that
// died in a body.
func (j *judge) mustEnd(extremes bool) {
	if j.first == nil || j.first.extreme() != extremes {
		return
	}
	j.exercised()
	if !j.Rules.AtRest || j.done != 0 || j.stuck() != nil || j.diedIn() != nil || j.stranded() != nil {
		return
	}
	j.blameAbsence(at(j.first.inv.N), "the shutdown called at #%d with quiet %v and timeout %v never ended, though all accepted work has run",
		j.first.inv.N, j.first.inv.Quiet, j.first.inv.Timeout)
}

func (c *call) extreme() bool {
	p := c.inv
	if p.Op != OpShutdownGracefully {
		return false
	}
	return p.Timeout == 0 || p.Quiet == p.Timeout || p.Timeout >= extreme
}
