package exectest

import (
	"eventide/props/history"
	"eventide/props/internal/shrink"
)

// attempts is how often a smaller program is run before it counts as correct: a breach by
// a race shows only in some runs.
const attempts = 5

// Bounds of the search for a smaller program: the programs that it tries, and the calls
// of all their runs. The second bound is for programs of hundreds of calls.
const (
	maxShrinks     = 400
	maxShrinkCalls = 60_000
)

// shrink makes the program smaller, one reduction at a time, as long as it still breaks the
// guarantee. It returns the smallest one, with its finding.
func (cl *clause) shrink(guarantee string, factory func() Subject, c *config, p program, found finding) (program, finding) {
	left, calls := maxShrinks, maxShrinkCalls
	p = shrink.Least(p, func(pick *shrink.Pick, p program) program { return p.reduced(pick) }, func(smaller program) bool {
		if left--; left < 0 || calls <= 0 {
			return false
		}
		f, broken := cl.stillBroken(guarantee, factory, c, smaller, &calls)
		if broken {
			found = f
		}
		return broken
	})
	return p, found
}

// stillBroken runs the program until it breaks the guarantee, or often enough to count as
// correct. It subtracts the number of calls of its runs from calls.
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

// reduced offers to leave out each step, and each part of a step that can be reduced. An actor
// stays: the number of a goroutine is its name in the report.
func (p program) reduced(pick *shrink.Pick) program {
	var q program
	for _, steps := range p.actors {
		q.actors = append(q.actors, reducedSteps(pick, steps))
	}
	return q
}

func reducedSteps(pick *shrink.Pick, steps []step) []step {
	return shrink.List(pick, steps, func(s *step) {
		shrink.Zero(pick, &s.pause)
		shrink.Zero(pick, &s.yields)
		shrink.Zero(pick, &s.body.takes)
		if s.body.ends.Abrupt() && pick.Hit() {
			s.body.ends = history.Normal
		}
		s.body.then = reducedSteps(pick, s.body.then)
	})
}
