package model

// Enabled returns the actions that can happen in s within b. It does not change s and
// is safe for concurrent use.
func Enabled(s State, b Bounds) []Action { return standard.enabled(&s, &b, nil) }

// enabled appends the enabled actions to buf.
func (m *machine) enabled(s *State, b *Bounds, buf []Action) []Action {
	all := candidates(s, b, buf)
	kept := all[:len(buf)]
	for _, a := range all[len(buf):] {
		if m.allows(s, a) {
			kept = append(kept, a)
		}
	}
	return kept
}

// candidates appends every action within b, allowed or not. It must not depend on the
// rules: otherwise the explorer could not find a rule that is missing.
func candidates(s *State, b *Bounds, to []Action) []Action {
	to = callers(to, b, candidateCalls(s, b))
	for _, k := range [...]Op{TaskBody, TailBody, TimerBody, HookBody, FDBody, ChannelBody} {
		for _, body := range known(s, b, k) {
			to = append(to, Action{Kind: StepBegin, Body: body}, Action{Kind: StepEnd, Body: body, Outcome: Normal})
			if b.Panics {
				to = append(to, Action{Kind: StepEnd, Body: body, Outcome: Panicked}, Action{Kind: StepEnd, Body: body, Outcome: Exited})
			}
			if k == TaskBody && b.Cancel {
				to = append(to, Action{Kind: StepDiscard, Body: body})
			}
			if k == TimerBody {
				to = append(to, Action{Kind: StepTimerDies, Body: body})
			}
			to = registrationSteps(to, b, body)
		}
	}
	to = append(to, Action{Kind: StepStartOK}, Action{Kind: StepQuietElapses}, Action{Kind: StepTimeoutFires},
		Action{Kind: StepLoopCloses}, Action{Kind: StepDone})
	if b.StartFailures {
		to = append(to, Action{Kind: StepStartFail})
	}
	if b.LoopFailure {
		to = append(to, Action{Kind: StepLoopFails})
	}
	return to
}

// registrationSteps appends the steps of the loop and the poller that concern a registration.
func registrationSteps(to []Action, b *Bounds, body Body) []Action {
	if !body.registers() {
		return to
	}
	to = append(to, Action{Kind: StepNotified, Body: body}, Action{Kind: StepCloseFD, Body: body},
		Action{Kind: StepBegin, Body: body, Part: Drain}, Action{Kind: StepBegin, Body: body, Part: Abort})
	if b.Lost {
		to = append(to, Action{Kind: StepLost, Body: body})
	}
	return to
}

// callers appends the calls as made from outside and, if b allows it, inside a body.
func callers(to []Action, b *Bounds, calls []Action) []Action {
	to = append(to, calls...)
	if b.InBody {
		for _, a := range calls {
			a.From = Loop
			to = append(to, a)
		}
	}
	return to
}

func candidateCalls(s *State, b *Bounds) []Action {
	to := make([]Action, 0, 48)
	for _, body := range known(s, b, TaskBody) {
		to = answers(to, b, Action{Kind: OpExecute, Body: body})
		if b.Lazy {
			to = answers(to, b, Action{Kind: OpExecuteLazy, Body: body})
		}
		to = cancels(to, b, OpCancel, body)
	}
	for _, body := range known(s, b, TailBody) {
		to = answers(to, b, Action{Kind: OpAfterIteration, Body: body})
	}
	for _, body := range known(s, b, TimerBody) {
		to = answers(to, b, Action{Kind: OpSchedule, Body: body, Periodic: body.ID > b.Timers})
		to = cancels(to, b, OpCancel, body)
		to = cancels(to, b, OpReset, body)
	}
	for _, body := range known(s, b, HookBody) {
		to = answers(to, b, Action{Kind: OpAddHook, Body: body})
		to = cancels(to, b, OpRemoveHook, body)
	}
	for _, k := range [...]Op{FDBody, ChannelBody} {
		for _, body := range known(s, b, k) {
			to = answers(to, b, Action{Kind: OpRegister, Body: body})
			to = append(to, Action{Kind: OpEnd, Body: body})
		}
	}
	return shutdownCalls(to, b)
}

func shutdownCalls(to []Action, b *Bounds) []Action {
	first := len(to)
	if b.Graceful {
		to = append(to, Action{Kind: OpShutdownGracefully})
		if b.Timeout {
			to = append(to, Action{Kind: OpShutdownGracefully, Timeout: true})
		}
		if b.Quiet {
			to = append(to, Action{Kind: OpShutdownGracefully, Quiet: true, Timeout: true},
				Action{Kind: OpShutdownGracefully, Quiet: true})
		}
	}
	if b.Shutdown {
		to = append(to, Action{Kind: OpShutdown})
	}
	if b.StartFailures {
		for _, a := range to[first:] {
			a.Outcome = RefusedStartFailed
			to = append(to, a)
		}
	}
	if b.Observe {
		for p := NotStarted; p <= Terminated; p++ {
			to = append(to, Action{Kind: OpState, Phase: p})
		}
	}
	return to
}

// known returns the submitted bodies of kind k, and the next body if b allows one more.
// Numbers are assigned in order.
func known(s *State, b *Bounds, k Op) []Body {
	to := make([]Body, 0, 8)
	next := 1
	for i := range s.Ledger {
		if r := &s.Ledger[i]; r.Kind == k {
			to = append(to, r.Body)
			next = max(next, r.ID+1)
		}
	}
	if len(to) < b.most(k) {
		to = append(to, Body{k, next})
	}
	return to
}

// answers appends a submission with each possible answer.
func answers(to []Action, b *Bounds, a Action) []Action {
	a.Outcome = Accepted
	to = append(to, a)
	a.Outcome = RefusedClosed
	to = append(to, a)
	if b.Limit > 0 {
		a.Outcome = RefusedQueueFull
		to = append(to, a)
	}
	if b.StartFailures {
		a.Outcome = RefusedStartFailed
		to = append(to, a)
		a.Outcome = RefusedStarting
		to = append(to, a)
	}
	return to
}

func cancels(to []Action, b *Bounds, k Op, body Body) []Action {
	if b.Cancel {
		to = append(to, Action{Kind: k, Body: body, Outcome: True}, Action{Kind: k, Body: body, Outcome: False})
	}
	return to
}
