package model

// The tempting wrong versions, by hand. R and B numbers are those of Netty's
// rules and bugs that they repeat.

// also makes a rule refuse more.
func also(name string, holds func(*State, *Action) bool) func(*machine) {
	return func(m *machine) {
		r := ruleOf(m, name)
		old := r.holds
		r.holds = func(s *State, a *Action) bool { return old(s, a) && holds(s, a) }
	}
}

// orElse makes a rule refuse less.
func orElse(name string, holds func(*State, *Action) bool) func(*machine) {
	return func(m *machine) {
		r := ruleOf(m, name)
		old := r.holds
		r.holds = func(s *State, a *Action) bool { return old(s, a) || holds(s, a) }
	}
}

var ruleMutants = []mutant{
	{"closed means closed", "refuses while shutting down (B34, #760)", also("closed means closed", func(s *State, a *Action) bool {
		return a.Outcome != Accepted || s.Phase < ShuttingDown
	})},
	{"closed means closed", "accepts until terminated (B14, #1307)", orElse("closed means closed", func(s *State, a *Action) bool {
		return s.Phase < Terminated
	})},
	{"closed means closed", "the loop may still schedule (R73)", orElse("closed means closed", func(s *State, a *Action) bool {
		return a.From == Loop && a.Kind == OpSchedule
	})},
	{"hook chain ends", "any hook may add hooks (R119)", orElse("hook chain ends", func(s *State, a *Action) bool {
		return s.Phase == Shutdown && s.Running.Kind == HookBody
	})},
	{"room in the queue", "one too many", orElse("room in the queue", func(s *State, a *Action) bool {
		return s.queued() == s.Limit
	})},
	{"hooks in a shutdown", "hooks wait for an empty queue (R120)", also("hooks in a shutdown", func(s *State, a *Action) bool {
		return a.Body.Kind != HookBody || s.queued() == 0
	})},
	{"hooks in a shutdown", "only after the close", also("hooks in a shutdown", func(s *State, a *Action) bool {
		return a.Body.Kind != HookBody || s.Phase >= Shutdown
	})},
	{"hooks after marked tasks", "tail tasks are forgotten (R39)", orElse("hooks after marked tasks", func(s *State, a *Action) bool {
		return s.Marked == 0
	})},
	{"timeout of a shutdown", "waits for the body (R117)", also("timeout of a shutdown", func(s *State, a *Action) bool {
		return s.Running.Kind == NoBody
	})},
	{"close when drained", "hooks are forgotten", orElse("close when drained", func(s *State, a *Action) bool {
		return s.queued() == 0 && s.Running.Kind == NoBody
	})},
	{"close when drained", "the running body is forgotten", orElse("close when drained", func(s *State, a *Action) bool {
		return s.queued() == 0 && len(s.Hooks) == 0
	})},
	{"quiet needs idleness", "elapses while a body runs", orElse("quiet needs idleness", func(s *State, a *Action) bool {
		return s.Phase == ShuttingDown && s.Quiet && !s.QuietElapsed
	})},
	{"cancel true", "also while it runs", orElse("cancel true", func(s *State, a *Action) bool { return s.Running == a.Body })},
	{"first in, first out", "last in, first out", func(m *machine) {
		ruleOf(m, "first in, first out").holds = func(s *State, a *Action) bool {
			return a.Body.Kind != TaskBody || len(s.Queue) == 0 || s.Queue[len(s.Queue)-1] == a.Body.ID
		}
	}},
	{"one start", "only a fresh executor starts (R12)", also("one start", func(s *State, a *Action) bool {
		return s.Phase == NotStarted
	})},
	{"done after tasks", "tail tasks are forgotten (R39)", orElse("done after tasks", func(s *State, a *Action) bool {
		return len(s.Queue) == 0
	})},
	{"done after timers", "doomed timers never end (R83)", orElse("done after timers", func(s *State, a *Action) bool {
		return !timerToRun(s)
	})},
}

// before runs a function in front of an effect, after behind it.
func before(k Op, f func(*State, *Action)) func(*machine) {
	return func(m *machine) {
		old := m.effects[k]
		m.effects[k] = func(s *State, a *Action) { f(s, a); old(s, a) }
	}
}

func after(k Op, f func(*State, *Action)) func(*machine) {
	return func(m *machine) {
		old := m.effects[k]
		m.effects[k] = func(s *State, a *Action) { old(s, a); f(s, a) }
	}
}

func loseQueue(s *State, _ *Action) { s.Queue, s.Marked = nil, 0 }

var effectMutants = []mutant{
	{"submit", "a refused task stays queued (R11)", after(OpExecute, func(s *State, a *Action) {
		if a.Outcome.IsRefusal() {
			s.Queue = append(s.Queue, a.Body.ID)
		}
	})},
	{"submit", "not counted", after(OpExecute, func(s *State, a *Action) { s.Accepted = 0 })},
	{"submitTail", "not queued (R39)", after(OpAfterIteration, func(s *State, a *Action) { s.Tails = nil })},
	{"schedule", "the policy forgets late timers", after(OpSchedule, func(s *State, a *Action) {
		if t := s.timer(a.Body.ID); t != nil {
			t.Status = TimerWaiting
		}
	})},
	{"cancel", "counted at the call and by the loop", after(OpCancel, func(s *State, a *Action) {
		if a.Outcome == True && a.Body.Kind == TaskBody {
			s.Cancelled++
		}
	})},
	{"cancel", "dropped without being counted", after(OpCancel, func(s *State, a *Action) {
		if a.Outcome == True && a.Body.Kind == TaskBody {
			s.Queue, s.Marked = dequeue(s.Queue, a.Body.ID, s.Marked)
		}
	})},
	{"cancel", "a periodic timer goes on", after(OpCancel, func(s *State, a *Action) {
		if t := s.timer(a.Body.ID); t != nil && t.Status == TimerLastRun {
			t.Status = TimerRunning
		}
	})},
	{"reset", "ends a timer whose new deadline a shutdown would not reach", after(OpReset, func(s *State, a *Action) {
		if a.Outcome == False && s.Phase == ShuttingDown {
			endTimer(s, a.Body, true)
		}
	})},
	{"reset", "starts an ended timer again, as time.Timer does", after(OpReset, func(s *State, a *Action) {
		if a.Outcome == False && s.timer(a.Body.ID) == nil {
			s.Timers = append(s.Timers, Timer{ID: a.Body.ID, At: s.Phase})
		}
	})},
	{"removeHook", "the hook stays", func(m *machine) {
		m.effects[OpRemoveHook] = func(s *State, a *Action) {
			if a.Outcome == True {
				s.entry(a.Body).Cancelled = true
			}
		}
	}},
	{"removeHook", "removes another (R25)", before(OpRemoveHook, func(s *State, a *Action) {
		if a.Outcome == True {
			s.Hooks = nil
		}
	})},
	{"state", "observing starts the loop", func(m *machine) { m.effects[OpState] = startOK }},
	{"shutdownGracefully", "a later call overwrites (R105)", after(OpShutdownGracefully, func(s *State, a *Action) {
		s.Quiet, s.Timeout = a.Quiet, a.Timeout
	})},
	{"shutdownGracefully", "nothing is marked", after(OpShutdownGracefully, func(s *State, a *Action) { s.Marked, s.MarkedTail = 0, 0 })},
	{"shutdownGracefully", "a later call marks again", after(OpShutdownGracefully, func(s *State, a *Action) { mark(s) })},
	{"shutdownGracefully", "a timeout of 0 waits", func(m *machine) {
		m.effects[OpShutdownGracefully] = func(s *State, a *Action) {
			if s.Phase < ShuttingDown && !a.Outcome.IsRefusal() {
				s.Quiet, s.Timeout = a.Quiet, a.Timeout
				mark(s)
				s.moveTo(ShuttingDown, a.Kind)
			}
		}
	}},
	{"shutdown", "ignored while shutting down (R101)", func(m *machine) {
		m.effects[OpShutdown] = func(s *State, a *Action) {
			if s.Phase < ShuttingDown {
				shutdown(s, a)
			}
		}
	}},
	{"shutdown", "loses the queue (B7, #9603)", after(OpShutdown, loseQueue)},
	{"timeoutFires", "loses the queue (B7, #9603)", after(StepTimeoutFires, loseQueue)},
	{"timeoutFires", "loses the hooks (R120)", after(StepTimeoutFires, func(s *State, _ *Action) { s.Hooks = nil })},
	{"timeoutFires", "timers keep waiting", func(m *machine) {
		m.effects[StepTimeoutFires] = func(s *State, a *Action) { s.QuietElapsed = false; s.moveTo(Shutdown, a.Kind) }
	}},
	{"startOK", "takes back the shutdown", func(m *machine) {
		m.effects[StepStartOK] = func(s *State, a *Action) { s.Up = true; s.Phase = Started }
	}},
	{"startFail", "the loop counts as started (B1, #7483)", after(StepStartFail, func(s *State, _ *Action) { s.Up = true })},
	{"startFail", "a shutdown waits for ever (R14)", func(m *machine) {
		m.effects[StepStartFail] = func(s *State, _ *Action) { s.StartFailed = true }
	}},
	{"loopFails", "timers are left to a dead poller", after(StepLoopFails, func(s *State, _ *Action) {
		for i := range s.Timers {
			s.Timers[i].Status = TimerWaiting
		}
	})},
	{"begin", "does not restart the quiet period", func(m *machine) {
		m.effects[StepBegin] = func(s *State, a *Action) { q := s.QuietElapsed; begin(s, a); s.QuietElapsed = q }
	}},
	{"begin", "the task stays queued", after(StepBegin, func(s *State, a *Action) {
		if a.Body.Kind == TaskBody {
			s.Queue = append([]int{a.Body.ID}, s.Queue...)
		}
	})},
	{"begin", "marks are not taken off", func(m *machine) {
		m.effects[StepBegin] = func(s *State, a *Action) {
			n := s.Marked
			begin(s, a)
			s.Marked = n
		}
	}},
	{"begin", "hooks after the close may add hooks (R119)", after(StepBegin, func(s *State, _ *Action) { s.LastHook = false })},
	{"end", "a panic loses the rest of the batch (B13, #16102)", after(StepEnd, func(s *State, a *Action) {
		if a.Outcome == Panicked {
			loseQueue(s, a)
		}
	})},
	{"end", "a panicking hook stops the others (G6)", after(StepEnd, func(s *State, a *Action) {
		if a.Outcome == Panicked && a.Body.Kind == HookBody {
			s.Hooks = nil
		}
	})},
	{"end", "a body that panicked is not counted", after(StepEnd, func(s *State, a *Action) {
		if a.Outcome == Panicked && a.Body.Kind == TaskBody {
			s.Ran--
		}
	})},
	{"end", "a periodic timer that panicked goes on", func(m *machine) {
		m.effects[StepEnd] = func(s *State, a *Action) {
			b := *a
			if b.Body.Kind == TimerBody {
				b.Outcome = Normal
			}
			end(s, &b)
		}
	}},
	{"end", "after Goexit the loop is gone", after(StepEnd, func(s *State, a *Action) { s.Up = a.Outcome != Exited })},
	{"discard", "not counted", after(StepDiscard, func(s *State, _ *Action) { s.Cancelled-- })},
	{"discard", "the mark stays", func(m *machine) {
		m.effects[StepDiscard] = func(s *State, a *Action) {
			n := s.Marked
			discard(s, a)
			s.Marked = n
		}
	}},
	{"timerDies", "its future never ends (R83)", func(m *machine) {
		m.effects[StepTimerDies] = func(s *State, a *Action) { s.Timers = nil }
	}},
	{"loopCloses", "loses late submissions", after(StepLoopCloses, func(s *State, _ *Action) { s.Timers = nil })},
}
