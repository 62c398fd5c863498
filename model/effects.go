package model

import "slices"

// effects maps each kind of action to its change of the state. Effects are defined even for
// actions that the rules refuse, so that a wrong rule shows as a violated invariant and not as
// a crash. The one exception is an illegal move of the phase: moveTo panics, and Explore
// reports the panic as a violation of G1.
var effects = [numKinds]func(s *State, a *Action){
	OpExecute:            submit,
	OpExecuteLazy:        submit,
	OpAfterIteration:     submit,
	OpSchedule:           schedule,
	OpCancel:             cancel,
	OpReset:              func(*State, *Action) {},
	OpAddHook:            addHook,
	OpRemoveHook:         removeHook,
	OpShutdownGracefully: shutdownGracefully,
	OpShutdown:           shutdown,
	OpState:              func(*State, *Action) {},
	OpRegister:           register,
	OpEnd:                unregister,
	StepStartOK:          startOK,
	StepStartFail:        startFail,
	StepLoopFails:        loopFails,
	StepQuietElapses:     func(s *State, _ *Action) { s.QuietElapsed = true },
	StepTimeoutFires:     func(s *State, a *Action) { closeAdmission(s, a.Kind) },
	StepLost:             lost,
	StepBegin:            begin,
	StepEnd:              end,
	StepDiscard:          discard,
	StepTimerDies:        func(s *State, a *Action) { endTimer(s, a.Body, true) },
	StepCloseFD:          unregister,
	StepNotified:         notified,
	StepLoopCloses:       func(s *State, a *Action) { closeAdmission(s, a.Kind) },
	StepDone:             func(s *State, a *Action) { s.moveTo(Terminated, a.Kind) },
}

// enter records the submission in the ledger and reports whether it was accepted.
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
		t.Status = TimerDoomed // accepted; it ends within a turn
	}
	s.Timers = append(s.Timers, t)
}

func addHook(s *State, a *Action) {
	if enter(s, a) {
		s.Hooks = append(s.Hooks, Hook{a.Body.ID, s.Phase})
	}
}

// cancel leaves a cancelled task in the queue. The loop drops and counts the task once
// the task is at the head (G20).
func cancel(s *State, a *Action) {
	if a.Outcome == False {
		if doomed(s, a.Body) {
			endTimer(s, a.Body, true) // the timer policy has cancelled the timer before
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

// shutdownGracefully sets the parameters of the first call before the phase (G16). A
// timeout of 0 has already passed at the call.
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

// mark records which tasks the hooks wait for (G6).
func mark(s *State) { s.Marked, s.MarkedTail = len(s.Queue), len(s.Tails) }

// closeAdmission moves to Shutdown, whatever the cause: by is the action that closes.
func closeAdmission(s *State, by Op) {
	settleTimers(s)
	s.QuietElapsed = false
	s.ClosedBy = by
	s.moveTo(Shutdown, by)
}

// settleTimers decides about waiting timers at a shutdown call or at the close. Under
// [CancelTimers] none runs; under the other policies the due ones run.
func settleTimers(s *State) {
	for i := range s.Timers {
		t := &s.Timers[i]
		switch {
		case t.Status == timerUnplaced: // waiting or doomed, and if waiting, then due or doomed now
			t.Status = timerUnsettled
		case t.Status > TimerDue:
		case s.Policy == CancelTimers:
			t.Status = TimerDoomed
		case t.Status == TimerWaiting:
			t.Status = timerUnsettled
		}
	}
}

// placeTimers is settleTimers for a shutdown call under [RunTimersUntilTimeout]: timers
// with a deadline before the timeout stay waiting, the others become doomed.
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

// startFail has no accepted work to drop: nothing is accepted before the loop exists. During a
// shutdown it also terminates the executor, because no other start follows (G17).
func startFail(s *State, a *Action) {
	s.StartFailed = true
	s.QuietElapsed = false
	if s.Phase >= ShuttingDown {
		s.moveTo(Terminated, a.Kind)
	}
}

// loopFails ends the timers under every policy, because nothing waits for their
// deadlines any more. Accepted tasks and hooks still run (G15).
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
	s.QuietElapsed = s.QuietElapsed && a.Body.registers() // bodies of registrations do not restart the quiet period
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

// end has the same effect whether a body returned, panicked or called Goexit. Only a
// periodic timer differs: it ends unless its body returned (G7, G14).
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

// rearm decides about the next run of a periodic timer. If a shutdown call or the close
// settled the timers during this run, the next run may have been due at that moment.
func rearm(s *State, t *Timer) {
	settled := s.Phase >= Shutdown || s.Phase == ShuttingDown && s.Policy != RunTimersUntilTimeout
	switch {
	case t.Status == TimerLastRun:
		endTimer(s, TimerNo(t.ID), true)
	case !settled && s.Phase == ShuttingDown:
		t.Status = timerUnplaced
	case !settled:
		t.Status = TimerWaiting
	case s.Policy == CancelTimers || s.ClosedBy == StepLoopFails:
		t.Status = TimerDoomed
	default:
		t.Status = timerUnsettled
	}
}

// discard drops a cancelled task and counts it. No other effect changes the count of
// cancelled tasks (G20).
func discard(s *State, a *Action) {
	s.Queue, s.Marked = dequeue(s.Queue, a.Body.ID, s.Marked)
	s.Cancelled++
}

// dequeue removes id from queue. marked is the number of marked entries at the head; the
// result is their number afterwards.
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

// dropHook removes a hook from the pending hooks and returns it.
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
