package model

// canInvariant is a sentence about what must be possible in a state. Without such
// sentences a model that refuses every action would be correct.
type canInvariant struct {
	g        string
	sentence string
	// must appends actions that must be allowed in s.
	must func(s *State, to []Action) []Action
}

var canInvariants = [...]canInvariant{
	{"G3", "when no body runs, waiting work can begin", func(s *State, to []Action) []Action {
		if !s.Up || s.Running.Kind != NoBody || s.Phase >= ShuttingDown && len(s.Hooks) > 0 {
			return to
		}
		if len(s.Queue) > 0 && !s.cancelled(Task(s.Queue[0])) {
			to = append(to, Action{Kind: StepBegin, Body: Task(s.Queue[0])})
		}
		if len(s.Tails) > 0 {
			to = append(to, Action{Kind: StepBegin, Body: Tail(s.Tails[0])})
		}
		for _, t := range s.Timers {
			if t.Status <= TimerDue {
				to = append(to, Action{Kind: StepBegin, Body: TimerNo(t.ID)})
			}
		}
		return to
	}},
	{"G3", "a cancelled task at the head of the queue can be dropped", func(s *State, to []Action) []Action {
		if s.Up && len(s.Queue) > 0 && s.cancelled(Task(s.Queue[0])) {
			to = append(to, Action{Kind: StepDiscard, Body: Task(s.Queue[0])})
		}
		return to
	}},
	{"G5", "an open executor can accept, and a closed one can refuse", func(s *State, to []Action) []Action {
		accept := s.Up && s.Phase < Shutdown
		for _, a := range s.freshCalls() {
			switch {
			case taskCalls.has(a.Kind) && accept && s.full():
				a.Outcome = RefusedQueueFull
			case accept:
				a.Outcome = Accepted
			case s.Phase >= Shutdown && (a.Kind != OpAddHook || s.Running.Kind != HookBody):
				a.Outcome = RefusedClosed
			case s.StartFailed:
				a.Outcome = RefusedStartFailed
			default:
				continue
			}
			to = append(to, a)
		}
		return to
	}},
	{"G6", "once the marked tasks have run, the first hook can begin", func(s *State, to []Action) []Action {
		if s.Up && s.Phase >= ShuttingDown && s.Running.Kind == NoBody && len(s.Hooks) > 0 && s.find(earlyTaskLeft(s)) == "" {
			to = append(to, Action{Kind: StepBegin, Body: HookNo(s.Hooks[0].ID)})
		}
		return to
	}},
	{"G6", "a running hook accepted before the close can add a hook", func(s *State, to []Action) []Action {
		if r := s.record(s.Running); r != nil && r.Kind == HookBody && r.At < Shutdown {
			to = append(to, Action{Kind: OpAddHook, From: Loop, Body: HookNo(s.freshID()), Outcome: Accepted})
		}
		return to
	}},
	{"G8", "a task, timer or hook that has not begun can be cancelled or removed", func(s *State, to []Action) []Action {
		for i := range s.Ledger {
			if r := &s.Ledger[i]; !r.Refused && r.Begun == 0 && !r.Cancelled {
				switch r.Kind {
				case TaskBody, TimerBody:
					to = append(to, Action{Kind: OpCancel, Body: r.Body, Outcome: True})
				case HookBody:
					to = append(to, Action{Kind: OpRemoveHook, Body: r.Body, Outcome: True})
				}
			}
		}
		return to
	}},
	{"G8", "before a shutdown a timer that has not begun can be moved", func(s *State, to []Action) []Action {
		for i := range s.Ledger {
			if r := &s.Ledger[i]; r.Kind == TimerBody && !r.Refused && r.Begun == 0 && !r.Cancelled && s.Phase < ShuttingDown {
				to = append(to, Action{Kind: OpReset, Body: r.Body, Outcome: True})
			}
		}
		return to
	}},
	{"G10", "once the executor is drained and the quiet period is over, the loop can close admission", func(s *State, to []Action) []Action {
		idle := s.queued() == 0 && len(s.Hooks) == 0 && s.Running.Kind == NoBody && !timerToRun(s) && len(s.Regs) == 0
		if s.Up && s.Phase == ShuttingDown && idle && (s.QuietElapsed || !s.Quiet) {
			to = append(to, Action{Kind: StepLoopCloses})
		}
		return to
	}},
	{"G10", "the quiet period can elapse while no body runs that restarts it", func(s *State, to []Action) []Action {
		if s.Phase == ShuttingDown && s.Quiet && !s.QuietElapsed && !s.restarts() {
			to = append(to, Action{Kind: StepQuietElapses})
		}
		return to
	}},
	{"G11", "the timeout can fire at any moment of a shutdown, even while a body runs", func(s *State, to []Action) []Action {
		if s.Phase == ShuttingDown && s.Timeout {
			to = append(to, Action{Kind: StepTimeoutFires})
		}
		return to
	}},
	{"G14", "a running body can end in any way", func(s *State, to []Action) []Action {
		if s.Running.Kind != NoBody {
			for _, how := range [...]Outcome{Normal, Panicked, Exited} {
				to = append(to, Action{Kind: StepEnd, Body: s.Running, Outcome: how})
			}
		}
		return to
	}},
	{"G15", "when admission has closed and nothing is left, Done can be closed", func(s *State, to []Action) []Action {
		if s.Up && s.Phase == Shutdown && s.queued() == 0 && len(s.Hooks) == 0 && s.Running.Kind == NoBody && len(s.Timers) == 0 && len(s.Regs) == 0 {
			to = append(to, Action{Kind: StepDone})
		}
		return to
	}},
	{"G16", "a shutdown call is legal at any moment", func(s *State, to []Action) []Action {
		return append(to, Action{Kind: OpShutdown}, Action{Kind: OpShutdownGracefully},
			Action{Kind: OpShutdownGracefully, Quiet: true, Timeout: true})
	}},
	{"G17", "until it has terminated, an executor without a loop can start", func(s *State, to []Action) []Action {
		if !s.Up && s.Phase < Terminated {
			to = append(to, Action{Kind: StepStartOK}, Action{Kind: StepStartFail})
		}
		return to
	}},
	{"G22", "an open registration can be closed or lost at any moment, and its handler can begin if no body runs", func(s *State, to []Action) []Action {
		for i := range s.Ledger {
			r := &s.Ledger[i]
			if !r.registers() || r.Refused {
				continue
			}
			to = append(to, Action{Kind: OpEnd, Body: r.Body})
			if !r.Closed && s.Running.Kind == NoBody {
				to = append(to, Action{Kind: StepBegin, Body: r.Body})
			}
			if reg := s.reg(r.Body); reg != nil && !r.Closed && !reg.Lost {
				to = append(to, Action{Kind: StepLost, Body: r.Body})
			}
		}
		return to
	}},
	{"G22", "a shutdown can end each plain registration, and the owner of an ended registration can be notified", func(s *State, to []Action) []Action {
		for i := range s.Ledger {
			r := &s.Ledger[i]
			switch {
			case !r.registers() || r.Refused || s.Running.Kind != NoBody:
			case r.Closed && !r.Ran:
				to = append(to, Action{Kind: StepNotified, Body: r.Body})
			case !r.Closed && s.Phase >= ShuttingDown && r.Kind == FDBody:
				to = append(to, Action{Kind: StepCloseFD, Body: r.Body})
			}
		}
		return to
	}},
	{"G23", "a graceful shutdown can drain channels, and after admission has closed it can abort the remaining ones", func(s *State, to []Action) []Action {
		for i := range s.Ledger {
			r := &s.Ledger[i]
			switch drains := s.Drain == DrainChannels; {
			case r.Kind != ChannelBody || r.Refused || r.Closed || s.Running.Kind != NoBody:
			case s.Phase == ShuttingDown && drains && r.Drains == 0 && r.Aborts == 0:
				to = append(to, Action{Kind: StepBegin, Body: r.Body, Part: Drain})
			case (s.Phase >= Shutdown || s.Phase == ShuttingDown && !drains) && r.Aborts == 0:
				to = append(to, Action{Kind: StepBegin, Body: r.Body, Part: Abort})
			}
		}
		return to
	}},
	{"G18", "Execute, Shutdown and State are legal from a body", func(s *State, to []Action) []Action {
		if s.Running.Kind == NoBody {
			return to
		}
		a := Action{Kind: OpExecute, From: Loop, Body: Task(s.freshID()), Outcome: Accepted}
		switch {
		case s.Phase >= Shutdown:
			a.Outcome = RefusedClosed
		case s.full():
			a.Outcome = RefusedQueueFull
		}
		return append(to, a, Action{Kind: OpShutdown, From: Loop}, Action{Kind: OpState, From: Loop, Phase: s.Phase})
	}},
}

// freshID returns a number that no body has.
func (s *State) freshID() int {
	id := 1
	for i := range s.Ledger {
		id = max(id, s.Ledger[i].ID+1)
	}
	return id
}

// freshCalls returns one submission of each kind, without an answer.
func (s *State) freshCalls() [6]Action {
	id := s.freshID()
	return [...]Action{
		{Kind: OpExecute, Body: Task(id)},
		{Kind: OpAfterIteration, Body: Tail(id)},
		{Kind: OpSchedule, Body: TimerNo(id)},
		{Kind: OpAddHook, Body: HookNo(id)},
		{Kind: OpRegister, Body: FD(id)},
		{Kind: OpRegister, Body: Channel(id)},
	}
}
