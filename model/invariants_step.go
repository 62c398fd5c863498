package model

import (
	"fmt"
	"slices"
)

// stepInvariant is a sentence about one step: the state before, the action, the state after.
type stepInvariant struct {
	g        string
	sentence string
	check    func(s *State, a *Action, t *State) string
}

var stepInvariants = [...]stepInvariant{
	{"G1", "phases move forward, by the table", func(s *State, a *Action, t *State) string {
		legal := s.Phase == t.Phase || slices.ContainsFunc(moves[:], func(m move) bool {
			return m.from == s.Phase && m.to == t.Phase && m.by.has(a.Kind)
		})
		return when(!legal, "%v -> %v", s.Phase, t.Phase)
	}},
	{"G1", "State returns the phase", func(s *State, a *Action, t *State) string {
		return when(a.Kind == OpState && a.Phase != s.Phase, "%v", s.Phase)
	}},
	{"G2", "a call from the loop is made by the running body, and only the running body ends", func(s *State, a *Action, t *State) string {
		return when(a.From == Loop && s.Running.Kind == NoBody || a.Kind == StepEnd && s.Running != a.Body, "running: %v", s.Running)
	}},
	{"G3", "a refused call changes nothing but the count of refusals", func(s *State, a *Action, t *State) string {
		return when(submissions.has(a.Kind) && a.Outcome.IsRefusal() && !sameWork(s, t), "changed")
	}},
	{"G3", "an accepted body waits after the call, a refused one does not", func(s *State, a *Action, t *State) string {
		r := t.record(a.Body)
		return when(submissions.has(a.Kind) && (r == nil || r.Refused != (a.Outcome.IsRefusal()) || r.Refused == waiting(t, a.Body)), "%v", a)
	}},
	{"G3", "only a cancelled task is dropped", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepDiscard && !s.cancelled(a.Body), "not cancelled")
	}},
	{"G4", "tasks begin in the order they were accepted", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Body.Kind != TaskBody && a.Body.Kind != TailBody {
			return ""
		}
		return s.findBefore(a.Body)
	}},
	{"G5", "after the close nothing is accepted, and before it refusals give the true reason", func(s *State, a *Action, t *State) string {
		if !submissions.has(a.Kind) || a.Kind == OpAddHook && s.Phase >= Shutdown {
			return ""
		}
		dishonest := a.Outcome == Accepted && s.Phase >= Shutdown ||
			a.Outcome == RefusedClosed && s.Phase < Shutdown ||
			a.Outcome == RefusedQueueFull && (!s.full() || s.Phase >= Shutdown || !taskCalls.has(a.Kind)) ||
			a.Outcome == RefusedStartFailed && !s.StartFailed
		return when(dishonest, "in %v", s.Phase)
	}},
	{"G5", "Shutdown has closed admission when it returns", func(s *State, a *Action, t *State) string {
		return when(a.Kind == OpShutdown && t.Phase < Shutdown, "%v", t.Phase)
	}},
	{"G6", "hooks begin in the order they were added", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Body.Kind != HookBody {
			return ""
		}
		return s.findBefore(a.Body)
	}},
	{"G6", "hooks begin after the tasks accepted before the shutdown call", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Body.Kind != HookBody {
			return ""
		}
		return s.find(earlyTaskLeft(s))
	}},
	{"G6", "later work does not delay hooks", func(s *State, a *Action, t *State) string {
		r := s.record(a.Body)
		if a.Kind != StepBegin || a.Body.Kind == HookBody || a.Body.registers() || r == nil || r.At < ShuttingDown || s.find(earlyTaskLeft(s)) != "" {
			return ""
		}
		return s.find(func(h *Record) bool {
			return h.Kind == HookBody && !h.Refused && h.At < ShuttingDown && h.Begun == 0 && !h.Cancelled
		})
	}},
	{"G6", "remove is true if and only if the hook was waiting, so that it never begins", func(s *State, a *Action, t *State) string {
		r := s.record(a.Body)
		pending := r != nil && !r.Refused && !r.Cancelled && r.Begun == 0
		return when(a.Kind == OpRemoveHook && pending != (a.Outcome == True), "pending: %v", pending)
	}},
	{"G6", "after the close only a hook accepted before the close may add hooks", func(s *State, a *Action, t *State) string {
		if a.Kind != OpAddHook || s.Phase < Shutdown {
			return ""
		}
		r := s.record(s.Running)
		may := a.From == Loop && r != nil && r.Kind == HookBody && r.At < Shutdown
		return when(a.Outcome == Accepted && !may || a.Outcome == RefusedClosed && may, "from %v", s.Running)
	}},
	{"G7", "a timer runs only if the policy allows it", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Body.Kind != TimerBody || s.Phase < ShuttingDown {
			return ""
		}
		r := s.record(a.Body)
		late := s.Policy == RunDueTimers && r != nil && r.At >= ShuttingDown
		return when(s.Policy == CancelTimers || late || s.ClosedBy == StepLoopFails || doomed(s, a.Body), "in %v", s.Phase)
	}},
	{"G7", "the timer policy cancels only doomed timers", func(s *State, a *Action, t *State) string {
		if a.Kind != StepTimerDies {
			return ""
		}
		return when(s.Phase < ShuttingDown || !doomed(s, a.Body), "in %v", s.Phase)
	}},
	{"G7", "a periodic timer ends if its body does not return", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepEnd && a.Outcome != Normal && a.Body.Kind == TimerBody && t.timer(a.Body.ID) != nil, "still there")
	}},
	{"G7", "the loop closes admission only when no timer is left that will run", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepLoopCloses && slices.ContainsFunc(s.Timers, func(t Timer) bool { return t.Status != TimerDoomed }), "one is left")
	}},
	{"G8", "a successful Cancel or remove is recorded", func(s *State, a *Action, t *State) string {
		return when(a.Outcome == True && a.Kind != OpReset && !t.cancelled(a.Body), "not cancelled")
	}},
	{"G8", "a cancelled body does not begin", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepBegin && a.Body.Kind != HookBody && s.cancelled(a.Body), "cancelled")
	}},
	{"G8", "Cancel is true only if the body has not begun or is periodic, and false only if it is too late", func(s *State, a *Action, t *State) string {
		if a.Kind != OpCancel {
			return ""
		}
		r := s.record(a.Body)
		live := r != nil && !r.Refused && !r.Cancelled && !r.Ran && (r.Begun == 0 || r.Periodic)
		return when(a.Outcome == True && !live || a.Outcome == False && live && !doomed(s, a.Body), "live: %v", live)
	}},
	{"G8", "Reset answers whether a run of the timer can still be moved", func(s *State, a *Action, t *State) string {
		if a.Kind != OpReset {
			return ""
		}
		r := s.record(a.Body)
		live := r != nil && !r.Refused && !r.Cancelled && !r.Ran && (r.Begun == 0 || r.Periodic)
		decided := s.Phase >= Shutdown || s.Phase == ShuttingDown && s.Policy != RunTimersUntilTimeout || doomed(s, a.Body)
		return when(a.Outcome == True && (!live || decided) || a.Outcome == False && live && s.Phase < ShuttingDown, "live: %v", live)
	}},
	{"G8", "Reset neither ends a timer nor begins one", func(s *State, a *Action, t *State) string {
		return when(a.Kind == OpReset && !sameWork(s, t), "changed")
	}},
	{"G10", "the loop closes admission only when every accepted body other than a timer has ended and the quiet period is over", func(s *State, a *Action, t *State) string {
		if a.Kind != StepLoopCloses {
			return ""
		}
		if s.Quiet && !s.QuietElapsed {
			return "not quiet"
		}
		return s.find(func(r *Record) bool {
			return r.Kind != TimerBody && !r.Refused && !r.Ran && (!r.Cancelled || slices.Contains(s.Queue, r.ID) && r.Kind == TaskBody)
		})
	}},
	{"G10", "a close by the loop moves the phase to Shutdown, and a quiet period that has elapsed does not elapse again", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepLoopCloses && t.Phase != Shutdown || a.Kind == StepQuietElapses && (s.QuietElapsed || !t.QuietElapsed), "%v", t.Phase)
	}},
	{"G11", "the timeout closes admission, and a timeout of 0 closes it at the call", func(s *State, a *Action, t *State) string {
		atOnce := a.Kind == OpShutdownGracefully && !a.Timeout && s.Phase < ShuttingDown
		return when(a.Kind == StepTimeoutFires && (t.Phase != Shutdown || !s.Timeout) || atOnce && t.Phase < Shutdown, "%v", t.Phase)
	}},
	{"G14", "however a body ends, all other work is unchanged", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepEnd && (t.Running.Kind != NoBody || !sameQueues(s, t)), "changed")
	}},
	{"G15", "after done there are only calls", func(s *State, a *Action, t *State) string {
		return when(s.Phase == Terminated && !a.IsCall() || a.Kind == StepDone && t.Phase != Terminated, "%v", t.Phase)
	}},
	{"G15", "a broken loop closes admission and cancels timers", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepLoopFails && (t.Phase < Shutdown || timerToRun(t)), "%v", t.Phase)
	}},
	{"G16", "the parameters of the first shutdown call do not change", func(s *State, a *Action, t *State) string {
		first := s.Phase < ShuttingDown && a.Kind == OpShutdownGracefully && !a.Outcome.IsRefusal()
		quiet, timeout := s.Quiet, s.Timeout
		if first {
			quiet, timeout = a.Quiet, a.Timeout
		}
		return when(t.Quiet != quiet || t.Timeout != timeout, "quiet=%v timeout=%v", t.Quiet, t.Timeout)
	}},
	{"G17", "a failed start accepts no work, and during a shutdown it terminates the executor", func(s *State, a *Action, t *State) string {
		failed := a.Kind == StepStartFail || shutdowns.has(a.Kind) && a.Outcome.IsRefusal()
		ended := s.Phase >= ShuttingDown || a.Kind != StepStartFail
		return when(failed && (!sameWork(s, t) || t.Up || !t.StartFailed || ended != (t.Phase == Terminated)), "%v", t.Phase)
	}},
	{"G17", "the loop is started once, and takes no step before its start", func(s *State, a *Action, t *State) string {
		return when(a.Kind == StepStartOK && (s.Up || !t.Up) || a.Kind != StepStartOK && s.Up != t.Up ||
			(loopSteps.has(a.Kind) || a.Kind == StepLoopFails) && !s.Up, "up: %v", s.Up)
	}},
	{"G17", "ErrStarting is returned only before the start has ended", func(s *State, a *Action, t *State) string {
		return when(a.Outcome == RefusedStarting && (s.Up || s.Phase == Terminated), "in %v", s.Phase)
	}},
}

var registrationInvariants = [...]stepInvariant{
	{"G22", "no body of an ended registration begins", func(s *State, a *Action, t *State) string {
		r := s.record(a.Body)
		return when(a.Kind == StepBegin && a.Body.registers() && (r == nil || r.Refused || r.Closed || r.Ran), "%v", a)
	}},
	{"G22", "the owner is notified once, after the end", func(s *State, a *Action, t *State) string {
		r := s.record(a.Body)
		return when(a.Kind == StepNotified && (r == nil || !r.Closed || r.Ran || !t.record(a.Body).Ran), "%v", a)
	}},
	{"G22", "the loop ends only plain registrations, at a shutdown or because the poller lost them", func(s *State, a *Action, t *State) string {
		r := s.reg(a.Body)
		legal := a.Body.Kind == FDBody && r != nil && !s.record(a.Body).Closed && (s.Phase >= ShuttingDown || r.Lost)
		return when(a.Kind == StepCloseFD && (!legal || !t.record(a.Body).Closed), "in %v", s.Phase)
	}},
	{"G22", "a registration ends only by End or by the loop, and stays ended", func(s *State, a *Action, t *State) string {
		if len(s.Ledger) == 0 || !s.Ledger[len(s.Ledger)-1].registers() {
			return when(a.Kind == OpEnd, "nothing is registered")
		}
		was, is := s.record(a.Body), t.record(a.Body)
		if a.Kind == OpEnd && (was == nil || was.Refused || !is.Closed) {
			return "not closed"
		}
		for i := range s.Ledger {
			r := &s.Ledger[i]
			if now := t.record(r.Body); r.registers() && now.Closed != r.Closed && (r.Closed || r.Body != a.Body || a.Kind != OpEnd && a.Kind != StepCloseFD) {
				return r.Body.String()
			}
		}
		return ""
	}},
	{"G22", "the poller loses only registrations that it watches", func(s *State, a *Action, t *State) string {
		r := s.reg(a.Body)
		known := r != nil && !r.Lost && !s.record(a.Body).Closed
		now := t.reg(a.Body)
		return when(a.Kind == StepLost && (!known || now == nil || !now.Lost), "%v", a)
	}},
	{"G23", "a graceful shutdown with DrainChannels asks a channel to drain once, before it aborts the channel", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Part != Drain {
			return ""
		}
		r := s.record(a.Body)
		legal := r != nil && a.Body.Kind == ChannelBody && r.Drains == 0 && r.Aborts == 0 &&
			s.Phase >= ShuttingDown && s.Timeout && s.Drain == DrainChannels
		return when(!legal || t.record(a.Body).Drains != 1, "in %v", s.Phase)
	}},
	{"G23", "a channel is aborted once, and not while it may drain", func(s *State, a *Action, t *State) string {
		if a.Kind != StepBegin || a.Part != Abort {
			return ""
		}
		r, reg := s.record(a.Body), s.reg(a.Body)
		time := s.Phase >= Shutdown || s.Phase == ShuttingDown && s.Drain == CloseChannels || reg != nil && reg.Lost
		return when(r == nil || a.Body.Kind != ChannelBody || r.Aborts > 0 || !time || t.record(a.Body).Aborts != 1, "in %v", s.Phase)
	}},
	{"G23", "admission and Done are closed by the loop only after every registration has ended and its owner was notified", func(s *State, a *Action, t *State) string {
		if a.Kind != StepLoopCloses && a.Kind != StepDone {
			return ""
		}
		return s.find(func(r *Record) bool { return r.registers() && !r.Refused && !(r.Closed && r.Ran) })
	}},
}

// findBefore returns a text that names an accepted body of b's kind that was submitted before b
// and has neither begun nor been cancelled, or "".
func (s *State) findBefore(b Body) string {
	for i := range s.Ledger {
		r := &s.Ledger[i]
		if r.Body == b {
			return ""
		}
		if r.Kind == b.Kind && !r.Refused && !r.Cancelled && r.Begun == 0 {
			return fmt.Sprintf("%v was accepted first", r.Body)
		}
	}
	return ""
}

// earlyTaskLeft matches tasks that were accepted before the shutdown call and still
// wait, including cancelled ones, which the loop has not yet dropped.
func earlyTaskLeft(s *State) func(*Record) bool {
	return func(r *Record) bool {
		return (r.Kind == TaskBody || r.Kind == TailBody) && !r.Refused && r.At < ShuttingDown && waiting(s, r.Body)
	}
}

// sameQueues reports whether the same tasks, hooks and registrations wait in s and t.
func sameQueues(s, t *State) bool {
	return slices.Equal(s.Queue, t.Queue) && slices.Equal(s.Regs, t.Regs) && slices.Equal(s.Tails, t.Tails) && slices.Equal(s.Hooks, t.Hooks) &&
		s.Marked == t.Marked && s.MarkedTail == t.MarkedTail
}

// sameWork reports whether the same bodies wait and run in s and t.
func sameWork(s, t *State) bool {
	return sameQueues(s, t) && slices.Equal(s.Timers, t.Timers) && s.Running == t.Running && s.Accepted == t.Accepted
}
