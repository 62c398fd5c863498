package model

import (
	"fmt"
	"strings"
)

// Violation is a guarantee that the model itself breaks, with a shortest path to the
// violation.
type Violation struct {
	Guarantee string // "G3"
	Sentence  string // what should hold
	Detail    string // the observed state or action
	State     State  // the last state of the path

	// Path has the actions that lead to the violation. From Explore: all the actions from
	// [New] on, the last of which shows the violation. From CheckStep: that action alone.
	// From CheckState: none.
	Path []Action
}

// String returns the sentence first, then the path, one action per line.
func (v *Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", v.Guarantee, v.Sentence, v.Detail)
	for i, a := range v.Path {
		fmt.Fprintf(&b, "%4d  %v\n", i+1, a)
	}
	fmt.Fprintf(&b, "      %v\n", v.State)
	return b.String()
}

// CheckState returns the first state invariant that s breaks, or nil. It does not change
// s and is safe for concurrent use.
func CheckState(s State) *Violation { return standard.checkState(&s) }

// CheckStep returns the first step invariant that the step a from s to t breaks, or nil.
// It changes nothing and is safe for concurrent use.
func CheckStep(s State, a Action, t State) *Violation { return standard.checkStep(&s, &a, &t) }

func (m *machine) checkState(s *State) *Violation {
	for i := range m.states {
		inv := &m.states[i]
		if detail := inv.check(s); detail != "" {
			return &Violation{Guarantee: inv.g, Sentence: inv.sentence, Detail: detail, State: *s}
		}
	}
	return nil
}

func (m *machine) checkStep(s *State, a *Action, t *State) *Violation {
	for i := range m.steps {
		inv := &m.steps[i]
		if detail := inv.check(s, a, t); detail != "" {
			return &Violation{Guarantee: inv.g, Sentence: inv.sentence, Detail: detail, Path: []Action{*a}, State: *t}
		}
	}
	return nil
}

// checkCan returns the first canInvariant that s breaks, or nil.
func (m *machine) checkCan(s *State, buf []Action) *Violation {
	for i := range m.cans {
		inv := &m.cans[i]
		for _, a := range inv.must(s, buf[:0]) {
			if r := m.refusedBy(s, &a); r >= 0 {
				return &Violation{Guarantee: inv.g, Sentence: inv.sentence, State: *s,
					Detail: fmt.Sprintf("%v is refused by the rule %q", a, m.rules[r].name)}
			}
		}
	}
	return nil
}
