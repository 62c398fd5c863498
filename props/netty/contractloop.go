package netty

func (c *contract) loop() {
	c.lastEnd = c.now
	for {
		if c.runOne() {
			continue
		}
		until := far
		if len(c.timers) > 0 {
			until = c.timers[0].deadline
		}
		switch {
		case c.state == 2:
			until = max(c.calledAt, c.lastEnd) + c.quiet
			if c.now >= until {
				c.closeNow()
				continue
			}
			c.tick(until, -until-2*far)
		case c.state == 3:
			c.state = 4
			return
		}
		c.woken, c.dead = false, 0
		if !c.park(func() bool { return c.woken }, until) {
			return // no shutdown call will come
		}
	}
}

// maybe is false in the fixed order, and otherwise random.
func (c *contract) maybe() bool { return c.rng != nil && c.rng.IntN(2) == 0 }

// runOne runs one body that may begin now, or cancels timers. It returns false if there
// is nothing to do.
func (c *contract) runOne() bool {
	if c.hooksDue() && c.early[c.hooks[0].step.Label] {
		if c.purgeDue && c.maybe() {
			c.purge()
		}
		c.runHook() // before any later work (G6)
		return true
	}
	var can []func()
	if c.purgeDue {
		can = append(can, c.purge)
	}
	if c.hooksDue() {
		can = append(can, c.runHook)
	}
	if len(c.queue) > 0 {
		can = append(can, c.runTask)
	}
	if c.due() && !c.called {
		can = append(can, c.runTimer)
	}
	if len(c.tails) > 0 {
		can = append(can, c.runTail)
	}
	switch {
	case len(can) == 0:
		return false
	case c.rng == nil:
		can[0]()
	default:
		can[c.rng.IntN(len(can))]()
	}
	return true
}

func (c *contract) due() bool { return len(c.timers) > 0 && c.timers[0].deadline <= c.now }

func (c *contract) hooksDue() bool {
	return c.called && len(c.hooks) > 0 && c.begun >= c.taskMark && c.tailsBegun >= c.tailMark
}

func (c *contract) runHook() {
	h := c.hooks[0]
	c.hooks = c.hooks[1:]
	c.inHook = h
	c.body(h.step)
	c.inHook = nil
}

func (c *contract) runTail() {
	s := c.tails[0]
	c.tails = c.tails[1:]
	c.tailsBegun++
	c.body(s)
}

func (c *contract) runTask() {
	s := c.queue[0]
	c.queue = c.queue[1:]
	c.begun++
	c.task(s)
}

func (c *contract) task(s *Step) {
	switch s.Op {
	case opHold:
		number := c.holds[0]
		c.holds = c.holds[1:]
		for c.releases < number && c.next() != far {
			c.one()
		}
		c.endBody()
	case opSubmit:
		f := c.by[s.Label]
		if f.status == cancelled {
			return
		}
		f.running = true
		f.status = after(c.body(s))
		c.notify(f)
	default:
		c.body(s)
	}
}

func (c *contract) runTimer() {
	t := c.timers[0]
	c.timers = c.timers[1:]
	t.running = true
	threw := c.body(t.step)
	t.running = false
	switch {
	case threw:
		t.status = failed
	case t.op == opSchedule:
		t.status = succeeded
	case t.stopping || c.called:
		t.status = cancelled
	default:
		t.deadline += t.step.B
		if t.op == opDelay {
			t.deadline = c.now + t.step.B
		}
		c.tick(t.deadline, t.origin)
		c.arm(t)
	}
}

func (c *contract) body(s *Step) (threw bool) {
	c.begin(s.Label)
	for _, next := range s.Body {
		if c.call(next, true) {
			threw = true
			break
		}
	}
	c.endBody()
	return threw
}

func (c *contract) endBody() {
	c.lastEnd = c.now
}
