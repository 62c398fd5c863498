package props

import (
	"errors"
	"fmt"

	"eventide/model"
	"eventide/props/history"
)

// Refine is REF1: it follows a history of core in the model and reports the first event
// that the model does not allow. The history must have the Admit events of core's Tracer.
// They show when a call took effect, so that the set of possible states stays small.
//
// Steps that a history does not show are hidden in the model: the end of a quiet period, a
// cancelled task that is skipped, a timer that the policy ends.
func Refine(events []history.Event, rules history.Rules) *history.Violation {
	r := newRefinement(events, rules)
	for i := range events {
		if v := r.event(&events[i]); v != nil {
			return v
		}
	}
	return nil
}

type refinement struct {
	events []history.Event
	sim    *model.Simulation

	about   []about                  // by N
	loops   map[int64]bool           // goroutines that have been the loop
	inside  map[int64][]history.Body // goroutine -> its bodies
	calls   map[int]history.Op       // label -> the call that submitted its body
	heard   map[int]int              // label -> Return of the first OnDone or OnClose
	fault   int                      // the first Fault; 0: none
	regs    map[int]bool             // labels of registrations
	unaware map[int]bool             // registrations that ended before their owner added a listener: true until the model has the notification
	up      bool                     // the loop has been started
	closing bool                     // a call makes the next transition
	scratch [8]model.Action          // of the actions of one event
	full    int                      // the last event at which the model's queue was full
}

// about has what the refinement knows of one event.
type about struct {
	decided int            // of an Invoke: its last Admit
	outcome *history.Event // of an Invoke: its Return
	begun   bool           // of a Begin: beginEarly has followed it
	either  bool           // of a Begin: some of the model's states have followed it, see madeRoom
}

func newRefinement(events []history.Event, rules history.Rules) *refinement {
	limit := 0
	if rules.QueueBound > 0 {
		limit = rules.Capacity()
	}
	r := &refinement{
		events: events,
		sim:    model.NewSimulation(model.Config{Policy: rules.Timers, Drain: rules.Drain, Limit: limit}, model.DefaultHidden()),
		about:  make([]about, len(events)+1),
		loops:  map[int64]bool{}, inside: map[int64][]history.Body{}, unaware: map[int]bool{}, regs: map[int]bool{},
		calls: make(map[int]history.Op, len(events)/8), heard: map[int]int{},
	}
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case history.Invoke:
			if e.Op.Registers() {
				r.regs[e.ID] = true
			}
			if _, known := r.calls[e.ID]; !known && e.Op.Submits() {
				r.calls[e.ID] = e.Op
			}
		case history.Admit:
			r.about[e.Call].decided = e.N
		case history.Return:
			r.about[e.Call].outcome = e
			if e.Op == history.OpListen && r.heard[e.ID] == 0 {
				r.heard[e.ID] = e.N
			}
		case history.Fault:
			if r.fault == 0 {
				r.fault = e.N
			}
		case history.Park, history.Closed, history.Done:
			r.loops[e.G] = true
		case history.Begin:
			if e.Body != history.BodyListener {
				r.loops[e.G] = true
			}
		}
	}
	return r
}

// event translates one event into steps of the model.
func (r *refinement) event(e *history.Event) *history.Violation {
	if r.sim.MayBeFull() {
		r.full = e.N
	}
	var actions []model.Action
	switch e.Kind {
	case history.Invoke:
		// The executor does not admit Cancel of a future. If it returns true, it
		// counts as taking effect at the Invoke, otherwise at the Return.
		if r.futureCancel(e.N) && r.answered(e.N, history.True) {
			actions = r.call(e)
		}
	case history.Return:
		if inv := &r.events[e.Call-1]; r.futureCancel(inv.N) && e.Outcome == history.False {
			actions = r.call(inv)
		}
	case history.Admit:
		if r.about[e.Call].decided == e.N {
			actions = r.call(&r.events[e.Call-1])
		}
	case history.Begin, history.End:
		actions = r.body(e)
	case history.Ended:
		actions = r.registrationEnds(e)
	case history.Transit:
		actions = r.transition(e)
	case history.Park:
		actions = r.started()
	}
	for _, a := range actions {
		switch {
		case r.step(e, a), r.wasFull(e, a):
		case a.Outcome != history.RefusedQueueFull && r.beginEarly(e.N) && r.sim.Follow(a):
		case r.justEnded(e.N, a):
		default:
			return refuted(e, r.sim.Step(a))
		}
	}
	return nil
}

// step follows a, one of the actions of e, and reports whether the model allows it.
func (r *refinement) step(e *history.Event, a model.Action) bool {
	begin := r.madeRoom(e, a)
	if begin == nil {
		begin = r.overtaken(e, a)
	}
	if begin != nil {
		r.about[begin.N].either = true
		return r.sim.FollowEither(r.begins(begin), a)
	}
	if r.endOvertakes(e, a) {
		r.beginEarly(e.N)
	}
	if r.about[e.N].either {
		return r.sim.Confirm(a)
	}
	return r.sim.Follow(a)
}

func refuted(e *history.Event, err error) *history.Violation {
	if err == nil { // a step that no event shows has made a possible, too late
		err = fmt.Errorf("the model did not allow #%d", e.N)
	}
	v := &history.Violation{Guarantee: "REF1", Predicate: "REF1", Text: err.Error(), At: []int{e.N}}
	var not *model.NotAllowed
	if errors.As(err, &not) {
		v.Guarantee, v.Sentence = not.Guarantee, not.Sentence
		v.Text = fmt.Sprintf("#%d: %v", e.N, err)
	}
	return v
}

func (r *refinement) futureCancel(invoke int) bool {
	return r.events[invoke-1].Op == history.OpCancel && r.about[invoke].decided == 0
}

func (r *refinement) answered(invoke int, out history.Outcome) bool {
	ret := r.about[invoke].outcome
	return ret != nil && ret.Outcome == out
}

// started returns the start of the loop if no event has shown it yet.
func (r *refinement) started() []model.Action {
	if r.up {
		return nil
	}
	r.up = true
	return []model.Action{{Kind: model.StepStartOK}}
}

// modelled returns the operation of the model for a call. ok is false for observations, which
// are no steps of the model, and for calls of a registration's owner, which are handled elsewhere.
func modelled(op history.Op) (form history.Op, ok bool) {
	switch {
	case op == history.OpSubmit:
		return history.OpExecute, true
	case op.Timers():
		return history.OpSchedule, true
	case op.Registers():
		return history.OpRegister, true
	case op == history.OpClose:
		return history.OpShutdownGracefully, true
	}
	return op, op.Submits() || op.Shuts() || op == history.OpRemoveHook || op == history.OpCancel || op == history.OpReset
}

// call returns the step of a call, at the moment of its decision.
func (r *refinement) call(inv *history.Event) []model.Action {
	kind, ok := modelled(inv.Op)
	if !ok {
		return nil
	}
	a := model.Action{Kind: kind, From: r.from(inv.G)}
	switch kind {
	case model.OpShutdownGracefully:
		a.Quiet, a.Timeout = inv.Quiet > 0, inv.Timeout > 0
		r.closing = r.tookEffect(inv)
		return []model.Action{a}
	case model.OpShutdown:
		r.closing = r.tookEffect(inv)
		return []model.Action{a}
	}
	a.Body = r.named(inv.ID)
	a.Periodic = inv.Op == history.OpFixedRate || inv.Op == history.OpFixedDelay
	return r.answer(inv, a)
}

// tookEffect reports whether the log shows that a shutdown call changed the state.
func (r *refinement) tookEffect(inv *history.Event) bool {
	n := r.about[inv.N].decided
	return n != 0 && r.events[n-1].Outcome == history.True
}

// from reports whether the goroutine is inside a body of the loop.
func (r *refinement) from(g int64) model.From {
	for _, b := range r.inside[g] {
		if b != history.BodyListener {
			return model.Loop
		}
	}
	return model.Outside
}

// named returns the model's body for a label, by the call that submitted it.
func (r *refinement) named(id int) model.Body {
	op, known := r.calls[id]
	if !known {
		return model.Body{}
	}
	return model.Body{Kind: submittedBy(op), ID: id}
}

// submittedBy is the kind of body that a call submits, by the call's plainest form.
func submittedBy(op history.Op) history.Op {
	switch {
	case op == history.OpExecuteLazy || op == history.OpSubmit:
		return history.OpExecute
	case op.Timers():
		return history.OpSchedule
	}
	return op
}

// answer sets the outcome of the call in the step. A call that has not returned at the end
// of the history has the outcome of its Admit, or is accepted without one.
func (r *refinement) answer(inv *history.Event, a model.Action) []model.Action {
	out := history.Accepted
	if ret := r.about[inv.N].outcome; ret != nil {
		out = ret.Outcome
	} else if n := r.about[inv.N].decided; n != 0 {
		out = r.events[n-1].Outcome
	}
	var before []model.Action
	switch out {
	case history.Accepted:
		a.Outcome = out
		before = r.started()
	case history.True, history.False, history.RefusedQueueFull, history.RefusedStarting:
		a.Outcome = out
	case history.RefusedByPoller:
		return r.started() // the loop exists, and nothing else has changed
	case history.RefusedStartFailed:
		if phase := r.sim.Phase(); phase < model.Terminated && (r.up || phase >= model.ShuttingDown) {
			// The refusal comes after another caller's start has succeeded, or after
			// a shutdown call; in a shutdown the transition shows the failed start.
			// The model does not know the body, so the body still may not run.
			return nil
		}
		a.Outcome = out
		if r.sim.Phase() == model.NotStarted {
			before = []model.Action{{Kind: model.StepStartFail}}
		}
	default:
		a.Outcome = history.RefusedClosed
	}
	return append(append(r.scratch[:0], before...), a)
}

var bodyKinds = map[history.Body]func(int) model.Body{
	history.BodyTask: model.Task, history.BodyTail: model.Tail, history.BodyTimer: model.TimerNo, history.BodyHook: model.HookNo,
}

// body returns the begin or end of a body; listeners are not in the model.
func (r *refinement) body(e *history.Event) []model.Action {
	if e.Kind == history.Begin {
		r.inside[e.G] = append(r.inside[e.G], e.Body)
	} else {
		r.inside[e.G] = r.inside[e.G][:len(r.inside[e.G])-1]
	}
	switch {
	case e.Body == history.BodyListener && e.Kind == history.Begin:
		return r.ownerNotified(e)
	case e.Body == history.BodyListener || r.about[e.N].begun:
		return nil
	case e.Kind == history.Begin:
		return append(r.lostFirst(e, append(r.scratch[:0], r.started()...)), r.begins(e))
	}
	return append(r.scratch[:0], model.Action{Kind: model.StepEnd, Body: r.bodyOf(e), Outcome: e.Outcome})
}

// startFails returns the end of an executor whose start failed in a shutdown: one step of
// the model and up to two transitions of core.
func (r *refinement) startFails(e *history.Event) []model.Action {
	if e.To == history.Terminated && e.From == history.Shutdown && r.sim.Phase() == model.Terminated {
		return nil
	}
	return []model.Action{{Kind: model.StepStartFail}}
}

// transition returns the step that changed the state, unless a call did, and then an
// observation that the model is in the same state.
func (r *refinement) transition(e *history.Event) []model.Action {
	seen := model.Action{Kind: model.OpState, Phase: e.To}
	byCall := r.closing
	r.closing = false
	failed := e.Cause.Failure()
	switch {
	case failed && !r.up:
		return r.startFails(e)
	case failed && e.To == history.Shutdown && !byCall:
		return []model.Action{{Kind: model.StepLoopFails}, seen}
	case e.To == history.Started:
		return append(r.started(), seen)
	case e.To == history.Terminated:
		return append(append(r.started(), r.notifyUnaware()...), model.Action{Kind: model.StepDone}, seen)
	case byCall && e.From < history.ShuttingDown && e.To == history.Shutdown && r.sim.Phase() == model.ShuttingDown:
		// A short timeout passed during the call.
		return []model.Action{{Kind: model.StepTimeoutFires}, seen}
	case byCall:
		return []model.Action{seen}
	case r.loops[e.G]:
		return append(append(r.started(), r.notifyUnaware()...), model.Action{Kind: model.StepLoopCloses}, seen)
	}
	return []model.Action{{Kind: model.StepTimeoutFires}, seen}
}
