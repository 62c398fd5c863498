package model

import "slices"

// effects says, for each kind of action, what changes. Effects are total: they
// also apply where a rule would have refused, so that a broken rule shows as a
// broken invariant and not as a crash.
var effects = [numKinds]func(s *State, a *Action){
	KindSubmit:             submit,
	KindSubmitLazy:         submit,
	KindSubmitTail:         submit,
	KindSchedule:           schedule,
	KindCancel:             cancel,
	KindAddHook:            addHook,
	KindRemoveHook:         removeHook,
	KindShutdownGracefully: shutdownGracefully,
	KindShutdown:           shutdown,
	KindObserve:            func(*State, *Action) {},
	KindRegister:           register,
	KindUnregister:         unregister,
	KindStartOK:            startOK,
	KindStartFail:          startFail,
	KindLoopFails:          loopFails,
	KindQuietElapses:       func(s *State, _ *Action) { s.QuietElapsed = true },
	KindTimeoutFires:       func(s *State, a *Action) { closeAdmission(s, a.Kind) },
	KindLost:               lost,
	KindBegin:              begin,
	KindEnd:                end,
	KindDiscard:            discard,
	KindTimerDies:          func(s *State, a *Action) { endTimer(s, a.Body, true) },
	KindCloseFD:            unregister,
	KindTold:               told,
	KindLoopCloses:         func(s *State, a *Action) { closeAdmission(s, a.Kind) },
	KindDone:               func(s *State, a *Action) { s.moveTo(Terminated, a.Kind) },
}

// enter writes the submission into the ledger and reports whether it was accepted.
func enter(s *State, a *Action) bool {
	r := Record{Body: a.Body, Periodic: a.Periodic, Refused: a.Outcome.IsRefusal()}
	if !r.Refused {
		r.At = s.Phase
	}
	s.insert(r)
	return !r.Refused
}

func submit(s *State, a *Action) {
	switch {
	case !enter(s, a):
		s.Refused++
		return
	case a.Body.Kind == TailBody:
		s.Tails = append(s.Tails, a.Body.ID)
	default:
		s.Queue = append(s.Queue, a.Body.ID)
	}
	s.Accepted++
}

func schedule(s *State, a *Action) {
	if !enter(s, a) {
		return
	}
	t := Timer{ID: a.Body.ID, At: s.Phase, Periodic: a.Periodic}
	switch {
	case s.Phase < ShuttingDown:
	case s.Policy == RunTimersUntilTimeout:
		t.Status = timerUnplaced
	default:
		t.Status = TimerDoomed // accepted, and ends within a turn
	}
	s.Timers = append(s.Timers, t)
}

func addHook(s *State, a *Action) {
	if enter(s, a) {
		s.Hooks = append(s.Hooks, Hook{a.Body.ID, s.Phase})
	}
}

// cancel leaves a cancelled task in the queue: the loop drops and counts it
// when its turn comes (G20).
func cancel(s *State, a *Action) {
	if a.Outcome == False {
		if doomed(s, a.Body) {
			endTimer(s, a.Body, true) // the policy was first
		}
		return
	}
	s.entry(a.Body).Cancelled = true
	if a.Body.Kind != TimerBody {
		return
	}
	if t := s.timer(a.Body.ID); t != nil && t.Status == TimerRunning {
		t.Status = TimerLastRun
		return
	}
	endTimer(s, a.Body, true)
}

func removeHook(s *State, a *Action) {
	if a.Outcome == True {
		dropHook(s, a.Body.ID)
		s.entry(a.Body).Cancelled = true
	}
}

// shutdownGracefully: the first call's parameters are written before the state
// (G16). A timeout of 0 has passed when it is given.
func shutdownGracefully(s *State, a *Action) {
	switch {
	case s.Phase >= ShuttingDown:
	case a.Outcome.IsRefusal():
		ownStartFailed(s, a)
	default:
		s.Quiet, s.Timeout = a.Quiet, a.Timeout
		mark(s)
		if !a.Timeout {
			closeAdmission(s, a.Kind)
			return
		}
		if s.Policy == RunTimersUntilTimeout {
			placeTimers(s)
		} else {
			settleTimers(s)
		}
		s.moveTo(ShuttingDown, a.Kind)
	}
}

func shutdown(s *State, a *Action) {
	switch {
	case s.Phase >= Shutdown:
	case a.Outcome.IsRefusal():
		ownStartFailed(s, a)
	default:
		if s.Phase < ShuttingDown {
			mark(s)
		}
		closeAdmission(s, a.Kind)
	}
}

func ownStartFailed(s *State, a *Action) {
	s.StartFailed = true
	s.moveTo(Terminated, a.Kind)
}

// mark remembers which tasks the hooks wait for (G6).
func mark(s *State) { s.Marked, s.MarkedTail = len(s.Queue), len(s.Tails) }

// closeAdmission is the close, whoever causes it.
func closeAdmission(s *State, by ActionKind) {
	settleTimers(s)
	s.QuietElapsed = false
	s.ClosedBy = by
	s.moveTo(Shutdown, by)
}

// settleTimers decides, at a shutdown call or the close, about timers that
// wait: under [CancelTimers] none runs, under the others those that are due do.
func settleTimers(s *State) {
	for i := range s.Timers {
		t := &s.Timers[i]
		switch {
		case t.Status > TimerDue:
		case s.Policy == CancelTimers:
			t.Status = TimerDoomed
		case t.Status == TimerWaiting:
			t.Status = timerUnsettled
		}
	}
}

// placeTimers is the shutdown call under [RunTimersUntilTimeout]: those whose
// deadline is before the timeout go on waiting, the others are doomed.
func placeTimers(s *State) {
	for i := range s.Timers {
		if t := &s.Timers[i]; t.Status == TimerWaiting {
			t.Status = timerUnplaced
		}
	}
}

func startOK(s *State, a *Action) {
	s.Up = true
	if s.Phase == NotStarted {
		s.moveTo(Started, a.Kind)
	}
}

// startFail keeps nothing. A shutdown cannot wait for the next try (G17).
func startFail(s *State, a *Action) {
	s.StartFailed = true
	s.QuietElapsed = false
	if s.Phase >= ShuttingDown {
		s.moveTo(Terminated, a.Kind)
	}
}

// loopFails ends the timers under every policy: nobody is left to wait for
// them. Accepted tasks and hooks still run (G15).
func loopFails(s *State, a *Action) {
	if s.Phase < ShuttingDown {
		mark(s)
	}
	if s.Phase < Shutdown {
		closeAdmission(s, a.Kind)
	}
	for i := range s.Timers {
		if t := &s.Timers[i]; t.Status <= TimerDue || t.Status == timerUnsettled {
			t.Status = TimerDoomed
		}
	}
}

func begin(s *State, a *Action) {
	s.Running = a.Body
	s.QuietElapsed = s.QuietElapsed && a.Body.registers() // those do not restart it
	switch a.Body.Kind {
	case TaskBody:
		s.Queue, s.Marked = dequeue(s.Queue, a.Body.ID, s.Marked)
	case TailBody:
		s.Tails, s.MarkedTail = dequeue(s.Tails, a.Body.ID, s.MarkedTail)
	case HookBody:
		s.LastHook = dropHook(s, a.Body.ID).At >= Shutdown
	case TimerBody:
		if t := s.timer(a.Body.ID); t != nil {
			t.Status = TimerRunning
		}
	}
	r := s.entry(a.Body)
	beginPart(s, r, a)
	if r.Begun < 2 && !(r.Periodic && r.Begun == 1) {
		r.Begun++
	}
	r.Inside = true
}

// end is the same for a body that returned, panicked or called Goexit, but for
// a periodic timer: one that does not return normally ends (G7, G14).
func end(s *State, a *Action) {
	r := s.entry(a.Body)
	r.Inside = false
	s.Running, s.LastHook = Body{}, false
	switch a.Body.Kind {
	case TaskBody, TailBody:
		s.Ran++
	case FDBody, ChannelBody:
		return // it may begin again
	case TimerBody:
		if t := s.timer(a.Body.ID); t != nil && t.Periodic && a.Outcome == Normal {
			rearm(s, t)
			return
		}
		endTimer(s, a.Body, false)
	}
	r.Ran = true
}

// rearm decides about the next run of a periodic timer. After the timers were
// settled the next run may still have been due at that moment.
func rearm(s *State, t *Timer) {
	settled := s.Phase >= Shutdown || s.Phase == ShuttingDown && s.Policy != RunTimersUntilTimeout
	switch {
	case t.Status == TimerLastRun:
		endTimer(s, TimerNo(t.ID), true)
	case !settled && s.Phase == ShuttingDown:
		t.Status = timerUnplaced
	case !settled:
		t.Status = TimerWaiting
	case s.Policy == CancelTimers || s.ClosedBy == KindLoopFails:
		t.Status = TimerDoomed
	default:
		t.Status = timerUnsettled
	}
}

// discard drops a cancelled task and is the only one to count it (G20).
func discard(s *State, a *Action) {
	s.Queue, s.Marked = dequeue(s.Queue, a.Body.ID, s.Marked)
	s.Cancelled++
}

// dequeue takes id out of queue, of which the first marked entries are marked.
func dequeue(queue []int, id, marked int) ([]int, int) {
	i := slices.Index(queue, id)
	if i < 0 {
		return queue, marked
	}
	if i < marked {
		marked--
	}
	return slices.Delete(queue, i, i+1), marked
}

// dropHook takes a hook out of the pending ones and returns it.
func dropHook(s *State, id int) (h Hook) {
	if i := s.hook(id); i >= 0 {
		h = s.Hooks[i]
		s.Hooks = slices.Delete(s.Hooks, i, i+1)
	}
	return h
}

// endTimer removes a timer that will not run again.
func endTimer(s *State, b Body, cancelled bool) {
	s.Timers = slices.DeleteFunc(s.Timers, func(t Timer) bool { return t.ID == b.ID })
	if r := s.entry(b); cancelled {
		r.Cancelled = true
	}
}
