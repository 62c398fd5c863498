package props

import (
	"eventide/props/history"
	"eventide/props/internal/shrink"
)

// Minimise returns a smaller program that still violates. It removes actors, calls, the
// steps of bodies, and times, as long as violates returns true. A run shows one
// interleaving, so violates should run a program more than once. Rapid's own shrinking
// does not: it takes a program that fails only sometimes for a correct one, and stops.
func Minimise(p Program, violates func(Program) bool) Program {
	return shrink.Least(p, reduceProgram, violates)
}

// reduceProgram offers the reductions of a program, the larger ones first.
func reduceProgram(pick *shrink.Pick, p Program) Program {
	p.Actors = shrink.List(pick, p.Actors, func(a *Actor) { a.Steps = reduceSteps(pick, a.Steps) })
	p.Handling, p.Spawning = reduceSteps(pick, p.Handling), reduceSteps(pick, p.Spawning)
	shrink.Zero(pick, &p.Limit)
	shrink.Zero(pick, &p.Retries)
	shrink.Zero(pick, &p.Jitter)
	if p.Loop && pick.Hit() {
		p.Loop, p.Drain, p.Ratio, p.Spin = false, 0, 0, 0
	}
	shrink.Zero(pick, &p.Ratio)
	shrink.Zero(pick, &p.Spin)
	shrink.Zero(pick, &p.Scripted)
	shrink.Zero(pick, &p.Clock)
	shrink.Zero(pick, &p.Handler)
	shrink.Zero(pick, &p.Pool)
	if p.Pool > 1 && pick.Hit() {
		p.Pool = 1
	}
	if len(p.Starts) > 0 && pick.Hit() {
		p.Starts = nil
	}
	return p
}

func reduceSteps(pick *shrink.Pick, steps []Step) []Step {
	return shrink.List(pick, steps, func(s *Step) {
		shrink.Zero(pick, &s.Wait)
		if s.Times > 1 && pick.Hit() {
			s.Times /= 2
		}
		shrink.Zero(pick, &s.Drain)
		shrink.Zero(pick, &s.Linger)
		shrink.Zero(pick, &s.Bytes)
		shrink.Zero(pick, &s.AskedEnd)
		if s.Op == history.OpSubmit && !s.Body.Listen && pick.Hit() {
			s.Op = history.OpExecute
		}
		if s.Asked != nil && pick.Hit() {
			s.Asked = nil
		}
		s.Body, s.Asked = reduceScript(pick, s.Body), reduceScript(pick, s.Asked)
	})
}

func reduceScript(pick *shrink.Pick, script *Script) *Script {
	if script == nil {
		return nil
	}
	s := *script
	s.Steps = reduceSteps(pick, s.Steps)
	shrink.Zero(pick, &s.Sleep)
	shrink.Zero(pick, &s.Await)
	if s.End != 0 && pick.Hit() {
		s.End, s.LastRun = 0, 0
	}
	shrink.Zero(pick, &s.Again)
	if s.Listen && pick.Hit() {
		s.Listen, s.Listener = false, nil
	}
	s.Listener = reduceScript(pick, s.Listener)
	return &s
}
