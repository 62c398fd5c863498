package model

import "slices"

// Simulation follows a trace. It holds the set of states in which the executor may be
// after the actions so far. Make one with [NewSimulation]. It is not safe for concurrent
// use.
type Simulation struct {
	set    []State
	hidden kindSet
	seen   int
}

// DefaultHidden returns the steps that traces seldom show: the end of the quiet period,
// the drop of a cancelled task, and the end of a timer by the timer policy.
func DefaultHidden() []Op { return []Op{StepQuietElapses, StepDiscard, StepTimerDies} }

// canHide contains the kinds that may be hidden: steps of the executor and of its
// environment that concern no body, or a body that the state determines.
var canHide = kinds(StepStartOK, StepStartFail, StepLoopFails, StepQuietElapses, StepTimeoutFires, StepDiscard, StepTimerDies, StepLoopCloses, StepDone)

// NewSimulation returns a simulation in the state [New]. The kinds in hidden may happen
// between any two actions of the trace; if the trace shows one, it is followed like any
// other action. Calls and the begin and end of bodies cannot be hidden and are ignored
// in hidden.
func NewSimulation(c Config, hidden []Op) *Simulation {
	return &Simulation{set: []State{New(c)}, hidden: kinds(hidden...)}
}

// Set returns the possible states. It is never empty.
func (sim *Simulation) Set() []State { return slices.Clone(sim.set) }

// Step follows one action. If no possible state allows it, Step returns a *[NotAllowed]
// and does not change the simulation.
func (sim *Simulation) Step(a Action) error {
	closed := standard.closure(sim.set, sim.hidden)
	after := standard.step(closed, a)
	if len(after) == 0 {
		return notAllowed(closed, sim.seen, a)
	}
	sim.set = after
	sim.seen++
	return nil
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
