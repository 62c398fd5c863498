package model

// machine is a set of rules and effects with their invariants. Production code uses the
// variable standard. Tests make other machines by breaking a rule or an effect.
type machine struct {
	rules   []rule
	effects [numKinds]func(*State, *Action)
	covers  [numKinds][]int // which rules cover a kind
	states  []invariant
	steps   []stepInvariant
	cans    []canInvariant
}

var standard = newMachine(rules[:], effects)

func newMachine(rs []rule, es [numKinds]func(*State, *Action)) *machine {
	m := &machine{rules: rs, effects: es, states: invariants[:], steps: allSteps, cans: canInvariants[:]}
	for i := range rs {
		for k := range numKinds {
			if rs[i].on.has(k) {
				m.covers[k] = append(m.covers[k], i)
			}
		}
	}
	return m
}

// allSteps are all step invariants; those of registrations come last.
var allSteps = append(stepInvariants[:len(stepInvariants):len(stepInvariants)], registrationInvariants[:]...)

// Next returns the states that a may lead to from s: none if a is not allowed, several if
// the order of a call and a deadline is undetermined. It does not change s, and the
// result shares no memory with s. It is safe for concurrent use.
func Next(s State, a Action) []State { return standard.next(&s, a) }

func (m *machine) next(s *State, a Action) []State {
	if m.refusedBy(s, &a) >= 0 {
		return nil
	}
	after := s.clone()
	m.effects[a.Kind](&after, &a)
	return settled(nil, after)
}

// refusedBy returns the position of the first rule that refuses a, or -1.
func (m *machine) refusedBy(s *State, a *Action) int {
	for _, i := range m.covers[a.Kind] {
		if !m.rules[i].holds(s, a) {
			return i
		}
	}
	return -1
}

func (m *machine) allows(s *State, a Action) bool { return m.refusedBy(s, &a) < 0 }

// settled appends a state for each way to decide the undecided timers of s: an unsettled
// timer is due or doomed, an unplaced one waiting or doomed. Without a clock both are
// possible (G7), so each such timer doubles the number of states.
func settled(to []State, s State) []State {
	for i := range s.Timers {
		var runs TimerStatus
		switch s.Timers[i].Status {
		case timerUnsettled:
			runs = TimerDue
		case timerUnplaced:
			runs = TimerWaiting
		default:
			continue
		}
		other := s.clone()
		other.Timers[i].Status = runs
		s.Timers[i].Status = TimerDoomed
		return settled(settled(to, other), s)
	}
	return append(to, s)
}
