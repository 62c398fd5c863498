package model

import "slices"

// path returns the actions on the first path found to a node, which is a shortest one.
func (e *explorer) path(at int32) []Action {
	var back []Action
	for ; at > 0; at = e.nodes[at].parent {
		back = append(back, e.nodes[at].action)
	}
	slices.Reverse(back)
	return back
}

// doneReachable checks that every state after a shutdown call leads to a terminated
// state by steps that must happen (see mustHappen). It walks these steps backwards from the
// terminated states.
func (e *explorer) doneReachable() bool {
	into := make([]int32, len(e.nodes)+1) // after the summation, from[into[n]:into[n+1]] are the sources of the edges into n
	for _, b := range e.back {
		into[b.to]++
	}
	sum := int32(0)
	for n := range into {
		sum, into[n] = sum+into[n], sum
	}
	from, fill := make([]int32, len(e.back)), slices.Clone(into)
	for _, b := range e.back {
		from[fill[b.to]] = b.from
		fill[b.to]++
	}

	reached := make([]bool, len(e.nodes))
	var todo []int32
	for n := range e.nodes {
		if e.nodes[n].phase == Terminated {
			reached[n] = true
			todo = append(todo, int32(n))
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, f := range from[into[n]:into[n+1]] {
			if !reached[f] {
				reached[f] = true
				todo = append(todo, f)
			}
		}
	}
	for n := range e.nodes {
		if e.nodes[n].phase >= ShuttingDown && !reached[n] {
			return e.fail(int32(n), Action{}, &Violation{Guarantee: "G15", Sentence: "after a shutdown call done stays reachable",
				Detail: "no path without a call or a failure leads from this state to done", State: e.replay(int32(n))})
		}
	}
	return true
}

// replay returns a state at the end of the path to a node. The explorer does not keep
// states, so replay repeats the steps.
func (e *explorer) replay(at int32) State {
	set := []State{New(e.b.Config)}
	for _, a := range e.path(at) {
		set = e.m.step(set, a)
	}
	return set[0]
}
