package model

import "slices"

// Simulation is a trace being followed: the set of states the executor may be
// in after the actions seen so far. The zero value is not usable; see
// [NewSimulation]. Not safe for simultaneous use.
type Simulation struct {
	set    []State
	hidden kindSet
	seen   int
}

// DefaultHidden lists the steps that a trace seldom shows: that the quiet period
// is over, that the loop dropped a cancelled task, that the timer policy ended a
// timer.
func DefaultHidden() []ActionKind { return []ActionKind{KindQuietElapses, KindDiscard, KindTimerDies} }

// canHide holds the kinds that may be hidden: steps of the executor and its
// environment that concern no body, or one that the state tells.
var canHide = kinds(KindStartOK, KindStartFail, KindLoopFails, KindQuietElapses, KindTimeoutFires, KindDiscard, KindTimerDies, KindLoopCloses, KindDone)

// NewSimulation starts at [New]. The kinds in hidden may happen between any two
// actions without being shown; shown ones are followed like all others. Calls
// and the begin and end of bodies are never hidden: such kinds are ignored.
func NewSimulation(c Config, hidden []ActionKind) *Simulation {
	return &Simulation{set: []State{New(c)}, hidden: kinds(hidden...)}
}

// Set returns the possible states. It is never empty.
func (sim *Simulation) Set() []State { return slices.Clone(sim.set) }

// Step follows one action. If no possible state allows it, the error is a
// *[NotAllowed], and the simulation stays where it was.
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

// Simulate follows a whole trace with the default hidden steps. It returns the
// last set of states that was possible and how many actions were allowed; the
// error is nil if that is all of them, else a *[NotAllowed].
func Simulate(c Config, trace []Action) (last []State, at int, err error) {
	sim := NewSimulation(c, DefaultHidden())
	for _, a := range trace {
		if err := sim.Step(a); err != nil {
			return sim.Set(), sim.seen, err
		}
	}
	return sim.Set(), sim.seen, nil
}

// Step returns the states that a may lead to from any of set. It does not close
// over hidden steps. Safe for simultaneous use.
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

// closure returns set and every state reached from it by hidden steps.
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

// hiddenSteps lists the hidden steps worth trying. Of several doomed timers only
// the first is let die: they die in any order with the same effect, a Cancel
// answers for each by itself, and trying every subset would double the set for
// each timer.
func hiddenSteps(s *State, hidden kindSet, to []Action) []Action {
	for _, k := range [...]ActionKind{KindStartOK, KindStartFail, KindLoopFails, KindQuietElapses, KindTimeoutFires, KindLoopCloses, KindDone} {
		if hidden.has(k) {
			to = append(to, Action{Kind: k})
		}
	}
	if hidden.has(KindDiscard) && len(s.Queue) > 0 {
		to = append(to, Action{Kind: KindDiscard, Body: Task(s.Queue[0])})
	}
	if hidden.has(KindTimerDies) {
		if i := slices.IndexFunc(s.Timers, func(t Timer) bool { return t.Status == TimerDoomed }); i >= 0 {
			to = append(to, Action{Kind: KindTimerDies, Body: TimerNo(s.Timers[i].ID)})
		}
	}
	return to
}

// stateSet keeps each state once, in the order of arrival.
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
