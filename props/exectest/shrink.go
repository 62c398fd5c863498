package exectest

import "eventide/props/history"

// attempts is how often a smaller program is run before it counts as correct: a breach by
// a race shows only in some runs.
const attempts = 5

// Bounds of the search for a smaller program: how many it tries, and how many calls their
// runs make together. The second bound is for programs of hundreds of calls.
const (
	maxShrinks     = 400
	maxShrinkCalls = 60_000
)

// shrink makes the program smaller, one change at a time, as long as it still breaks the
// guarantee. It returns the smallest one, with its finding.
func (cl *clause) shrink(guarantee string, factory func() Subject, c *config, p program, found finding) (program, finding) {
	left, calls := maxShrinks, maxShrinkCalls
	for smaller := true; smaller; {
		smaller = false
		for i := 0; i < p.changes() && left > 0 && calls > 0; i++ {
			left--
			candidate := p.clone()
			candidate.change(i)
			if f, broken := cl.stillBroken(guarantee, factory, c, candidate, &calls); broken {
				p, found, smaller = candidate, f, true
				i--
			}
		}
	}
	return p, found
}

// stillBroken runs the program until it breaks the guarantee, or often enough to count as
// correct. It takes the calls that the runs make from calls.
func (cl *clause) stillBroken(guarantee string, factory func() Subject, c *config, p program, calls *int) (finding, bool) {
	if !p.wellFormed() {
		return finding{}, false
	}
	for range attempts {
		p.each(func(*step) { *calls-- })
		if f := cl.judge(c, execute(factory, p, c, cl.counts)); f.breaks(guarantee) && !f.run.hung {
			return f, true
		}
	}
	return finding{}, false
}

// wellFormed reports whether the program still shuts down; otherwise there is nothing to
// judge.
func (p program) wellFormed() bool {
	shuts := false
	p.each(func(s *step) { shuts = shuts || s.op.Shuts() })
	return shuts
}

// changes returns the number of ways to make the program smaller by one step.
func (p program) changes() int {
	n := 0
	for i := range p.actors {
		n += changesIn(p.actors[i])
	}
	return n
}

func changesIn(steps []step) int {
	n := 0
	for i := range steps {
		n += changesOf(&steps[i]) + changesIn(steps[i].body.then)
	}
	return n
}

// changesOf counts leaving the step out, and each part of it that can be reduced.
func changesOf(s *step) int { return 1 + len(s.reducible()) }

// reducible returns functions that each make the step simpler.
func (s *step) reducible() []func() {
	var less []func()
	if s.pause > 0 {
		less = append(less, func() { s.pause = 0 })
	}
	if s.yields > 0 {
		less = append(less, func() { s.yields = 0 })
	}
	if s.body.takes > 0 {
		less = append(less, func() { s.body.takes = 0 })
	}
	if s.body.ends.Abrupt() {
		less = append(less, func() { s.body.ends = history.Normal })
	}
	return less
}

// change applies the i-th change in place.
func (p program) change(i int) {
	for a := range p.actors {
		var done bool
		if p.actors[a], i, done = changeIn(p.actors[a], i); done {
			return
		}
	}
}

// changeIn applies the i-th change of the steps, or returns the rest of i.
func changeIn(steps []step, i int) ([]step, int, bool) {
	for k := range steps {
		s := &steps[k]
		less := s.reducible()
		switch {
		case i == 0:
			return append(steps[:k:k], steps[k+1:]...), 0, true
		case i <= len(less):
			less[i-1]()
			return steps, 0, true
		}
		i -= 1 + len(less)
		var done bool
		if s.body.then, i, done = changeIn(s.body.then, i); done {
			return steps, 0, true
		}
	}
	return steps, i, false
}
