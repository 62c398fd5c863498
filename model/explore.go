package model

// Options observe and limit an exploration. The zero value does neither.
type Options struct {
	// Progress is called after each level of the search.
	Progress func(states, edges, depth int)
	// MaxStates stops the search once it has found more than MaxStates states; 0 means
	// no limit.
	MaxStates int
	// Stop is called before the steps from each state, with the number of known states.
	// If it returns true, the search ends and is not complete.
	Stop func(states int) bool

	_ struct{}
}

// Result is the result of an exploration.
type Result struct {
	States   int
	Edges    int
	Depth    int            // steps to the farthest state
	Complete bool           // every reachable state within the bounds was visited
	Taken    map[string]int // edges by kind of action
	// Violation is the first violation on a shortest path, or nil. The search stops
	// at it, so Complete is false.
	Violation *Violation
}

// Explore visits every state that is reachable within b, breadth first. It checks the
// invariants on each state and each step, that pending work can always proceed, and that
// after a shutdown call termination stays reachable without a further call, except End of an
// aborted channel. It returns when it has visited every state, has found a violation, or is
// stopped by o. It is safe for concurrent use.
func Explore(b Bounds, o Options) Result { return standard.explore(b, o) }

func (m *machine) explore(b Bounds, o Options) Result {
	e := &explorer{m: m, b: b, o: o, index: map[string]int32{}, must: make([]Action, 0, 16)}
	e.run()
	return e.result
}

// explorer is one breadth-first search. It keeps only the states of the current level
// and rebuilds paths from the parents.
type explorer struct {
	m      *machine
	b      Bounds
	o      Options
	result Result

	index   map[string]int32 // by key
	nodes   []node
	level   []int32 // the nodes of the current level
	states  []State // their states
	next    []int32
	later   []State
	taken   [numKinds]int
	back    []edge // steps that must happen (see mustHappen), for doneReachable
	actions []Action
	must    []Action
	key     []byte
}

// node records the step by which a state was first reached.
type node struct {
	parent int32
	phase  Phase
	action Action
}

type edge struct{ from, to int32 }

func (e *explorer) run() {
	defer e.finish()
	if !e.visit(New(e.b.Config), -1, Action{}) {
		return
	}
	for len(e.next) > 0 {
		e.level, e.next = e.next, e.level[:0]
		e.states, e.later = e.later, e.states[:0]
		for i := range e.states {
			if e.o.Stop != nil && e.o.Stop(len(e.nodes)) {
				return
			}
			if !e.expand(e.level[i], &e.states[i]) || e.o.MaxStates > 0 && len(e.nodes) > e.o.MaxStates {
				return
			}
		}
		if len(e.next) > 0 {
			e.result.Depth++
		}
		if e.o.Progress != nil {
			e.o.Progress(len(e.nodes), e.result.Edges, e.result.Depth)
		}
	}
	e.result.Complete = e.doneReachable()
}

func (e *explorer) finish() {
	e.result.States = len(e.nodes)
	e.result.Taken = map[string]int{}
	for k := range numKinds {
		if n := e.taken[k]; n > 0 {
			e.result.Taken[kindWord(k)] = n
		}
	}
}

// expand takes every enabled step from s. It returns false at a violation.
func (e *explorer) expand(at int32, s *State) bool {
	e.actions = e.m.enabled(s, &e.b, e.actions[:0])
	progress := false
	for _, a := range e.actions {
		successors, illegal := e.successors(s, a)
		if illegal != nil {
			return e.fail(at, a, &Violation{Guarantee: "G1", Sentence: "phases move forward, by the table", Detail: illegal.Error(), State: *s})
		}
		for _, t := range successors {
			e.result.Edges++
			e.taken[a.Kind]++
			if v := e.m.checkStep(s, &a, &t); v != nil {
				return e.fail(at, a, v)
			}
			if !e.visit(t, at, a) {
				return false
			}
			if to := e.index[string(e.key)]; to != at && mustHappen(s, &a) {
				progress = true
				e.back = append(e.back, edge{at, to})
			}
		}
	}
	if mustProceed(s) && !progress {
		return e.fail(at, Action{}, &Violation{Guarantee: "G3", Sentence: "pending work can proceed", Detail: "nothing can happen without a call", State: *s})
	}
	return true
}

// successors is next, but returns an illegal move as a finding instead of panicking.
func (e *explorer) successors(s *State, a Action) (to []State, illegal error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case illegalMove:
			illegal = p
		default:
			panic(p)
		}
	}()
	return e.m.next(s, a), nil
}

// visit checks and records a state unless it is known, and stores its key in e.key. It
// returns false at a violation.
func (e *explorer) visit(s State, parent int32, a Action) bool {
	e.key = s.appendKey(e.key[:0])
	if _, known := e.index[string(e.key)]; known {
		return true
	}
	id := int32(len(e.nodes))
	e.index[string(e.key)] = id
	e.nodes = append(e.nodes, node{parent, s.Phase, a})
	e.next = append(e.next, id)
	e.later = append(e.later, s)
	v := e.m.checkState(&s)
	if v == nil {
		v = e.m.checkCan(&s, e.must)
	}
	if v != nil {
		return e.fail(parent, a, v)
	}
	return true
}

// fail records v and returns false. v was found after action a from node at or, if a is the
// zero Action, at the node itself.
func (e *explorer) fail(at int32, a Action, v *Violation) bool {
	v.Path = e.path(at)
	if a != (Action{}) {
		v.Path = append(v.Path, a)
	}
	e.result.Violation = v
	return false
}

// mustHappen reports whether a must eventually occur if it stays enabled. Calls and failures
// need not occur, with one exception: an aborted channel must call End. A draining channel
// need not: the deadline may end the drain.
func mustHappen(s *State, a *Action) bool {
	if a.Kind == OpEnd {
		r := s.reg(a.Body)
		return r != nil && r.Asked == Abort && !r.Closed
	}
	return !a.IsCall() && !failures.has(a.Kind)
}

// mustProceed reports whether the executor must proceed by itself: a shutdown was called, or
// accepted work is pending.
func mustProceed(s *State) bool {
	if s.Phase >= ShuttingDown {
		return s.Phase < Terminated
	}
	return s.Running.Kind != NoBody || s.queued() > 0
}
