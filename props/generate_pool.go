package props

import (
	"eventide/props/history"

	"pgregory.net/rapid"
)

// blocked gives a pool more bodies that take time than it has workers, of several kinds, and
// changes the number of workers meanwhile, perhaps after a shutdown call.
func (g *generator) blocked() []Step {
	var steps []Step
	for range 3 + g.one(6, "work for a pool") {
		steps = append(steps, g.blocking())
	}
	for range g.one(4, "then") {
		switch g.one(3, "what next") {
		case 0:
			steps = append(steps, g.resize())
		case 1:
			steps = append(steps, g.burstCall())
		default:
			steps = append(steps, g.blocking())
		}
	}
	for i := range steps {
		if g.chance(4, "waits") {
			steps[i].Wait = g.duration("wait")
		}
	}
	return steps
}

// blocking is a body that takes time.
func (g *generator) blocking() Step {
	ops := []history.Op{history.OpExecute, history.OpExecute, history.OpSubmit, history.OpExecuteLazy, history.OpAddHook, history.OpSchedule}
	s := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "blocking"), ID: g.newID(), Body: &Script{Sleep: g.duration("sleep")}}
	if s.Op == history.OpSchedule {
		if g.timers++; g.timers > mostTimers && g.policy != history.CancelTimers {
			s.Op = history.OpExecute
		} else {
			s.Delay = g.duration("delay")
		}
	}
	switch g.one(6, "its body") {
	case 0:
		s.Body.Steps = []Step{g.resize()}
	case 1:
		s.Body.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
	}
	g.submitted(s)
	if s.Op == history.OpAddHook {
		g.hooks = append(g.hooks, s.ID)
	}
	return s
}

func (g *generator) resize() Step {
	return Step{Ask: AskResize, Size: rapid.SampledFrom([]int{1, 2, 3, 4}).Draw(g.T, "to")}
}
