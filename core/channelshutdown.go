package core

// notice is a request to one registration, to drain or to abort. A shutdown makes it, or a
// rebuild of the poller that has lost the registration.
type notice struct {
	r     *Registration
	level noticeLevel
	cause error
}

// makeNotices makes the notices of a shutdown, and reports whether it made any. Every
// registration gets a notice when the shutdown begins, and so does every registration
// made later. If these notices request a drain, every registration gets a second notice when
// admission has closed. Requires mu; loop only.
func (e *Executor) makeNotices() (news bool) {
	io := e.io
	if io == nil || e.seen < StateShuttingDown {
		return false
	}
	level, cause := noticeAbort, ErrShutdown
	switch {
	case e.seen == StateShutdown:
		cause = e.shutdown.cause
	case e.cfg.drain == DrainChannels:
		level = noticeDrain
	}
	targets := io.unnotified
	io.unnotified = nil
	if level > io.notified {
		io.notified, targets = level, io.slots
	}
	for _, r := range targets {
		if r != nil {
			io.notices = append(io.notices, notice{r, level, cause})
			news = true
		}
	}
	return news
}

// notifyChannels delivers the notices: it closes plain registrations, and calls Drain or
// Abort of channels (G22, G23). It runs before the tasks of the turn: tasks that were
// accepted before the shutdown call but have not begun find the channels draining. If the state
// moves, the next turn delivers the other notices.
func (e *Executor) notifyChannels() {
	io := e.io
	if io == nil || len(io.notices) == 0 {
		return
	}
	for io.noticePos < len(io.notices) {
		t := io.notices[io.noticePos]
		io.notices[io.noticePos] = notice{}
		io.noticePos++
		e.notify(t)
		e.settle()
		if e.stateMoved() {
			return // settle runs no listeners after a move: the next turn runs those of this channel before it notifies the next one (G9)
		}
	}
	io.notices, io.noticePos = nil, 0
}

// notify delivers a notice, unless the registration has had it or is closed.
func (e *Executor) notify(t notice) {
	if t.r.state.Load() == regClosed || t.r.notified >= t.level {
		return
	}
	t.r.notified = t.level
	switch {
	case !t.r.isChannel:
		t.r.close(t.cause, ChannelEnd{})
	case t.level == noticeDrain:
		// Without mu: the shutdown call has set both times before the loop saw its state in makeNotices.
		until := addTime(e.shutdown.calledAt, e.shutdown.timeout)
		e.runBody(currentBody{kind: BodyReadiness, internal: true}, func() { t.r.target.Drain(e.deadlineAt(until)) })
	default:
		e.runBody(currentBody{kind: BodyReadiness, internal: true}, func() { t.r.target.Abort(t.cause) })
	}
}

// registrationsEnded reports whether every registration has ended, so that the shutdown can
// continue. Requires mu.
func (e *Executor) registrationsEnded() bool { return e.io == nil || e.io.open == 0 }
