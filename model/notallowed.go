package model

import (
	"fmt"
	"slices"
	"strings"
)

// NotAllowed is the error for a trace that the model cannot follow. Its Guarantee is that of
// the rule that refused the action.
type NotAllowed struct {
	At        int      // position of the action in the trace, from 0
	Action    Action   // the action that is not allowed
	Guarantee string   // "G3"
	Rule      string   // the name of the rule
	Sentence  string   // the rule in words
	Last      []State  // the possible states before the action
	Nearest   []Action // actions that were possible instead, the most similar first
}

// maxNearest and maxShown keep an error readable.
const (
	maxNearest = 6
	maxShown   = 3
)

// Error gives the guarantee, the action, the states and the alternatives.
func (e *NotAllowed) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %q at action %d is not allowed (model %v", e.Guarantee, e.Sentence, e.Action, e.At+1, e.Last[0])
	for _, s := range e.Last[1:min(len(e.Last), maxShown)] {
		fmt.Fprintf(&b, " or %v", s)
	}
	if more := len(e.Last) - maxShown; more > 0 {
		fmt.Fprintf(&b, " or %d more", more)
	}
	fmt.Fprintf(&b, "); possible: %s", joined(e.Nearest, Action.String))
	return b.String()
}

// notAllowed returns why no state of set allows a. The states may have different
// reasons. It gives the reason of the state that satisfied the most rules, because that
// state is the closest to allowing a.
func notAllowed(set []State, at int, a Action) *NotAllowed {
	best := -1
	for i := range set {
		best = max(best, standard.refusedBy(&set[i], &a))
	}
	r := standard.rules[best]
	return &NotAllowed{
		At: at, Action: a, Guarantee: r.g, Rule: r.name, Sentence: r.sentence,
		Last: set, Nearest: nearest(set, a),
	}
}

// nearest returns the actions that the states of set allow. The actions that differ least from
// action a come first. Calls are always possible, so they are useful only if a is a call.
func nearest(set []State, a Action) []Action {
	var all []Action
	for i := range set {
		for _, c := range Enabled(set[i], around(&set[i])) {
			if c.From == a.From && c.IsCall() == a.IsCall() && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Action) int { return unlike(x, a) - unlike(y, a) })
	return all[:min(len(all), maxNearest)]
}

// unlike returns how much two actions differ. Among actions of other kinds, a step of
// the loop is the most helpful to a reader and a failure the least.
func unlike(x, y Action) int {
	d := 0
	if x.Kind != y.Kind {
		d += 8
	}
	if y.Body != (Body{}) && x.Body != y.Body {
		d += 4
	}
	switch {
	case failures.has(x.Kind):
		d += 2
	case !loopSteps.has(x.Kind):
		d++
	}
	return d
}

// around returns bounds that allow one more body of each kind in s, and every action
// except ExecuteLazy and the periodic calls.
func around(s *State) Bounds {
	count := func(k Op) int {
		n := 1
		for i := range s.Ledger {
			n += one(s.Ledger[i].Kind == k)
		}
		return n
	}
	return Bounds{
		Config: s.Config, Producers: 1, Tasks: count(TaskBody), Tails: count(TailBody), Timers: count(TimerBody), Hooks: count(HookBody),
		FDs: count(FDBody), Channels: count(ChannelBody), Lost: true,
		Quiet: true, Timeout: true, Graceful: true, Shutdown: true, InBody: true, Panics: true, Cancel: true,
		StartFailures: true, LoopFailure: true, Observe: true,
	}
}
