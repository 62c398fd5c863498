package model

// Enabled returns the actions that can happen in s within b. It does not change s and
// is safe for concurrent use.
func Enabled(s State, b Bounds) []Action { return standard.enabled(&s, &b, nil) }

// enabled appends to buf.
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
			to = append(to, Action{Kind: KindBegin, Body: body}, Action{Kind: KindEnd, Body: body, Outcome: Normal})
			if b.Panics {
				to = append(to, Action{Kind: KindEnd, Body: body, Outcome: Panicked}, Action{Kind: KindEnd, Body: body, Outcome: Exited})
			}
			if k == TaskBody && b.Cancel {
				to = append(to, Action{Kind: KindDiscard, Body: body})
			}
			if k == TimerBody {
				to = append(to, Action{Kind: KindTimerDies, Body: body})
			}
			to = registrationSteps(to, b, body)
		}
	}
	to = append(to, Action{Kind: KindStartOK}, Action{Kind: KindQuietElapses}, Action{Kind: KindTimeoutFires},
		Action{Kind: KindLoopCloses}, Action{Kind: KindDone})
	if b.StartFailures {
		to = append(to, Action{Kind: KindStartFail})
	}
	if b.LoopFailure {
		to = append(to, Action{Kind: KindLoopFails})
	}
	return to
}

// registrationSteps appends the steps of the loop and the poller that concern a registration.
func registrationSteps(to []Action, b *Bounds, body Body) []Action {
	if !body.registers() {
		return to
	}
	to = append(to, Action{Kind: KindNotified, Body: body}, Action{Kind: KindCloseFD, Body: body},
		Action{Kind: KindBegin, Body: body, Part: Drain}, Action{Kind: KindBegin, Body: body, Part: Abort})
	if b.Lost {
		to = append(to, Action{Kind: KindLost, Body: body})
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
		to = answers(to, b, Action{Kind: KindSubmit, Body: body})
		if b.Lazy {
			to = answers(to, b, Action{Kind: KindSubmitLazy, Body: body})
		}
		to = cancels(to, b, KindCancel, body)
	}
	for _, body := range known(s, b, TailBody) {
		to = answers(to, b, Action{Kind: KindSubmitTail, Body: body})
	}
	for _, body := range known(s, b, TimerBody) {
		to = answers(to, b, Action{Kind: KindSchedule, Body: body, Periodic: body.ID > b.Timers})
		to = cancels(to, b, KindCancel, body)
	}
	for _, body := range known(s, b, HookBody) {
		to = answers(to, b, Action{Kind: KindAddHook, Body: body})
		to = cancels(to, b, KindRemoveHook, body)
	}
	for _, k := range [...]Op{FDBody, ChannelBody} {
		for _, body := range known(s, b, k) {
			to = answers(to, b, Action{Kind: KindRegister, Body: body})
			to = append(to, Action{Kind: KindUnregister, Body: body})
		}
	}
	return shutdownCalls(to, b)
}

func shutdownCalls(to []Action, b *Bounds) []Action {
	first := len(to)
	if b.Graceful {
		to = append(to, Action{Kind: KindShutdownGracefully})
		if b.Timeout {
			to = append(to, Action{Kind: KindShutdownGracefully, Timeout: true})
		}
		if b.Quiet {
			to = append(to, Action{Kind: KindShutdownGracefully, Quiet: true, Timeout: true},
				Action{Kind: KindShutdownGracefully, Quiet: true})
		}
	}
	if b.Shutdown {
		to = append(to, Action{Kind: KindShutdown})
	}
	if b.StartFailures {
		for _, a := range to[first:] {
			a.Outcome = RefusedStartFailed
			to = append(to, a)
		}
	}
	if b.Observe {
		for p := NotStarted; p <= Terminated; p++ {
			to = append(to, Action{Kind: KindObserve, Phase: p})
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

func cancels(to []Action, b *Bounds, k ActionKind, body Body) []Action {
	if b.Cancel {
		to = append(to, Action{Kind: k, Body: body, Outcome: True}, Action{Kind: k, Body: body, Outcome: False})
	}
	return to
}
