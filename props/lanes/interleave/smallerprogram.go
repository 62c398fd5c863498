package interleave

import (
	"cmp"
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/internal/shrink"
	"eventide/props/lanes/interleave/bare"
)

// program removes parts of the program: callers, and lets one caller make the calls of
// two; then calls, and steps of bodies; then the driver.
func (m *minimiser) program() {
	first := m.best.Scenario
	switch {
	case first.Bare != nil:
		m.bare()
		m.driver()
		return
	case first.Group != nil:
		props.MinimiseGroup(*first.Group, func(p props.GroupProgram) bool {
			sc := first
			sc.Group = &p
			return m.breaks(sc, searchPerProgram)
		})
		m.driver()
		return
	}
	m.callers()
	props.Minimise(m.best.Scenario.Program, func(p props.Program) bool { return m.breaks(with(first, p), searchPerProgram) })
	m.callers()
	m.driver()
}

// driver merges the driver, if it counts, with a caller. The program does not become
// shorter, so the result is kept only if it has one goroutine less.
func (m *minimiser) driver() {
	if !m.census.Driver {
		return
	}
	m.most--
	if !slices.ContainsFunc(withoutDriver(m.best.Scenario), func(sc Scenario) bool { return m.breaks(sc, searchPerProgram) }) {
		m.most++
	}
}

// withoutDriver are the scenarios in which a caller makes the calls of the driver, or the
// driver those of a caller.
func withoutDriver(sc Scenario) (list []Scenario) {
	switch {
	case sc.Bare != nil:
		main, warm := *sc.Bare, *sc.Bare
		main.Main = true
		warm.Warm, warm.Producers = true, warm.Producers-1 // the start of the loop replaces the first producer
		for _, c := range []bare.Config{main, warm} {
			if c.Producers > 0 && c != *sc.Bare {
				q := sc
				q.Bare = &c
				list = append(list, q)
			}
		}
	case sc.Group != nil:
		if !sc.Group.Main {
			g, q := *sc.Group, sc
			g.Main = true
			q.Group = &g
			list = append(list, q)
		}
	default:
		for _, p := range mainPrograms(sc.Program) {
			list = append(list, with(sc, p))
		}
	}
	return list
}

func mainPrograms(p props.Program) (list []props.Program) {
	for i, a := range p.Actors {
		q := p
		q.Actors = append(slices.Delete(slices.Clone(p.Actors), i, i+1), a)
		q.Main = true
		if !p.Main || i != len(p.Actors)-1 {
			list = append(list, q)
		}
	}
	end := props.Step{Op: history.OpShutdownGracefully, Timeout: time.Second}
	for i, a := range p.Actors {
		q := p
		q.Actors = slices.Clone(p.Actors)
		q.Actors[i].Steps = append(slices.Clone(a.Steps), end)
		list = append(list, q)
	}
	return list
}

func with(sc Scenario, p props.Program) Scenario {
	sc.Program = p
	return sc
}

// bare takes away parts of a program without a Tracer.
func (m *minimiser) bare() {
	reduce := func(pick *shrink.Pick, c bare.Config) bare.Config { return shrink.One(pick, c, smallerBare(c)) }
	shrink.Least(*m.best.Scenario.Bare, reduce, func(c bare.Config) bool {
		sc := m.best.Scenario
		sc.Bare = &c
		return m.breaks(sc, searchPerProgram)
	})
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

// callers removes callers, and lets one caller make the calls of two.
func (m *minimiser) callers() {
	reduce := func(pick *shrink.Pick, p props.Program) props.Program { return shrink.One(pick, p, fewerCallers(p)) }
	first := m.best.Scenario
	shrink.Least(first.Program, reduce, func(p props.Program) bool { return m.breaks(with(first, p), searchPerProgram) })
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

// byTime joins two scripts. If calls take no time, each call is made at the same time as
// before; of two calls at one time that of the first script comes first.
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
