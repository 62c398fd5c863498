package model

import "slices"

// Simulation follows a trace. It holds the states in which the executor may be after the
// actions so far. Make one with [NewSimulation]. It is not safe for concurrent use.
type Simulation struct {
	set    []State // the states share no memory with states outside of the simulation; if lazy, some timers may be undecided
	hidden kindSet
	lazy   bool // see Step
	seen   int
	action Action // the one that is followed: a field, because rules and effects get a pointer
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
	var set []State
	for i := range sim.set {
		set = settled(set, sim.set[i].clone())
	}
	return distinct(set)
}

// Phase returns the phase of one possible state. All possible states have the same phase
// unless a step that changes the phase is hidden.
func (sim *Simulation) Phase() Phase { return sim.set[0].Phase }

// MayBeFull reports whether the queue is full in one of the possible states (G19).
func (sim *Simulation) MayBeFull() bool {
	for i := range sim.set {
		if sim.set[i].full() {
			return true
		}
	}
	return false
}

// Allows reports whether one of the possible states allows a without a hidden step.
func (sim *Simulation) Allows(a Action) bool {
	sim.action = a
	for i := range sim.set {
		s := &sim.set[i]
		if s.undecidedFor(&sim.action) {
			c := s.clone()
			c.decide(&sim.action)
			s = &c
		}
		if standard.refusedBy(s, &sim.action) < 0 {
			return true
		}
	}
	return false
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
// the action, and decides about an undecided timer only if the action depends on it. So the
// set stays small, and most actions change one state in place.
func (sim *Simulation) Step(a Action) error {
	if sim.Follow(a) {
		return nil
	}
	return notAllowed(standard.closure(sim.Set(), sim.hidden), sim.seen, a)
}

// Follow is [Simulation.Step] without the error, which takes long to make. It reports whether a
// possible state allows a.
func (sim *Simulation) Follow(a Action) bool {
	sim.action = a
	if !sim.lazy {
		return sim.followAll()
	}
	to := sim.set[:0]
	for i := range sim.set {
		if s := sim.ready(&sim.set[i]); s != nil {
			standard.effects[a.Kind](s, &sim.action)
			if to = sim.set[:len(to)+1]; s != &to[len(to)-1] {
				to[len(to)-1] = *s
			}
		}
	}
	if len(to) == 0 {
		return false // and no state has changed
	}
	sim.set = distinct(to)
	sim.seen++
	return true
}

// followAll is Follow with hidden steps that are not deferrable.
func (sim *Simulation) followAll() bool {
	to := standard.step(standard.closure(sim.set, sim.hidden), sim.action)
	if len(to) == 0 {
		return false
	}
	sim.set = to
	sim.seen++
	return true
}

// FollowEither follows action a if the trace may show the StepBegin begin too late: the body may
// have begun before a, or not. The set then has states of both kinds. If neither is possible,
// FollowEither returns false and does not change the simulation. Where the trace shows begin,
// follow it with Confirm.
func (sim *Simulation) FollowEither(begin, a Action) bool {
	early := sim.copy()
	if !early.Follow(begin) || !early.Follow(a) {
		return sim.Follow(a)
	}
	if sim.Follow(a) {
		sim.set = distinct(append(sim.set, early.set...))
	} else {
		sim.set, sim.seen = early.set, sim.seen+1
	}
	return true
}

// copy returns a copy that shares no memory with sim.
func (sim *Simulation) copy() *Simulation {
	c := &Simulation{hidden: sim.hidden, lazy: sim.lazy, seen: sim.seen, set: make([]State, len(sim.set))}
	for i := range sim.set {
		c.set[i] = sim.set[i].clone()
	}
	return c
}

// Confirm follows begin, a StepBegin, from the states in which the body has not begun, and
// keeps those in which it has (see FollowEither). If no state allows that, it returns false and
// does not change the simulation.
func (sim *Simulation) Confirm(begin Action) bool {
	var begun, waiting []State
	for _, s := range sim.set {
		if s.Running == begin.Body {
			begun = append(begun, s)
		} else {
			waiting = append(waiting, s)
		}
	}
	if len(waiting) == 0 {
		return true
	}
	rest := Simulation{set: waiting, hidden: sim.hidden, lazy: sim.lazy, seen: sim.seen}
	if rest.Follow(begin) {
		begun = distinct(append(begun, rest.set...))
	} else if len(begun) == 0 {
		return false
	}
	sim.set = begun
	sim.seen++
	return true
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

// fewStates is up to which number of states distinct compares each with each.
const fewStates = 8

// distinct removes repeated states from set, in place.
func distinct(set []State) []State {
	if len(set) > fewStates {
		var all stateSet
		for _, s := range set {
			all.add(s)
		}
		return all.states
	}
	to := set[:min(1, len(set))]
	for i := 1; i < len(set); i++ {
		if s := &set[i]; !slices.ContainsFunc(to, func(t State) bool { return s.equal(&t) }) {
			to = append(to, *s)
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
