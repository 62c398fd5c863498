package netty

import (
	"slices"

	"eventide/model"
)

func (c *contract) loop() {
	c.lastEnd = c.now
	for {
		if can := c.able(); len(can) > 0 {
			can[c.pick(len(can))]()
			continue
		}
		until := far
		for _, b := range c.timers() {
			until = min(until, b.deadline)
		}
		switch c.m.Phase {
		case model.ShuttingDown:
			until = max(c.calledAt, c.lastEnd) + c.quiet
			if c.now >= until {
				c.do(model.Action{Kind: model.StepQuietElapses}) // not allowed without a quiet period
				c.must(model.Action{Kind: model.StepLoopCloses})
				continue
			}
			c.tick(until, -until-2*far)
		case model.Shutdown:
			c.must(model.Action{Kind: model.StepDone})
			return
		}
		c.woken, c.dead = false, 0
		if !c.park(func() bool { return c.woken }, until) {
			return // no shutdown call will come
		}
	}
}

// pick chooses one of n: the first in the fixed order, and otherwise any.
func (c *contract) pick(n int) int {
	if c.rng == nil {
		return 0
	}
	return c.rng.IntN(n)
}

// timers returns the timers that wait, in the order of the calls.
func (c *contract) timers() (waiting []*submitted) {
	for _, t := range c.m.Timers {
		if t.Status <= model.TimerDoomed {
			waiting = append(waiting, c.bodies[model.TimerNo(t.ID)])
		}
	}
	return waiting
}

// able returns what the loop may do next: begin the first body of each kind, drop a
// cancelled task, or end the timers that the shutdown has cancelled. In the fixed order
// the timers end first, but after the hooks that were added before the shutdown call.
func (c *contract) able() (can []func()) {
	var first []model.Body
	if len(c.m.Hooks) > 0 {
		first = append(first, model.HookNo(c.m.Hooks[0].ID))
	}
	if len(c.m.Queue) > 0 {
		first = append(first, model.Task(c.m.Queue[0]))
	}
	var timer *submitted
	for _, b := range c.timers() {
		if timer == nil || b.deadline < timer.deadline {
			timer = b
		}
	}
	if timer != nil && timer.deadline <= c.now {
		first = append(first, timer.Body)
	}
	if len(c.m.Tails) > 0 {
		first = append(first, model.Tail(c.m.Tails[0]))
	}
	purge := 0 // the place of purge
	for _, b := range first {
		drop := model.Action{Kind: model.StepDiscard, Body: b}
		switch {
		case len(model.Next(c.m, model.Action{Kind: model.StepBegin, Body: b})) > 0:
			can = append(can, func() { c.run(c.bodies[b]) })
			if b.Kind == model.HookBody && c.early[c.bodies[b].step.Label] {
				purge = 1
			}
		case b.Kind == model.TaskBody && len(model.Next(c.m, drop)) > 0:
			can = append(can, func() { c.must(drop) })
		}
	}
	if slices.ContainsFunc(c.m.Timers, func(t model.Timer) bool { return t.Status == model.TimerDoomed }) {
		can = slices.Insert(can, purge, c.purge)
	}
	return can
}

// purge ends the timers that the shutdown has cancelled (CancelTimers).
func (c *contract) purge() {
	for _, b := range c.timers() {
		if c.do(model.Action{Kind: model.StepTimerDies, Body: b.Body}) {
			b.status = cancelled
		}
	}
}

// run runs a body.
func (c *contract) run(b *submitted) {
	c.must(model.Action{Kind: model.StepBegin, Body: b.Body})
	outcome := model.Normal
	if b.step.Op == opHold {
		for c.releases < b.hold && c.next() != far {
			c.one()
		}
	} else {
		c.begin(b.step.Label)
		for _, next := range b.step.Body {
			if c.call(next, true) {
				outcome = model.Panicked
				break
			}
		}
	}
	c.must(model.Action{Kind: model.StepEnd, Body: b.Body, Outcome: outcome})
	c.lastEnd = c.now
	switch {
	case b.Kind != model.TimerBody || outcome != model.Normal || b.step.Op == opSchedule:
		b.status = after(outcome != model.Normal)
	case c.do(model.Action{Kind: model.StepTimerDies, Body: b.Body}) || !slices.Contains(c.timers(), b):
		b.status = cancelled
	default:
		b.deadline += b.step.B
		if b.step.Op == opDelay {
			b.deadline = c.now + b.step.B
		}
		c.tick(b.deadline, b.origin)
	}
	c.notify(b)
}
