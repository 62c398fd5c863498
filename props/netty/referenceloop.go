package netty

import "slices"

// thread runs the loop from its start to its end.
func (r *reference) thread() {
	r.lastExec = r.now
	if r.nio && !r.runNIO() || !r.nio && !r.runDefault() {
		return // the loop waits for ever: the program has no shutdown call
	}
	if r.state < 2 {
		r.state = 2
	}
	for !r.confirm() {
	}
	if r.state < 3 {
		r.overdue()
		r.state = 3
	}
	r.confirm()
	r.state = 4
	for _, it := range r.queue {
		if it.kind == refBody {
			r.hit("R135")
		}
	}
}

func (r *reference) runNIO() bool {
	for {
		if len(r.queue) == 0 && len(r.tails) == 0 {
			r.wakeAt = far
			if len(r.timers) > 0 {
				r.wakeAt = r.timers[0].deadline
			}
			r.woken = false
			if !r.park(func() bool { return r.woken }, r.wakeAt) {
				return false
			}
			r.wakeAt = -1
		}
		r.fetch()
		if r.drain() {
			r.lastExec = r.now
		}
		r.runTails()
		if r.state >= 2 && r.confirm() {
			return true
		}
	}
}

func (r *reference) runDefault() bool {
	for {
		it, ok := r.take()
		if !ok {
			return false
		}
		if it != nil {
			if r.run(*it) && it.kind == refBody && it.step.Op != opSubmit {
				r.hit("R18")
				return true
			}
			r.lastExec = r.now
		}
		if r.state >= 2 && r.confirm() {
			return true
		}
	}
}

// take is takeTask. It returns a nil item for a wake-up task if there are no timers.
func (r *reference) take() (*refItem, bool) {
	for {
		deadline := far
		if len(r.timers) > 0 {
			deadline = r.timers[0].deadline
		}
		if deadline > r.now {
			if !r.park(func() bool { return len(r.queue) > 0 }, deadline) {
				return nil, false
			}
			if len(r.queue) > 0 {
				it := r.pop()
				if it.kind == refWake && deadline == far {
					return nil, true
				}
				return &it, true
			}
		}
		r.fetch()
		if len(r.queue) > 0 {
			it := r.pop()
			return &it, true
		}
	}
}

func (r *reference) pop() refItem {
	it := r.queue[0]
	r.queue = r.queue[1:]
	return it
}

// fetch moves due timers to the queue.
func (r *reference) fetch() {
	for len(r.timers) > 0 && r.timers[0].deadline <= r.now {
		r.queue = append(r.queue, refItem{kind: refTimerItem, timer: r.timers[0]})
		r.timers = r.timers[1:]
	}
}

// drain runs the queue until it is empty, and reports whether anything ran.
func (r *reference) drain() bool {
	ran := false
	for len(r.queue) > 0 {
		it := r.pop()
		if it.kind == refWake {
			continue
		}
		r.run(it)
		ran = true
	}
	return ran
}

func (r *reference) runTails() {
	r.inTail = true
	for len(r.tails) > 0 {
		s := r.tails[0]
		r.tails = r.tails[1:]
		r.body(s)
	}
	r.inTail = false
}

// run runs one item, and reports whether it threw.
func (r *reference) run(it refItem) bool {
	if it.after && len(r.hooks) > 0 {
		r.hit("R120")
	}
	switch it.kind {
	case refHold:
		for r.releases < it.hold && r.next() != far {
			r.one()
		}
	case refCall:
		it.call()
	case refBody:
		if it.step.Op != opSubmit {
			return r.body(it.step)
		}
		f := r.by[it.step.Label]
		if f == nil { // submit threw, but the task stayed in the queue
			f = &refFuture{}
		}
		if f.status == cancelled {
			return false
		}
		f.uncancellable = true
		r.complete(f, after(r.body(it.step)), true)
	case refTimerItem:
		r.runTimer(it.timer)
	}
	return false
}

func after(threw bool) status {
	if threw {
		return failed
	}
	return succeeded
}

func (r *reference) runTimer(t *refTimer) {
	if t.deadline > r.now {
		if t.status != cancelled {
			r.insert(t)
		}
		return
	}
	if t.status == cancelled {
		return
	}
	if r.state >= 2 {
		r.hit("R87")
	}
	if r.overtakes(t) {
		r.hit("R75")
	}
	if t.op == opSchedule {
		t.uncancellable = true
		r.complete(t.refFuture, after(r.body(t.step)), true)
		return
	}
	if r.body(t.step) {
		if t.status == pending {
			r.complete(t.refFuture, failed, true)
		}
		return
	}
	if r.state >= 3 {
		return // Netty neither arms it again nor completes its future
	}
	if t.op == opRate {
		t.deadline += t.step.B
	} else {
		t.deadline = r.now + t.step.B
	}
	if t.status != cancelled {
		r.tick(t.deadline, t.origin)
		r.insert(t)
	}
}

// overtakes reports whether an earlier timer waits while t runs. That happens if t was
// scheduled from outside and was already due when its task ran, so that it never went
// into the timer queue.
func (r *reference) overtakes(t *refTimer) bool {
	earlier := func(o *refTimer) bool { return o.deadline < t.deadline && o.status == pending }
	return slices.ContainsFunc(r.timers, earlier) ||
		slices.ContainsFunc(r.queue, func(it refItem) bool { return it.kind == refTimerItem && earlier(it.timer) })
}

// body runs a function of the program, and reports whether it threw.
func (r *reference) body(s *Step) bool {
	r.begin(s.Label)
	for _, next := range s.Body {
		if r.call(next, true) {
			return true
		}
	}
	return false
}

// confirm is confirmShutdown: one pass of the shutdown.
func (r *reference) confirm() bool {
	for _, t := range r.timers {
		if t.status == pending {
			r.complete(t.refFuture, cancelled, true)
		}
	}
	r.timers = nil
	if r.began == far {
		r.began = r.now
	}
	r.fetch()
	waiting := len(r.hooks)
	ran := r.drain()
	if ran {
		r.lastExec = r.now
		if waiting > 0 {
			r.hit("R120")
		}
	}
	r.runTails()
	if ran || r.runHooks() {
		if r.state >= 3 || r.quiet == 0 {
			return true
		}
		r.queue = append(r.queue, refItem{kind: refWake})
		return false
	}
	if r.state >= 3 || r.expired() {
		return true
	}
	if r.quiet > 0 {
		r.compare(r.now-r.lastExec, r.quiet)
	}
	if r.quiet == 0 || r.now-r.lastExec > r.quiet {
		if r.quiet > 0 && r.lastExec < r.called {
			r.hit("R113")
		}
		return true
	}
	r.queue = append(r.queue, refItem{kind: refWake})
	r.hit("R113")
	r.sleeping = true
	r.pass(sleepStep)
	r.sleeping = false
	return false
}

// expired reports whether the timeout has passed since the first pass.
func (r *reference) expired() bool {
	if r.timeout > 0 {
		r.compare(r.now-r.began, r.timeout)
	}
	return r.now-r.began >= r.timeout && (r.timeout == 0 || r.now-r.began > r.timeout)
}

func (r *reference) runHooks() bool {
	ran := false
	for len(r.hooks) > 0 {
		hooks := r.hooks
		r.hooks = nil
		for i, h := range hooks {
			r.batch = hooks[i+1:]
			if r.gone[h.Label] {
				r.hit("R119 removal")
			}
			r.body(h)
			ran = true
		}
	}
	if ran {
		r.lastExec = r.now
	}
	return ran
}
