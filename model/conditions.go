package model

import "slices"

// Conditions that several rules share, or that need an explanation.

// mayAddLastHook reports whether the action is a call after admission has closed, made inside a
// hook that was accepted before. Such a call may add a hook (G6).
func mayAddLastHook(s *State, a *Action) bool {
	return s.Phase == Shutdown && a.From == Loop && s.Running.Kind == HookBody && !s.LastHook
}

// cancellable reports whether Cancel of b may return true: b is a queued task, a timer that has
// not begun (doomed or not), or a periodic timer; and b was not cancelled.
func cancellable(s *State, b Body) bool {
	switch b.Kind {
	case TaskBody:
		return waiting(s, b) && !s.cancelled(b)
	case TimerBody:
		t := s.timer(b.ID)
		return t != nil && t.Status != TimerLastRun && (t.Status != TimerRunning || t.Periodic)
	}
	return false
}

// movable reports whether Reset may move a run of timer b: the timer is waiting or
// periodic, and no shutdown has settled whether it runs.
func movable(s *State, b Body) bool {
	undecided := s.Phase < ShuttingDown || s.Phase == ShuttingDown && s.Policy == RunTimersUntilTimeout
	return undecided && cancellable(s, b) && !doomed(s, b)
}

// doomed reports whether b is a timer that the policy cancels without another run.
func doomed(s *State, b Body) bool {
	if b.Kind != TimerBody {
		return false
	}
	t := s.timer(b.ID)
	return t != nil && t.Status == TimerDoomed
}

// timerToRun reports whether a timer keeps the quiet period from ending: a due timer,
// or under [RunTimersUntilTimeout] a waiting one.
func timerToRun(s *State) bool {
	return slices.ContainsFunc(s.Timers, func(t Timer) bool {
		return t.Status == TimerDue || t.Status == TimerWaiting
	})
}

// waiting reports whether b was accepted, has not ended and does not run. A registration
// waits until its owner is notified of the end, even while one of its bodies runs.
func waiting(s *State, b Body) bool {
	switch b.Kind {
	case TaskBody:
		return slices.Contains(s.Queue, b.ID)
	case TailBody:
		return slices.Contains(s.Tails, b.ID)
	case HookBody:
		return s.hook(b.ID) >= 0
	case TimerBody:
		t := s.timer(b.ID)
		return t != nil && t.Status <= TimerDoomed
	case FDBody, ChannelBody:
		return s.reg(b) != nil
	}
	return false
}

// endedRegistration reports whether b is a registration that has ended.
func endedRegistration(s *State, b Body) bool {
	r := s.record(b)
	return b.registers() && r != nil && !r.Refused && s.openReg(b) == nil
}

// mayDrain reports whether the shutdown may request the drain of channel b, which it may do only
// once. The request may come after admission has closed, but must precede the abort.
func mayDrain(s *State, b Body) bool {
	r := s.openReg(b)
	return r != nil && b.Kind == ChannelBody && r.Asked == Ready &&
		s.Drain == DrainChannels && s.Timeout && s.Phase >= ShuttingDown
}

// mayAbort reports whether b is a channel that must end now and whose abort has not begun.
func mayAbort(s *State, b Body) bool {
	r := s.openReg(b)
	return r != nil && b.Kind == ChannelBody && r.Asked != Abort && (r.Lost || s.Phase >= abortsFrom(s))
}

// abortsFrom returns the phase from which on open channels are aborted.
func abortsFrom(s *State) Phase {
	if s.Drain == CloseChannels {
		return ShuttingDown
	}
	return Shutdown
}

// mayCloseFD reports whether b is a plain registration that the loop must end.
func mayCloseFD(s *State, b Body) bool {
	r := s.openReg(b)
	return r != nil && b.Kind == FDBody && (r.Lost || s.Phase >= ShuttingDown)
}

// removedHook reports whether b is a hook that was removed.
func removedHook(s *State, b Body) bool { return b.Kind == HookBody && s.cancelled(b) }

// headOfQueue reports whether no task of b's kind is queued before b.
func headOfQueue(s *State, b Body) bool {
	switch b.Kind {
	case TaskBody:
		return slices.Index(s.Queue, b.ID) <= 0
	case TailBody:
		return slices.Index(s.Tails, b.ID) <= 0
	}
	return true
}

// later reports whether b is a task, tail task or timer that was accepted after the first shutdown
// call. For tasks and tail tasks the answer is exact only if no marked one is queued.
func later(s *State, b Body) bool {
	switch b.Kind {
	case TaskBody:
		return s.Marked == 0
	case TailBody:
		return s.MarkedTail == 0
	case TimerBody:
		t := s.timer(b.ID)
		return t != nil && t.At >= ShuttingDown
	}
	return false
}
