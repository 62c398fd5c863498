package model

import (
	"fmt"
	"slices"
	"testing"
)

// mutant is a model with one thing wrong. Explore must tell.
type mutant struct {
	of     string // the rule, or the kind whose effect is changed
	name   string
	change func(m *machine)
}

func (mu mutant) machine() *machine {
	m := newMachine(slices.Clone(rules[:]), effects)
	mu.change(m)
	return m
}

// Every rule and effect has a mutant, every mutant breaks an invariant, and
// every invariant is broken by a mutant. The log is the table: what is changed,
// how, the guarantee broken, the length of the path, the invariant.
func TestMutantsAreKilled(t *testing.T) {
	mutants := allMutants()
	killed, killers := map[string]bool{}, map[string]bool{}
	for _, mu := range mutants {
		v := firstViolation(mu.machine())
		if v == nil {
			t.Errorf("%s: %s: survives", mu.of, mu.name)
			continue
		}
		killed[mu.of] = true
		killers[v.Sentence] = true
		t.Logf("%-28s %-44s %-4s %2d steps  %s", mu.of, mu.name, v.Guarantee, len(v.Path), v.Sentence)
	}
	for _, r := range rules {
		if !killed[r.name] {
			t.Errorf("rule %q has no mutant that is killed", r.name)
		}
	}
	for k := range numKinds {
		if everyKind.has(k) && !killed[kindWord(k)] {
			t.Errorf("the effect of %v has no mutant that is killed", kindWord(k))
		}
	}
	for _, only := range eachInvariant() {
		if killers[only.sentence] {
			continue
		}
		if mu := killedBy(only, mutants); mu != nil {
			t.Logf("alone: %-60s kills %s: %s", only.sentence, mu.of, mu.name)
		} else {
			t.Errorf("invariant %q kills no mutant", only.sentence)
		}
	}
}

// firstViolation explores m within ever other bounds, a little of each and then
// more, until it breaks.
func firstViolation(m *machine) *Violation {
	for _, most := range []int{500, 20_000} {
		for _, b := range []Bounds{
			queueBounds(), timerBounds(CancelTimers), hookBounds(), tailBounds(),
			timerBounds(RunDueTimers), timerBounds(RunTimersUntilTimeout),
			channelBounds(), ChannelBounds(DrainChannels), ChannelBounds(CloseChannels),
		} {
			if r := m.explore(b, Options{MaxStates: most}); r.Violation != nil {
				return r.Violation
			}
		}
	}
	return nil
}

// invariantAlone switches all invariants of a machine off but one.
type invariantAlone struct {
	sentence string
	keep     func(m *machine)
}

func eachInvariant() (all []invariantAlone) {
	for i, inv := range invariants {
		all = append(all, invariantAlone{inv.sentence, func(m *machine) {
			m.states, m.steps, m.cans = invariants[i:i+1], nil, nil
		}})
	}
	for i, inv := range allSteps {
		all = append(all, invariantAlone{inv.sentence, func(m *machine) {
			m.states, m.steps, m.cans = nil, allSteps[i:i+1], nil
		}})
	}
	for i, inv := range canInvariants {
		all = append(all, invariantAlone{inv.sentence, func(m *machine) {
			m.states, m.steps, m.cans = nil, nil, canInvariants[i:i+1]
		}})
	}
	return all
}

// killedBy returns a mutant that the invariant finds when it alone is switched
// on, or nil.
func killedBy(only invariantAlone, mutants []mutant) *mutant {
	for _, b := range []Bounds{queueBounds(), timerBounds(CancelTimers), timerBounds(RunDueTimers), hookBounds(), channelBounds()} {
		for i := range mutants {
			m := mutants[i].machine()
			only.keep(m)
			if r := m.explore(b, Options{MaxStates: 600}); r.Violation != nil && r.Violation.Sentence == only.sentence {
				return &mutants[i]
			}
		}
	}
	return nil
}

func allMutants() []mutant {
	var all []mutant
	for _, r := range rules {
		all = append(all,
			mutant{r.name, "dropped", func(m *machine) {
				ruleOf(m, r.name).holds = func(*State, *Action) bool { return true }
			}},
			mutant{r.name, "refuses everything", func(m *machine) {
				ruleOf(m, r.name).holds = func(*State, *Action) bool { return false }
			}})
	}
	for k := range numKinds {
		if everyKind.has(k) && k != OpState && k != OpReset { // they have none
			all = append(all, mutant{kindWord(k), "no effect", func(m *machine) { m.effects[k] = func(*State, *Action) {} }})
		}
	}
	return slices.Concat(all, ruleMutants, effectMutants, registrationMutants)
}

func ruleOf(m *machine, name string) *rule {
	for i := range m.rules {
		if m.rules[i].name == name {
			return &m.rules[i]
		}
	}
	panic(fmt.Sprintf("no rule %q", name))
}
