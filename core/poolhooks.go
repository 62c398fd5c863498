package core

// AddShutdownHook registers run as a shutdown hook: it runs once on a worker when the pool shuts
// down, at state ShuttingDown or later. Hooks run one at a time, in the order added, once the
// tasks accepted before the shutdown call have ended (G6). A hook added during the shutdown runs
// after the earlier ones. After admission has closed, only a hook that was accepted before may
// add one. remove removes the hook and returns true; it returns false if the hook has begun or
// was removed before.
func (p *Pool) AddShutdownHook(run func()) (remove func() bool, err error) {
	if run == nil {
		return nil, nilFunc("AddShutdownHook", "hook")
	}
	h := &hook{run: run}
	if w := p.callingWorker(); w != nil && w.job.kind == BodyHook && !w.job.hook.late {
		p.mu.Lock()
		h.late = p.gate&gateClosed != 0
	} else if err := p.lockOpen(OpAddShutdownHook); err != nil {
		return nil, err
	}
	p.hooks.add(h)
	p.traceAdmit(OpAddShutdownHook, true)
	p.unlockAndWake()
	return func() bool { return p.removeHook(h) }, nil
}

// removeHook wakes no worker. A hook that waits during a shutdown waits for a task or for another
// hook, and the worker that runs that body then finds that the hook is gone.
func (p *Pool) removeHook(h *hook) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	removed := p.hooks.remove(h)
	p.traceAdmit(OpRemoveShutdownHook, removed)
	return removed
}

// hookReady reports whether a hook may begin. Hooks added during the shutdown wait for the next
// round, and a queued task runs between two rounds: otherwise hooks that add hooks would starve
// tasks (G13). Requires mu.
func (p *Pool) hookReady() bool {
	return p.hooks.size() > 0 && p.shutdown.called && p.earlyTasks == 0 && !p.hookRuns &&
		(p.hooks.marked() > 0 || p.gaveWay || p.queue.Size() == 0)
}

// nextHook removes the next hook from the list, and marks it as begun. Requires mu and hookReady.
func (p *Pool) nextHook() *hook {
	if p.hooks.marked() == 0 {
		p.hooks.mark()
	}
	h := p.hooks.begin()
	if p.hooks.marked() == 0 {
		p.gaveWay = false
	}
	p.hookRuns = true
	return h
}
