package interleave

import (
	"cmp"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/bare"
)

// program takes away parts of the program: whole callers first; then one caller makes
// the calls of two; then calls, and what bodies do.
func (m *minimiser) program() {
	first := m.best.Scenario
	switch {
	case first.Bare != nil:
		m.bare()
		return
	case first.Group != nil:
		props.MinimiseGroup(*first.Group, func(p props.GroupProgram) bool {
			sc := first
			sc.Group = &p
			return m.breaks(sc, searchPerProgram)
		})
		return
	}
	m.callers()
	props.Minimise(m.best.Scenario.Program, func(p props.Program) bool { return m.breaks(with(first, p), searchPerProgram) })
	m.callers()
	m.driver()
}

// driver has a caller make the shutdown call that the driver makes. That is a line more
// and a goroutine less, so it is kept only for that.
func (m *minimiser) driver() {
	if !m.census.Driver {
		return
	}
	sc := m.best.Scenario
	end := props.Step{Op: history.OpShutdownGracefully, Timeout: time.Second}
	m.most--
	for i, a := range sc.Program.Actors {
		p := sc.Program
		p.Actors = slices.Clone(p.Actors)
		p.Actors[i].Steps = append(slices.Clone(a.Steps), end)
		if m.breaks(with(sc, p), searchPerProgram) {
			return
		}
	}
	m.most++
}

func with(sc Scenario, p props.Program) Scenario {
	sc.Program = p
	return sc
}

// bare takes away parts of a program without a Tracer.
func (m *minimiser) bare() {
	for again := true; again; {
		again = slices.ContainsFunc(smallerBare(*m.best.Scenario.Bare), func(c bare.Config) bool {
			sc := m.best.Scenario
			sc.Bare = &c
			return m.breaks(sc, searchPerProgram)
		})
	}
}

// smallerBare are the programs that are a step smaller.
func smallerBare(c bare.Config) (list []bare.Config) {
	for _, change := range []func(*bare.Config){
		func(q *bare.Config) { q.Producers = max(1, q.Producers-1) }, func(q *bare.Config) { q.Tasks = max(1, q.Tasks-1) },
		func(q *bare.Config) { q.Nested = false }, func(q *bare.Config) { q.Graceful = false },
		func(q *bare.Config) { q.Await = false }, func(q *bare.Config) { q.Hook = false }, func(q *bare.Config) { q.Warm = false },
	} {
		q := c
		if change(&q); q != c {
			list = append(list, q)
		}
	}
	return list
}

// callers drops callers, and has one make the calls of two.
func (m *minimiser) callers() {
	for again := true; again; {
		sc := m.best.Scenario
		again = slices.ContainsFunc(fewerCallers(sc.Program), func(p props.Program) bool { return m.breaks(with(sc, p), searchPerProgram) })
	}
}

// fewerCallers are the programs with a caller less.
func fewerCallers(p props.Program) (list []props.Program) {
	for i := range p.Actors {
		q := p
		q.Actors = slices.Delete(slices.Clone(p.Actors), i, i+1)
		list = append(list, q)
	}
	for i, a := range p.Actors {
		for j, b := range p.Actors {
			if i == j {
				continue
			}
			for _, steps := range [][]props.Step{byTime(a.Steps, b.Steps), slices.Concat(a.Steps, b.Steps)} {
				q := p
				q.Actors = slices.Clone(p.Actors)
				q.Actors[i] = props.Actor{Steps: steps}
				q.Actors = slices.Delete(q.Actors, j, j+1)
				list = append(list, q)
			}
		}
	}
	return list
}

// byTime joins two scripts so that each call is made when it was, if calls take no time;
// of two at one instant that of the first.
func byTime(a, b []props.Step) []props.Step {
	type timed struct {
		at   time.Duration
		step props.Step
	}
	var all []timed
	for _, steps := range [][]props.Step{a, b} {
		at := time.Duration(0)
		for _, s := range steps {
			at += s.Wait
			all = append(all, timed{at, s})
		}
	}
	slices.SortStableFunc(all, func(x, y timed) int { return cmp.Compare(x.at, y.at) })
	joined, now := make([]props.Step, 0, len(all)), time.Duration(0)
	for _, t := range all {
		t.step.Wait, now = t.at-now, t.at
		joined = append(joined, t.step)
	}
	return joined
}
