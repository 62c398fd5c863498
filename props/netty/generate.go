package netty

import "math/rand/v2"

// Slack is the least distance, in milliseconds, of two times of a program that decide its
// outcome and have no defined order. A busy machine could swap events that are closer.
const Slack = 9

// longest is the longest duration of a program, in milliseconds.
const longest = 1200

// Generate returns the program for a seed and a number, and how many programs it rejected
// first. It rejects a program whose outcome the contract leaves open, with times closer
// than Slack, or without an end.
func Generate(seed uint64, id int) (*Program, int) {
	rng := rand.New(rand.NewPCG(seed, uint64(id)))
	for thrown := 0; ; thrown++ {
		g := generator{rng: rng}
		p := g.program(id)
		if usable(p) {
			return p, thrown
		}
	}
}

// usable reports whether the outcome of p is settled, and p is short.
func usable(p *Program) bool { return settled(p, longest) }

// settled reports whether p ends within the given number of milliseconds, with the same
// outcome in all variants.
func settled(p *Program, within int) bool {
	r := runReference(p)
	if !sound(p, r.world, r.state == 4) || r.now > within {
		return false
	}
	first := runContract(p, 0)
	want := outcomeOf(p, first.trace, first.early)
	for v := range variant(variants) {
		c := runContract(p, v)
		if !sound(p, c.world, c.ended) || len(want.differences("", outcomeOf(p, c.trace, first.early), "")) > 0 {
			return false
		}
	}
	return true
}

func sound(p *Program, w *world, ended bool) bool {
	if !ended || w.slack() < Slack {
		return false
	}
	for _, s := range p.Steps {
		if s.Op != opHold {
			continue
		}
		for _, tok := range w.trace.Outer {
			if tok == token(s.Label, "-") {
				return false // a refused hold does not block the loop
			}
		}
	}
	return true
}

type generator struct {
	rng    *rand.Rand
	nio    bool
	labels int
	timers []int // labels of timers and futures, which can be cancelled
	futs   []int
	hooks  []int
}

func (g *generator) program(id int) *Program {
	p := &Program{ID: id, Kind: "nio"}
	g.nio = g.chance(2, 3)
	if !g.nio {
		p.Kind = "default"
	}
	if g.chance(1, 12) {
		p.Fail = 1 + g.rng.IntN(2)
	}
	before, after := g.rng.IntN(5), g.rng.IntN(5)
	for range before {
		p.Steps = append(p.Steps, g.outside(false)...)
	}
	if !g.chance(1, 8) {
		p.Steps = append(p.Steps, g.stop()...)
	}
	for range after {
		p.Steps = append(p.Steps, g.outside(true)...)
	}
	// Every program ends with a graceful shutdown, sometimes followed by further calls.
	p.Steps = append(p.Steps, g.step(opGraceful, 0, 0))
	if g.chance(1, 2) {
		p.Steps = append(p.Steps, g.step(opPause, 230, 0), g.step(opAwait, 50, 0), g.submission(opExecute, 0))
		if len(g.futs) > 0 {
			p.Steps = append(p.Steps, g.step(opListen, g.pick(g.futs), 0))
		}
		if len(g.timers) > 0 {
			p.Steps = append(p.Steps, g.step(opCancel, g.pick(g.timers), 0))
		}
	}
	return p
}

func (g *generator) chance(n, of int) bool { return g.rng.IntN(of) < n }

func (g *generator) pick(from []int) int { return from[g.rng.IntN(len(from))] }

func (g *generator) step(op byte, a, b int) *Step {
	g.labels++
	return &Step{Op: op, Label: g.labels, A: a, B: b}
}

// stop is a shutdown call, sometimes while the loop is held, sometimes from a body.
func (g *generator) stop() []*Step {
	call := g.shutdownCall()
	switch g.rng.IntN(5) {
	case 0:
		s := g.step(opExecute, 0, 0)
		s.Body = []*Step{call}
		if g.chance(1, 2) {
			s.Body = append(s.Body, g.inside(1)...)
		}
		return []*Step{s}
	case 1:
		steps := []*Step{g.step(opHold, 0, 0)}
		for range g.rng.IntN(4) {
			steps = append(steps, g.simple(true))
		}
		steps = append(steps, call)
		for range g.rng.IntN(4) {
			steps = append(steps, g.simple(true))
		}
		return append(steps, g.step(opRelease, 0, 0))
	default:
		return []*Step{call}
	}
}

var (
	quiets   = []int{0, 0, 30, 50, 70, 150}
	timeouts = []int{0, 0, 30, 110, 210}
)

func (g *generator) shutdownCall() *Step {
	switch g.rng.IntN(12) {
	case 0:
		return g.step(opGraceful, -10, 30)
	case 1:
		return g.step(opGraceful, 50, 10)
	case 2, 3, 4:
		return g.step(opShutdown, 0, 0)
	default:
		q := g.pick(quiets)
		return g.step(opGraceful, q, q+g.pick(timeouts))
	}
}

// outside draws the next steps of the goroutine outside.
func (g *generator) outside(stopping bool) []*Step {
	switch g.rng.IntN(10) {
	case 0, 1:
		return []*Step{g.step(opPause, g.pick([]int{10, 30, 50, 90, 130}), 0)}
	case 2:
		if stopping {
			return []*Step{g.shutdownCall()}
		}
		fallthrough
	case 3:
		steps := []*Step{g.step(opHold, 0, 0)}
		for range 1 + g.rng.IntN(4) {
			steps = append(steps, g.simple(true))
		}
		return append(steps, g.step(opRelease, 0, 0))
	case 4:
		return []*Step{g.step(opQuery, 0, 0)}
	case 5:
		return []*Step{g.step(opAwait, g.pick([]int{10, 30, 50}), 0)}
	default:
		return []*Step{g.simple(false)}
	}
}

// simple draws one call from outside.
func (g *generator) simple(held bool) *Step {
	if held && g.chance(1, 6) {
		return g.step(opPause, g.pick([]int{10, 30, 50}), 0)
	}
	switch n := g.rng.IntN(20); {
	case n < 2 && len(g.timers) > 0:
		return g.step(opCancel, g.pick(g.timers), 0)
	case n < 3 && len(g.hooks) > 0:
		return g.step(opRemove, g.pick(g.hooks), 0)
	case n < 5 && len(g.futs) > 0:
		return g.step(opListen, g.pick(g.futs), 0)
	case n < 6:
		return g.step(opQuery, 0, 0)
	case n < 9:
		return g.submission(opHook, 2)
	case n < 13:
		return g.timer(2)
	case n < 15:
		return g.submission(opSubmit, 2)
	case n < 16 && g.nio: // a DefaultEventExecutor has no lazy tasks (R37)
		return g.submission(opLazy, 1)
	case n < 17 && g.nio:
		return g.submission(opTail, 2)
	default:
		return g.submission(opExecute, 3)
	}
}

// submission is a step with a body, nested at most depth deep.
func (g *generator) submission(op byte, depth int) *Step {
	s := g.step(op, 0, 0)
	switch op {
	case opHook:
		g.hooks = append(g.hooks, s.Label)
	case opSubmit:
		g.futs = append(g.futs, s.Label)
		g.timers = append(g.timers, s.Label)
	}
	if depth > 0 && g.chance(2, 3) {
		s.Body = g.inside(depth)
	}
	return s
}

func (g *generator) timer(depth int) *Step {
	s := g.submission(opSchedule, depth)
	s.A = g.pick([]int{-10, 0, 0, 10, 30, 50, 90})
	if g.chance(1, 3) {
		s.Op, s.B = opRate, g.pick([]int{0, 30, 50, 70})
		if g.chance(1, 2) {
			s.Op = opDelay
		}
	}
	g.timers = append(g.timers, s.Label)
	return s
}

// inside draws the steps of a body.
func (g *generator) inside(depth int) []*Step {
	var steps []*Step
	for range 1 + g.rng.IntN(3) {
		switch n := g.rng.IntN(24); {
		case n < 2:
			steps = append(steps, g.step(opQuery, 0, 0))
		case n < 3:
			steps = append(steps, g.step(opPause, g.pick([]int{10, 30, 50, 130}), 0))
		case n < 4:
			steps = append(steps, g.shutdownCall())
		case n < 5:
			steps = append(steps, g.step(opWait, g.pick([]int{10, 30}), 0))
		case n < 7 && len(g.timers) > 0:
			steps = append(steps, g.step(opCancel, g.pick(g.timers), 0))
		case n < 8 && len(g.futs) > 0:
			steps = append(steps, g.step(opListen, g.pick(g.futs), 0))
		case n < 9 && len(g.hooks) > 0:
			steps = append(steps, g.step(opRemove, g.pick(g.hooks), 0))
		case n < 12:
			steps = append(steps, g.submission(opHook, depth-1))
		case n < 16:
			steps = append(steps, g.timer(depth-1))
		case n < 17 && g.nio:
			steps = append(steps, g.submission(opTail, depth-1))
		case n < 18:
			steps = append(steps, g.submission(opSubmit, depth-1))
		case n < 20:
			return append(steps, g.step(opThrow, 0, 0))
		default:
			steps = append(steps, g.submission(opExecute, depth-1))
		}
	}
	return steps
}
