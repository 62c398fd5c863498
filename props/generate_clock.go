package props

import (
	"eventide/props/history"

	"pgregory.net/rapid"
)

// clock decides which clock the program has.
func (g *generator) clock(p *Program) {
	switch n := g.one(24, "clock"); {
	case n < 16:
	case n < 20:
		p.Clock = ClockSystem
	case n < 22 || !g.profile.Wide:
		p.Clock = ClockRounded
	default:
		g.clocked = true
		g.jump = rapid.SampledFrom([]Fault{FaultBack, FaultAhead}).Draw(g.T, "jump")
	}
}

// clockStep draws a fault of the clock. Of those that may end the executor a program has one, and a
// failure cancels timers, whatever the policy.
func (g *generator) clockStep(depth int) Step {
	s := Step{Env: EnvClock, Fault: g.jump}
	if depth == 0 && g.chance(2, "waits") {
		s.Wait = g.duration("wait")
	}
	if g.policy != history.CancelTimers || g.broken || g.chance(3, "jumps") {
		return s
	}
	s.Fault = rapid.SampledFrom(faultsOfClocks).Draw(g.T, "fault of the clock")
	if s.Fault.jumps() {
		s.Fault = g.jump
	} else {
		g.broken = true
	}
	return s
}
