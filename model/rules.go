package model

// rule is one condition on actions. An action is allowed if every rule that covers its
// kind holds. The first rule that does not hold is the reason of the refusal, so the
// more specific rule comes first in the table.
type rule struct {
	name     string
	g        string // the guarantee it expresses
	on       kindSet
	sentence string
	holds    func(s *State, a *Action) bool
}

var rules = [...]rule{
	// The actor of an action must exist.
	{"nothing after done", "G15", loopSteps | failures | kinds(StepStartOK, StepQuietElapses, StepTimeoutFires),
		"nothing happens after Done is closed",
		func(s *State, a *Action) bool { return s.Phase < Terminated }},
	{"one start", "G17", kinds(StepStartOK, StepStartFail),
		"a loop is started once",
		func(s *State, a *Action) bool { return !s.Up }},
	{"loop exists", "G17", loopSteps | kinds(StepLoopFails, StepLost),
		"the loop takes no step before it exists",
		func(s *State, a *Action) bool { return s.Up }},
	{"loop calls from a body", "G2", calls,
		"a call from the loop is made by the running body",
		func(s *State, a *Action) bool { return a.From == Outside || s.Running.Kind != NoBody }},
	{"state is the phase", "G1", kinds(OpState),
		"State returns the phase",
		func(s *State, a *Action) bool { return a.Phase == s.Phase }},

	// Admission.
	{"one number, one submission", "G3", submissions,
		"a body is submitted once",
		func(s *State, a *Action) bool { return s.record(a.Body) == nil }},
	{"closed means closed", "G5", submissions &^ kinds(OpAddHook),
		"after admission has closed nothing is accepted",
		func(s *State, a *Action) bool { return a.Outcome != Accepted || s.Phase < Shutdown }},
	{"hook chain ends", "G6", kinds(OpAddHook),
		"after admission has closed only a hook accepted before may add a hook",
		func(s *State, a *Action) bool {
			return a.Outcome != Accepted || s.Phase < Shutdown || mayAddLastHook(s, a)
		}},
	{"accepted by a loop", "G17", submissions,
		"nothing is accepted before the loop exists",
		func(s *State, a *Action) bool { return a.Outcome != Accepted || s.Up }},
	{"room in the queue", "G19", taskCalls,
		"a full queue accepts nothing",
		func(s *State, a *Action) bool { return a.Outcome != Accepted || !s.full() }},
	{"refused as closed", "G5", submissions,
		"before admission has closed no call is refused as closed",
		func(s *State, a *Action) bool { return a.Outcome != RefusedClosed || s.Phase >= Shutdown }},
	{"hook may add a hook", "G6", kinds(OpAddHook),
		"a hook accepted before admission has closed may add hooks afterwards",
		func(s *State, a *Action) bool { return a.Outcome != RefusedClosed || !mayAddLastHook(s, a) }},
	{"refused as full", "G5", submissions,
		"only a task is refused as full, and only while the queue is open and full",
		func(s *State, a *Action) bool {
			return a.Outcome != RefusedQueueFull || taskCalls.has(a.Kind) && s.Phase < Shutdown && s.full()
		}},
	{"refused as not started", "G5", submissions,
		"a call is refused for a failed start only if a start failed",
		func(s *State, a *Action) bool { return a.Outcome != RefusedStartFailed || s.StartFailed }},
	{"refused as starting", "G17", submissions,
		"ErrStarting is returned only before the start has ended",
		func(s *State, a *Action) bool { return a.Outcome != RefusedStarting || !s.Up && s.Phase < Terminated }},

	// Cancelling.
	{"cancel true", "G8", kinds(OpCancel),
		"Cancel is true only if a run of the body has yet to begin and the body was not cancelled",
		func(s *State, a *Action) bool { return a.Outcome != True || cancellable(s, a.Body) }},
	{"cancel false", "G8", kinds(OpCancel),
		"Cancel is false only if the body has begun, has ended or was cancelled before, by a call or by the timer policy",
		func(s *State, a *Action) bool {
			return a.Outcome != False || !cancellable(s, a.Body) || doomed(s, a.Body)
		}},
	{"reset true", "G8", kinds(OpReset),
		"Reset is true only if a run of the timer has yet to begin and no shutdown has decided about it",
		func(s *State, a *Action) bool { return a.Outcome != True || movable(s, a.Body) }},
	{"reset false", "G8", kinds(OpReset),
		"Reset is false only if the body has begun, the timer has ended, or a shutdown has begun",
		func(s *State, a *Action) bool {
			return a.Outcome != False || s.Phase >= ShuttingDown || !movable(s, a.Body)
		}},
	{"remove true", "G6", kinds(OpRemoveHook),
		"remove is true only if the hook has not begun",
		func(s *State, a *Action) bool { return a.Outcome != True || s.hook(a.Body.ID) >= 0 }},
	{"remove false", "G6", kinds(OpRemoveHook),
		"remove is false only if the hook has begun or is removed",
		func(s *State, a *Action) bool { return a.Outcome != False || s.hook(a.Body.ID) < 0 }},

	// The shutdown.
	{"timeout covers quiet", "G16", kinds(OpShutdownGracefully),
		"a timeout shorter than the quiet period is an error",
		func(s *State, a *Action) bool { return !a.Quiet || a.Timeout }},
	{"own start failed", "G17", shutdowns,
		"a shutdown call fails to start the loop only in the phase NotStarted",
		func(s *State, a *Action) bool { return !a.Outcome.IsRefusal() || s.Phase == NotStarted }},
	{"quiet needs idleness", "G10", kinds(StepQuietElapses),
		"the quiet period elapses only during a graceful shutdown with quiet > 0, while no task, timer or hook runs",
		func(s *State, a *Action) bool {
			return s.Phase == ShuttingDown && s.Quiet && !s.QuietElapsed && !s.restarts()
		}},
	{"timeout of a shutdown", "G11", kinds(StepTimeoutFires),
		"the deadline passes once, in a shutdown with a timeout",
		func(s *State, a *Action) bool { return s.Phase == ShuttingDown && s.Timeout }},
	{"close of a shutdown", "G10", kinds(StepLoopCloses),
		"the loop closes admission only during a graceful shutdown",
		func(s *State, a *Action) bool { return s.Phase == ShuttingDown }},
	{"close when drained", "G10", kinds(StepLoopCloses),
		"the loop does not close admission while a task is queued, a body runs or a hook is pending",
		func(s *State, a *Action) bool {
			return s.queued() == 0 && s.Running.Kind == NoBody && len(s.Hooks) == 0
		}},
	{"close when quiet", "G10", kinds(StepLoopCloses),
		"the loop does not close admission before the quiet period is over",
		func(s *State, a *Action) bool { return !s.Quiet || s.QuietElapsed }},
	{"close after timers", "G7", kinds(StepLoopCloses),
		"the loop does not close admission while a timer will still run",
		func(s *State, a *Action) bool { return !timerToRun(s) }},

	{"close after registrations", "G23", kinds(StepLoopCloses),
		"the loop does not close admission before every registration has ended and its owner was notified",
		func(s *State, a *Action) bool { return len(s.Regs) == 0 }},

	// Registrations.
	{"ended means ended", "G22", kinds(StepBegin),
		"no body of an ended registration begins",
		func(s *State, a *Action) bool { return !endedRegistration(s, a.Body) }},
	{"drain by policy", "G23", kinds(StepBegin),
		"only an open channel is asked to drain, once, by a graceful shutdown with the policy DrainChannels",
		func(s *State, a *Action) bool { return a.Part != Drain || mayDrain(s, a.Body) }},
	{"abort by policy", "G23", kinds(StepBegin),
		"an open channel is aborted once: after admission has closed, after the shutdown call with CloseChannels, or when it is lost",
		func(s *State, a *Action) bool { return a.Part != Abort || mayAbort(s, a.Body) }},
	{"loop ends plain registrations", "G22", kinds(StepCloseFD),
		"the loop ends only plain registrations that are open, for a shutdown or because they are lost",
		func(s *State, a *Action) bool { return mayCloseFD(s, a.Body) }},
	{"registered before", "G22", kinds(OpEnd),
		"only a registration that was accepted can be closed",
		func(s *State, a *Action) bool { r := s.record(a.Body); return r != nil && !r.Refused }},
	{"notified of the end", "G22", kinds(StepNotified),
		"the owner of an ended registration is notified once",
		func(s *State, a *Action) bool { r := s.reg(a.Body); return r != nil && r.Closed }},
	{"only a watched registration is lost", "G22", kinds(StepLost),
		"the poller loses only registrations that it watches",
		func(s *State, a *Action) bool { r := s.openReg(a.Body); return r != nil && !r.Lost }},

	// Bodies.
	{"one at a time", "G2", kinds(StepBegin, StepCloseFD, StepNotified),
		"bodies never overlap, and while one runs the loop ends no registration and notifies no owner",
		func(s *State, a *Action) bool { return s.Running.Kind == NoBody }},
	{"cancelled never begins", "G8", kinds(StepBegin),
		"a cancelled body does not begin",
		func(s *State, a *Action) bool { return a.Body.Kind == HookBody || !s.cancelled(a.Body) }},
	{"removed never begins", "G6", kinds(StepBegin),
		"a removed hook does not begin",
		func(s *State, a *Action) bool { return !removedHook(s, a.Body) }},
	{"accepted and waiting", "G3", kinds(StepBegin),
		"a body begins only if it was accepted and waits for a run",
		func(s *State, a *Action) bool { return waiting(s, a.Body) || removedHook(s, a.Body) }},
	{"first in, first out", "G4", kinds(StepBegin),
		"tasks begin in the order they were accepted",
		func(s *State, a *Action) bool { return headOfQueue(s, a.Body) }},
	{"hooks in order", "G6", kinds(StepBegin),
		"hooks begin in the order they were added",
		func(s *State, a *Action) bool { return a.Body.Kind != HookBody || s.hook(a.Body.ID) <= 0 }},
	{"hooks in a shutdown", "G6", kinds(StepBegin),
		"no hook begins before the shutdown call",
		func(s *State, a *Action) bool { return a.Body.Kind != HookBody || s.Phase >= ShuttingDown }},
	{"hooks after marked tasks", "G6", kinds(StepBegin),
		"hooks wait for the tasks that were accepted before the shutdown call",
		func(s *State, a *Action) bool { return a.Body.Kind != HookBody || !s.marksLeft() }},
	{"hooks before later work", "G6", kinds(StepBegin),
		"work accepted after the shutdown call does not delay hooks",
		func(s *State, a *Action) bool {
			return s.Phase < ShuttingDown || s.marksLeft() || !s.earlyHookPending() || !later(s, a.Body)
		}},
	{"doomed timers do not run", "G7", kinds(StepBegin),
		"a timer ended by the timer policy does not run",
		func(s *State, a *Action) bool { return !doomed(s, a.Body) }},
	{"only the running body ends", "G2", kinds(StepEnd),
		"only the running body ends",
		func(s *State, a *Action) bool { return s.Running == a.Body }},
	{"discard only cancelled tasks", "G3", kinds(StepDiscard),
		"only a cancelled task at the head of the queue is dropped",
		func(s *State, a *Action) bool {
			return len(s.Queue) > 0 && s.Queue[0] == a.Body.ID && s.cancelled(a.Body)
		}},
	{"policy ends only the doomed", "G7", kinds(StepTimerDies),
		"the timer policy cancels only doomed timers",
		func(s *State, a *Action) bool { return doomed(s, a.Body) }},

	// Done.
	{"done after the close", "G15", kinds(StepDone),
		"Done is closed only after admission has closed",
		func(s *State, a *Action) bool { return s.Phase == Shutdown }},
	{"done after tasks", "G3", kinds(StepDone),
		"an accepted task runs before Done is closed",
		func(s *State, a *Action) bool { return s.queued() == 0 }},
	{"done after bodies", "G15", kinds(StepDone),
		"Done is not closed while a body runs",
		func(s *State, a *Action) bool { return s.Running.Kind == NoBody }},
	{"done after hooks", "G6", kinds(StepDone),
		"hooks run before Done is closed",
		func(s *State, a *Action) bool { return len(s.Hooks) == 0 }},
	{"done after timers", "G3", kinds(StepDone),
		"an accepted timer ends before Done is closed",
		func(s *State, a *Action) bool { return len(s.Timers) == 0 }},
	{"done after registrations", "G3", kinds(StepDone),
		"an accepted registration ends and its owner is notified before Done is closed",
		func(s *State, a *Action) bool { return len(s.Regs) == 0 }},
}
