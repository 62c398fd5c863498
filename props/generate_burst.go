package props

import (
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// burst is a shutdown call in the midst of work: behind a body that keeps the loop
// there are hooks, timers, tail tasks and tasks, then comes the call, or a body makes
// it, and behind it more of them. Their bodies look at the executor. What a call must
// have brought about before the next body, and what may not pass what, shows where all
// of it is there at once (G6, G7).
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
		body := steps[by].Body // a timer or a hook too, though its turn may not come
		body.Steps = append(body.Steps, call...)
		return steps
	}
	return append(steps, call...)
}

// burstCall draws the shutdown call.
func (g *generator) burstCall() Step {
	if g.chance(4, "at once") {
		return Step{Op: history.OpShutdown}
	}
	quiet := g.duration("quiet")
	return Step{Op: history.OpShutdownGracefully, Quiet: quiet, Timeout: quiet + 100*time.Millisecond}
}

// inBurst draws one thing that waits for the loop, and what its body does.
func (g *generator) inBurst() Step {
	ops := []history.Op{
		history.OpExecute, history.OpAfterIteration, history.OpAddHook, history.OpSchedule,
		history.OpExecute, history.OpAfterIteration, history.OpAddHook, history.OpSubmit,
	}
	s := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "in the burst"), Body: &Script{}}
	if s.Op == history.OpSchedule {
		if g.timers++; g.timers > mostTimers && g.policy != history.CancelTimers {
			s.Op = history.OpExecute
		}
	}
	switch g.one(4, "its body") {
	case 1:
		s.Body.Steps = []Step{{Op: history.OpState}}
	case 2:
		s.Body.Steps = []Step{{Op: history.OpCancel, Target: g.pick(g.ids, "of")}}
	case 3:
		s.Body.Steps = []Step{{Op: history.OpAfterIteration, ID: g.newID(), Body: &Script{}}}
	}
	s.ID = g.newID()
	switch s.Op {
	case history.OpSchedule:
		s.Delay = 5*time.Millisecond + g.duration("delay")
	case history.OpAddHook:
		g.hooks = append(g.hooks, s.ID)
	}
	return s
}
