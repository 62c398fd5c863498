package core

// told is one thing to be said to a registration about a shutdown.
type told struct {
	r     *Registration
	level toldLevel
	cause error
}

// intakeTelling finds out who is to be told what about the shutdown: everybody
// when it begins and, if they were asked to drain, again at the close; and those
// who registered meanwhile. Requires mu; loop only.
func (e *Executor) intakeTelling() (news bool) {
	io := e.io
	if io == nil || e.seen < StateShuttingDown {
		return false
	}
	level, cause := toldAbort, ErrShutdown
	switch {
	case e.seen == StateShutdown:
		cause = e.shutdown.cause
	case e.cfg.drain == DrainChannels:
		level = toldDrain
	}
	late := io.untold
	io.untold = nil
	if level > io.told {
		io.told, late = level, io.slots
	}
	for _, r := range late {
		if r != nil {
			io.telling = append(io.telling, told{r, level, cause})
			news = true
		}
	}
	return news
}

// tellChannels says to each registration what the shutdown asks of it: this is
// where handlers of plain descriptors hear that theirs was closed, and channels
// that they have to drain or to end (G22, G23). What was accepted before runs
// after it, and finds the channels draining.
func (e *Executor) tellChannels() {
	io := e.io
	if io == nil || len(io.telling) == 0 {
		return
	}
	for io.tellPos < len(io.telling) {
		t := io.telling[io.tellPos]
		io.telling[io.tellPos] = told{}
		io.tellPos++
		e.tell(t)
		e.reportPanics()
	}
	io.telling, io.tellPos = nil, 0
}

func (e *Executor) tell(t told) {
	e.mu.Lock()
	over := t.r.state.Load() == regClosed || t.r.told >= t.level
	t.r.told = max(t.r.told, t.level)
	until := addTime(e.shutdown.calledAt, e.shutdown.timeout)
	e.mu.Unlock()
	switch {
	case over:
	case !t.r.isChannel:
		t.r.close(t.cause, ChannelEnd{})
	case t.level == toldDrain:
		e.protect(currentBody{kind: BodyReadiness, internal: true}, func() { t.r.target.Drain(e.deadlineAt(until)) })
	default:
		e.protect(currentBody{kind: BodyReadiness, internal: true}, func() { t.r.target.Abort(t.cause) })
	}
}

// channelsEnded reports whether no registration keeps the shutdown from going on.
// Requires mu.
func (e *Executor) channelsEnded() bool { return e.io == nil || e.io.open == 0 }
