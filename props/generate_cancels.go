package props

import (
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// cancelledTimer schedules a timer, and cancels it from outside or from its own body: while it waits,
// while it runs, or in a shutdown that waits for nothing else, and which may then end earlier (G8, G10).
func (g *generator) cancelledTimer() []Step {
	ops := []history.Op{history.OpSchedule, history.OpFixedDelay, history.OpFixedRate}
	s := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "cancelled timer"), ID: g.newID(), Wait: g.duration("scheduled at"), Delay: g.duration("delay"), Body: &Script{}}
	cancel := Step{Op: history.OpCancel, Target: s.ID}
	if s.Op != history.OpSchedule {
		s.Period = 5*time.Millisecond + g.duration("period")
		if g.chance(3, "cancels itself") {
			s.Body.Steps = []Step{cancel}
		}
	}
	if s.Op != history.OpFixedRate && g.chance(2, "takes time") { // fixed-rate runs that are late would follow without a pause
		s.Body.Sleep = g.duration("sleep")
	}
	g.timers++
	g.submitted(s)
	steps := []Step{s}
	if g.chance(2, "in a shutdown") {
		steps = append(steps, Step{Op: history.OpShutdownGracefully, Quiet: g.duration("quiet"), Timeout: time.Second})
	}
	cancel.Wait = g.duration("cancelled at")
	return append(steps, cancel)
}

// movedInPlace schedules a timer, and moves it to the deadline that it has, while the loop may sleep
// until then: an exact tie, which nobody needs to be woken for (G12).
func (g *generator) movedInPlace() []Step {
	later, left := time.Duration(1+g.one(3, "later"))*time.Millisecond, g.duration("left")
	s := Step{Op: history.OpSchedule, ID: g.newID(), Wait: g.duration("moved at"), Delay: later + left, Body: &Script{}}
	g.submitted(s)
	return []Step{s, {Op: history.OpReset, Target: s.ID, Wait: later, Delay: left}}
}
