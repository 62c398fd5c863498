package props

import (
	"slices"

	"eventide/props/history"
)

// Minimise returns a smaller program that still violates. It removes actors, calls, the
// steps of bodies, and times, as long as violates returns true. A run shows one
// interleaving, so violates should run a program more than once. Rapid's own shrinking
// does not: it takes a program that fails only sometimes for a correct one, and stops.
func Minimise(p Program, violates func(Program) bool) Program {
	for again := true; again; {
		again = false
		for i := 0; ; i++ {
			smaller, ok := p.reduced(i)
			if !ok {
				break
			}
			if violates(smaller) {
				p, again = smaller, true
				i-- // the next reduction has taken this one's place
			}
		}
	}
	return p
}

// reduced returns the program after its i-th possible reduction, or false if there are
// fewer. Larger reductions come first.
func (p Program) reduced(i int) (Program, bool) {
	r := &reducer{at: i}
	p.Actors = r.actors(p.Actors)
	r.value(&p.Limit)
	r.value(&p.Retries)
	if p.Loop && r.hit() {
		p.Loop, p.Drain = false, 0
	}
	if len(p.Starts) > 0 && r.hit() {
		p.Starts = nil
	}
	return p, r.at < 0
}

// reducer walks a program and counts down to the reduction to make. It copies whatever it
// changes.
type reducer struct{ at int }

func (r *reducer) hit() bool {
	r.at--
	return r.at == -1
}

func (r *reducer) value(n *int) {
	if *n != 0 && r.hit() {
		*n = 0
	}
}

func (r *reducer) actors(list []Actor) []Actor {
	for i := range list {
		if r.hit() {
			return slices.Delete(slices.Clone(list), i, i+1)
		}
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Steps = r.steps(list[i].Steps)
	}
	return list
}

func (r *reducer) steps(list []Step) []Step {
	for i := range list {
		if r.hit() {
			return slices.Delete(slices.Clone(list), i, i+1)
		}
	}
	list = slices.Clone(list)
	for i := range list {
		r.step(&list[i])
	}
	return list
}

func (r *reducer) step(s *Step) {
	if s.Wait != 0 && r.hit() {
		s.Wait = 0
	}
	if s.Times > 1 && r.hit() {
		s.Times /= 2
	}
	if s.Drain != 0 && r.hit() {
		s.Drain = 0
	}
	if s.Linger != 0 && r.hit() {
		s.Linger = 0
	}
	r.value(&s.Bytes)
	if s.AskedEnd != 0 && r.hit() {
		s.AskedEnd = 0
	}
	if s.Op == history.OpSubmit && !s.Body.Listen && r.hit() {
		s.Op = history.OpExecute
	}
	if s.Body != nil {
		body := *s.Body
		s.Body = &body
		r.script(s.Body)
	}
}

func (r *reducer) script(s *Script) {
	s.Steps = r.steps(s.Steps)
	if s.Sleep != 0 && r.hit() {
		s.Sleep = 0
	}
	if s.Await && r.hit() {
		s.Await = false
	}
	if s.End != 0 && r.hit() {
		s.End, s.LastRun = 0, 0
	}
	r.value(&s.Again)
	if s.Listen && r.hit() {
		s.Listen, s.Listener = false, nil
	}
	if s.Listener != nil {
		listener := *s.Listener
		s.Listener = &listener
		r.script(s.Listener)
	}
}
