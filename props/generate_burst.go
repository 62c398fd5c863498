package props

import (
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// burst returns steps that call for a shutdown while all kinds of work wait. While a body blocks
// the loop, it adds hooks, timers, tail tasks and tasks; then an actor or one of the bodies makes
// the shutdown call, and adds more work. The bodies call the executor. Such programs show
// whether the call takes effect before the next body begins, and whether the kinds of work run in
// the right order (G6, G7).
func (g *generator) burst() []Step {
	steps := []Step{{Op: history.OpExecute, ID: g.newID(), Wait: g.duration("burst at"), Body: &Script{Sleep: time.Millisecond}}}
	for range 2 + g.one(5, "before the call") {
		steps = append(steps, g.inBurst())
	}
	call := []Step{g.burstCall()}
	for range g.one(4, "behind the call") {
		call = append(call, g.inBurst())
	}
	if by := g.one(len(steps)+1, "called by"); by < len(steps) {
		body := steps[by].Body // also of a timer or a hook, which may never run
		body.Steps = append(body.Steps, call...)
		return steps
	}
	return append(steps, call...)
}

// hookChain is a hook that adds a hook that adds another one, and shutdown calls before, between and
// after them.
func (g *generator) hookChain() []Step {
	var steps []Step
	for range 3 {
		hook := Step{Op: history.OpAddHook, ID: g.newID(), Body: &Script{Steps: steps}}
		g.hooks = append(g.hooks, hook.ID)
		steps = []Step{hook}
		if g.chance(2, "shutdown in between") {
			steps = append(steps, g.burstCall())
		}
	}
	return steps
}

// burstCall draws the shutdown call.
func (g *generator) burstCall() Step {
	if g.chance(4, "at once") {
		return Step{Op: history.OpShutdown}
	}
	quiet := g.duration("quiet")
	return Step{Op: history.OpShutdownGracefully, Quiet: quiet, Timeout: quiet + 100*time.Millisecond}
}

// inBurst draws one hook, timer, tail task or task of a burst, with the steps of its body.
func (g *generator) inBurst() Step {
	ops := []history.Op{
		history.OpExecute, history.OpAfterIteration, history.OpAddHook, history.OpSchedule,
		history.OpExecute, history.OpAfterIteration, history.OpAddHook, history.OpSubmit,
	}
	s := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "in the burst"), Body: &Script{}}
	if g.pool {
		s.Op = forPool(s.Op)
	}
	if s.Op == history.OpSchedule {
		if g.timers++; g.timers > mostTimers && g.policy != history.CancelTimers {
			s.Op = history.OpExecute
		}
	}
	switch g.one(4, "its body") {
	case 1:
		s.Body.Steps = []Step{{Op: history.OpState}}
	case 2:
		s.Body.Steps = []Step{{Op: history.OpCancel, Target: g.pick(g.cancels, "of")}}
	case 3:
		later := Step{Op: history.OpAfterIteration, ID: g.newID(), Body: &Script{}}
		if g.pool {
			later.Op = forPool(later.Op)
		}
		s.Body.Steps = []Step{later}
	}
	s.ID = g.newID()
	g.submitted(s)
	switch s.Op {
	case history.OpSchedule:
		s.Delay = 5*time.Millisecond + g.duration("delay")
	case history.OpAddHook:
		g.hooks = append(g.hooks, s.ID)
	}
	return s
}
