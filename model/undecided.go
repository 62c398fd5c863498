package model

// A Simulation whose hidden steps are deferrable keeps a timer undecided, with the status
// timerUnsettled or timerUnplaced, until an action shows whether the timer runs or is doomed.
// One such state stands for a state of each possibility. For each action that depends on
// undecided timers one decision at most permits it, so a state never has to be split.
// TestSimulationIsExact compares this with Next, which makes a state of each possibility.

// undecided reports whether the timer may still run or be doomed.
func (t *Timer) undecided() bool { return t.Status >= timerUnsettled }

// decided returns the status of an undecided timer that runs.
func (t *Timer) decided() TimerStatus {
	if t.Status == timerUnplaced {
		return TimerWaiting
	}
	return TimerDue
}

// undecidedFor reports whether a depends on an undecided timer of s.
func (s *State) undecidedFor(a *Action) bool {
	switch a.Kind {
	case StepLoopCloses, StepDone:
		for i := range s.Timers {
			if s.Timers[i].undecided() {
				return true
			}
		}
	case StepBegin, StepTimerDies, OpCancel, OpReset:
		if a.Body.Kind == TimerBody {
			t := s.timer(a.Body.ID)
			return t != nil && t.undecided()
		}
	}
	return false
}

// decide decides about the undecided timers of s that a depends on, so that a is allowed if
// any decision permits it.
func (s *State) decide(a *Action) {
	switch {
	case a.Kind == StepLoopCloses || a.Kind == StepDone: // neither is allowed while a timer will run
		for i := range s.Timers {
			if t := &s.Timers[i]; t.undecided() {
				t.Status = TimerDoomed
			}
		}
	case a.Kind == StepBegin || a.Kind == OpReset && a.Outcome == True:
		t := s.timer(a.Body.ID)
		t.Status = t.decided()
	case a.Kind == StepTimerDies || a.Kind == OpCancel && a.Outcome == False:
		s.timer(a.Body.ID).Status = TimerDoomed
	} // other answers are the same for both, and so is their effect
}

// ready returns a state that allows the action that is followed: s itself, or a copy of s after
// the decisions and as few hidden steps as it takes. It returns nil if there is none.
func (sim *Simulation) ready(s *State) *State {
	a := &sim.action
	undecided := s.undecidedFor(a)
	if !undecided {
		if standard.refusedBy(s, a) < 0 {
			return s
		}
		if h := sim.helpful(s); h.Kind == 0 {
			return nil
		}
	}
	c := s.clone()
	if undecided {
		c.decide(a)
	}
	for standard.refusedBy(&c, a) >= 0 {
		h := sim.helpful(&c)
		if h.Kind == 0 {
			return nil
		}
		standard.effects[h.Kind](&c, &h)
	}
	return &c
}

// helpful returns a hidden step that s allows and that may make the action possible; the zero
// Action if there is none. The order of several does not matter. The drop of a cancelled task
// makes room and lets the next task begin, a quiet period must elapse before the loop closes
// admission, and timers must end before Done.
func (sim *Simulation) helpful(s *State) Action {
	var h Action
	if sim.hidden.has(StepDiscard) && len(s.Queue) > 0 {
		h = Action{Kind: StepDiscard, Body: Task(s.Queue[0])}
		if standard.refusedBy(s, &h) < 0 {
			return h
		}
	}
	switch sim.action.Kind {
	case StepLoopCloses:
		h = Action{Kind: StepQuietElapses}
	case StepDone:
		h = Action{Kind: StepTimerDies, Body: s.firstDoomed()}
	default:
		return Action{}
	}
	if !sim.hidden.has(h.Kind) || standard.refusedBy(s, &h) >= 0 {
		return Action{}
	}
	return h
}

// firstDoomed returns the first doomed timer, or no body.
func (s *State) firstDoomed() Body {
	for i := range s.Timers {
		if s.Timers[i].Status == TimerDoomed {
			return TimerNo(s.Timers[i].ID)
		}
	}
	return Body{}
}
