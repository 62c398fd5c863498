package model

import "slices"

// Simulation follows a trace. It holds the states in which the executor may be after the
// actions so far. Make one with [NewSimulation]. It is not safe for concurrent use.
type Simulation struct {
	set    []State // the states share no memory with states outside of the simulation
	hidden kindSet
	lazy   bool // see Step
	seen   int
}

// DefaultHidden returns the steps that traces seldom show: the end of the quiet period,
// the drop of a cancelled task, and the end of a timer by the timer policy.
func DefaultHidden() []Op { return []Op{StepQuietElapses, StepDiscard, StepTimerDies} }

// canHide contains the kinds that may be hidden: steps of the executor and of its
// environment that name no body, or whose body follows from the state, as the head of the
// queue does.
var canHide = kinds(StepStartOK, StepStartFail, StepLoopFails, StepQuietElapses, StepTimeoutFires, StepDiscard, StepTimerDies, StepLoopCloses, StepDone)

// NewSimulation returns a simulation in the state [New]. The kinds in hidden may happen
// between any two actions of the trace; if the trace shows one, it is followed like any
// other action. Calls, the begin and end of bodies and the steps that name a registration
// cannot be hidden and are ignored in hidden.
func NewSimulation(c Config, hidden []Op) *Simulation {
	set := kinds(hidden...)
	return &Simulation{set: []State{New(c)}, hidden: set, lazy: set&^deferrable == 0}
}

// Set returns the possible states after the actions so far. It is never empty. It omits states
// that are reached only by hidden steps after the last action. If only steps of [DefaultHidden]
// are hidden, it also omits states that are reached by hidden steps which no action needed.
func (sim *Simulation) Set() []State {
	set := make([]State, len(sim.set))
	for i := range sim.set {
		set[i] = sim.set[i].clone()
	}
	return set
}

// Phase returns the phase of one possible state. All possible states have the same phase
// unless a step that changes the phase is hidden.
func (sim *Simulation) Phase() Phase { return sim.set[0].Phase }

// MayBeFull reports whether the queue is full in one of the possible states (G19).
func (sim *Simulation) MayBeFull() bool {
	return slices.ContainsFunc(sim.set, func(s State) bool { return s.full() })
}

// Allows reports whether one of the possible states allows a without a hidden step.
func (sim *Simulation) Allows(a Action) bool {
	return slices.ContainsFunc(sim.set, func(s State) bool { return standard.allows(&s, a) })
}

// deferrable contains the hidden steps that may be delayed until after any other action. If a
// state allows such a step and an action, then either the action makes the step impossible, or
// the step is allowed after it too and both orders lead to the same state.
// TestHiddenStepsMayWait checks this for every state within bounds.
var deferrable = kinds(DefaultHidden()...)

// Step follows one action. If no possible state allows it, Step returns a *[NotAllowed]
// and does not change the simulation.
//
// If all hidden steps are deferrable, Step applies them only to states that do not allow
// the action. So the set stays small, and most actions change one state in place.
func (sim *Simulation) Step(a Action) error {
	after := sim.allowing(a)
	if len(after) == 0 {
		var closed []State
		for _, s := range standard.closure(sim.set, sim.hidden) {
			closed = append(closed, s.clone())
		}
		return notAllowed(closed, sim.seen, a)
	}
	var to []State
	for i := range after {
		standard.effects[a.Kind](&after[i], &a)
		to = settled(to, after[i])
	}
	if len(after) > 1 {
		var distinct stateSet
		for _, s := range to {
			distinct.add(s)
		}
		to = distinct.states
	}
	sim.set = to
	sim.seen++
	return nil
}

// StepEither follows action a if the trace may show the StepBegin begin too late: the body may
// have begun before a, or not. The set then has states of both kinds. If neither is possible,
// StepEither returns the error of Step(a) and does not change the simulation. Where the trace
// shows begin, follow it with Confirm.
func (sim *Simulation) StepEither(begin, a Action) error {
	early := Simulation{set: sim.Set(), hidden: sim.hidden, lazy: sim.lazy, seen: sim.seen}
	begun := early.Step(begin) == nil && early.Step(a) == nil
	switch err := sim.Step(a); {
	case !begun:
		return err
	case err != nil:
		sim.set, sim.seen = early.set, sim.seen+1
	default:
		sim.set = union(sim.set, early.set)
	}
	return nil
}

// Confirm follows begin, a StepBegin, from the states in which the body has not begun, and
// keeps those in which it has (see StepEither).
func (sim *Simulation) Confirm(begin Action) error {
	var begun, waiting []State
	for _, s := range sim.set {
		if s.Running == begin.Body {
			begun = append(begun, s)
		} else {
			waiting = append(waiting, s)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	rest := Simulation{set: waiting, hidden: sim.hidden, lazy: sim.lazy, seen: sim.seen}
	if err := rest.Step(begin); err != nil && len(begun) == 0 {
		return err
	} else if err != nil {
		rest.set = nil
	}
	sim.set = union(begun, rest.set)
	sim.seen++
	return nil
}

func union(a, b []State) []State {
	var all stateSet
	for _, s := range a {
		all.add(s)
	}
	for _, s := range b {
		all.add(s)
	}
	return all.states
}

// allowing returns the states that allow a and are reached by hidden steps: by as few as
// possible if the hidden steps are deferrable, otherwise by any number.
func (sim *Simulation) allowing(a Action) (to []State) {
	var tried stateSet
	if !sim.lazy {
		tried.states = standard.closure(sim.set, sim.hidden)
		for i := range tried.states {
			if standard.allows(&tried.states[i], a) {
				to = append(to, tried.states[i].clone())
			}
		}
		return to
	}
	for i := range sim.set {
		if standard.allows(&sim.set[i], a) {
			to = append(to, sim.set[i])
		} else {
			tried.add(sim.set[i])
		}
	}
	var steps []Action
	for i := 0; i < len(tried.states); i++ {
		s := tried.states[i]
		steps = hiddenSteps(&s, sim.hidden, steps[:0])
		for _, h := range steps {
			for _, t := range standard.next(&s, h) {
				if standard.allows(&t, a) {
					to = append(to, t)
				} else {
					tried.add(t)
				}
			}
		}
	}
	return to
}

// Simulate follows a whole trace with the default hidden steps. It returns the last set
// of possible states and the number of allowed actions. The error is nil if all actions
// were allowed, and otherwise a *[NotAllowed].
func Simulate(c Config, trace []Action) (last []State, at int, err error) {
	sim := NewSimulation(c, DefaultHidden())
	for _, a := range trace {
		if err := sim.Step(a); err != nil {
			return sim.Set(), sim.seen, err
		}
	}
	return sim.Set(), sim.seen, nil
}

// Step returns the states that a may lead to from any state of set. It does not add
// hidden steps. It is safe for concurrent use.
func Step(set []State, a Action) []State { return standard.step(set, a) }

func (m *machine) step(set []State, a Action) []State {
	var to stateSet
	for i := range set {
		for _, t := range m.next(&set[i], a) {
			to.add(t)
		}
	}
	return to.states
}

// closure returns set and every state that hidden steps reach from it.
func (m *machine) closure(set []State, hidden kindSet) []State {
	var all stateSet
	for _, s := range set {
		all.add(s)
	}
	var steps []Action
	for i := 0; i < len(all.states); i++ {
		s := all.states[i]
		steps = hiddenSteps(&s, hidden, steps[:0])
		for _, a := range steps {
			for _, t := range m.next(&s, a) {
				all.add(t)
			}
		}
	}
	return all.states
}

// hiddenSteps appends the hidden steps that are worth trying. Of several doomed timers it
// tries only the first: their order has no effect, and a Cancel that returns false ends
// its own timer. Trying every subset would double the set of states for each timer.
func hiddenSteps(s *State, hidden kindSet, to []Action) []Action {
	for _, k := range [...]Op{StepStartOK, StepStartFail, StepLoopFails, StepQuietElapses, StepTimeoutFires, StepLoopCloses, StepDone} {
		if hidden.has(k) {
			to = append(to, Action{Kind: k})
		}
	}
	if hidden.has(StepDiscard) && len(s.Queue) > 0 {
		to = append(to, Action{Kind: StepDiscard, Body: Task(s.Queue[0])})
	}
	if hidden.has(StepTimerDies) {
		if i := slices.IndexFunc(s.Timers, func(t Timer) bool { return t.Status == TimerDoomed }); i >= 0 {
			to = append(to, Action{Kind: StepTimerDies, Body: TimerNo(s.Timers[i].ID)})
		}
	}
	return to
}

// stateSet contains each state once, in the order in which they were added.
type stateSet struct {
	states []State
	keys   map[string]struct{}
}

func (set *stateSet) add(s State) {
	if set.keys == nil {
		set.keys = map[string]struct{}{}
	}
	key := s.Key()
	if _, known := set.keys[key]; !known {
		set.keys[key] = struct{}{}
		set.states = append(set.states, s)
	}
}
