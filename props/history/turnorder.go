package history

// turnStep is a step of a turn of the loop.
type turnStep int

// The steps, in order. A batch of tasks or timers ends a step too.
const (
	readyStep turnStep = iota
	taskStep
	timerStep
	tailStep
	turnSteps
)

var stepNames = [...]string{"readiness handlers", "tasks", "due timers", "tail tasks"}

// stepOf returns the step that runs bodies of a kind, and otherwise turnSteps.
func stepOf(b Body) turnStep {
	switch b {
	case BodyReadiness:
		return readyStep
	case BodyTask:
		return taskStep
	case BodyTimer:
		return timerStep
	case BodyTail:
		return tailStep
	}
	return turnSteps
}

// stirsBetweenPolls is how many calls and bodies there may be between two polls of a busy loop, at
// the least: each turn has one, or is the first after a sleep, and a busy loop polls in its 16th.
const stirsBetweenPolls = readinessTurns - 4

// judgeTurnOrder is V11 (G13): a turn calls the handlers of ready descriptors, then runs at most a
// batch of tasks, then at most a batch of due timers, then tail tasks.
//
// A log shows no turns. V11 therefore judges only work that is certainly part of one turn: tasks and
// tail tasks that were accepted before the loop woke up, readiness that the loop found when it woke
// up, and timers that were accepted and due before the loop woke up or before the last task of the
// turn ended. V11 stops judging until the next wake-up at an event after which a turn may end early:
// a listener or another internal task, a body that panics or exits, a call that may cause an
// internal task. It stops for good at a shutdown call or a failure of the poller.
func judgeTurnOrder(j *judge) {
	t := turnJudge{judge: j}
	for i := range j.Events {
		if !t.next(&j.Events[i]) {
			return
		}
	}
}

// passed is the evidence that a step of a turn is over.
type passed struct {
	by     *Event // the Begin that shows it; nil: there is no evidence
	since  *Event // work that was accepted before since belongs to that turn, or to an earlier one
	timers int    // how many timers had begun since the loop woke up
}

// turnJudge reads a log from its begin to its end.
type turnJudge struct {
	*judge
	open       int  // calls that have not returned
	disturbing int  // those of them that may cause an internal task
	moved      int  // calls so far that cancel or move a timer: each may take room in a batch of timers
	disturbed  bool // since the loop fell asleep a call may have caused an internal task or changed a registration
	stirs      int  // calls since the loop fell asleep, and bodies since it woke up

	woke  *Event // the Unpark of the current sleep; nil: nothing is judged until the next one
	since *Event // timers that were accepted before it run in this turn, if they are due
	begun [turnSteps]int
	over  [turnSteps]passed
}

// next reads one event. It returns false if nothing is judged from there on.
func (t *turnJudge) next(e *Event) bool {
	switch e.Kind {
	case Fault:
		return false
	case Transit:
		return e.To < ShuttingDown
	case Invoke:
		t.invoked(e)
		return !e.Op.Shuts()
	case Return:
		t.open--
		t.disturbing -= one(disturbsTurn(e.Op))
	case Ended:
		t.disturb()
	case Park:
		t.woke, t.disturbed, t.stirs = nil, t.disturbing > 0, t.open
	case Unpark:
		t.woke, t.since, t.begun, t.over = e, e, [turnSteps]int{}, [turnSteps]passed{}
		if t.disturbing > 0 {
			t.woke = nil
		}
	case Begin:
		t.begins(e)
	case End:
		t.ends(e)
	}
	return true
}

// disturbsTurn reports whether the call may cause an internal task, change a registration or
// complete a future.
func disturbsTurn(o Op) bool {
	switch o {
	case OpCancel, OpReset, OpRegister, OpRegisterChannel, OpModify, OpEnd, OpListen:
		return true
	}
	return false
}

// disturb stops judging until the next wake-up.
func (t *turnJudge) disturb() { t.woke, t.disturbed = nil, true }

func (t *turnJudge) invoked(e *Event) {
	t.open++
	t.stirs++
	if disturbsTurn(e.Op) {
		t.disturbing++
		t.disturb()
	}
	t.moved += one(e.Op == OpCancel || e.Op == OpReset)
}

func (t *turnJudge) begins(e *Event) {
	step := stepOf(e.Body)
	if step == turnSteps {
		t.disturb()
		return
	}
	if t.woke == nil {
		return
	}
	if over := t.over[step]; over.by != nil && t.belongs(e, step, over) {
		t.late(e, step, over)
		t.woke = nil
		return
	}
	t.stirs++
	for s := range step {
		if t.begun[step] == 0 && t.begun[s] > 0 {
			t.exercised()
		}
	}
	t.shows(e, step)
	t.begun[step]++
}

// shows keeps what the begin of a body shows of the steps before it.
func (t *turnJudge) shows(e *Event, step turnStep) {
	first := func(s turnStep) {
		if t.over[s].by == nil {
			t.over[s] = passed{by: e, since: t.woke, timers: t.begun[timerStep]}
		}
	}
	if step > readyStep && t.begun[readyStep] == 0 {
		first(readyStep)
	}
	if step > taskStep {
		first(taskStep)
	}
	if step == tailStep {
		t.over[timerStep] = passed{by: e, since: t.since, timers: t.begun[timerStep]}
	}
	if step == taskStep && t.begun[taskStep] >= t.Rules.batch() { // the next turn has begun
		first(timerStep)
		first(tailStep)
	}
}

// ends reads the end of a body. The turn of a task or a handler runs the timers that it scheduled.
func (t *turnJudge) ends(e *Event) {
	switch {
	case t.woke == nil:
	case e.Outcome != Normal:
		t.disturb()
	case e.Body == BodyTask || e.Body == BodyReadiness:
		t.since = e
	}
}

// belongs reports whether the body that begins certainly had its turn when the step was over.
func (t *turnJudge) belongs(e *Event, step turnStep, over passed) bool {
	x := t.byID[e.ID]
	switch {
	case step == readyStep:
		return !t.disturbed && t.stirs < stirsBetweenPolls
	case !x.accepted() || !x.submit.returnedBefore(over.since.N):
		return false
	case step != timerStep:
		return t.ahead(x) < t.Rules.batch()
	}
	first := e.Run <= 1 && len(x.resets) == 0
	return first && t.Rules.Virtual && x.deadline(0).known() <= over.since.At && over.timers+t.moved < t.Rules.batch()
}

// ahead returns how many tasks at most were before x in its queue when the loop woke up.
func (t *turnJudge) ahead(x *entry) (n int) {
	tail := x.op() == OpAfterIteration
	for _, e := range t.entries {
		same := e != x && e.op().Tasks() && (e.op() == OpAfterIteration) == tail
		n += one(same && !e.submit.refused() && e.submit.inv.N < x.submit.ret.N && e.beginN() > t.woke.N)
	}
	return n
}

// late blames the body that begins after a later step.
func (t *turnJudge) late(e *Event, step turnStep, over passed) {
	x, other := t.byID[e.ID], t.byID[over.by.ID]
	if over.by.Body == BodyTask && step > taskStep {
		t.blame(at(over.since.N, over.by.N, e.N), "%s began at #%d, after more than a batch of %d tasks, the last of them %s at #%d, and a turn runs %s after one batch",
			x.what(), e.N, t.Rules.batch(), other.what(), over.by.N, stepNames[step])
		return
	}
	t.blame(at(over.since.N, over.by.N, e.N), "%s began at #%d, after %s at #%d, and a turn runs %s before %s",
		x.what(), e.N, other.what(), over.by.N, stepNames[step], stepNames[stepOf(over.by.Body)])
}
