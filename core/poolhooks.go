package core

import "slices"

// AddShutdownHook registers hook to run once on a worker when the pool shuts down: at state
// ShuttingDown or later, one at a time, in the order added, once the tasks accepted before the
// shutdown call have ended (G6). One that is added during the shutdown runs after those before
// it. After the close only a hook that was accepted before it may add one. remove takes the
// hook back, and reports true if and only if it will never start.
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
	p.hooks.waiting = append(p.hooks.waiting, h)
	p.traceAdmit(OpAddShutdownHook, true)
	if p.shutdown.called {
		p.hooks.fresh++
	}
	p.unlockAndRouse()
	return func() bool { return p.removeHook(h) }, nil
}

func (p *Pool) removeHook(h *hook) bool {
	p.mu.Lock()
	removed := p.hooks.remove(h)
	p.traceAdmit(OpRemoveShutdownHook, removed)
	if removed && p.shutdown.called {
		p.unlockAndRouseOne() // it may have been the last thing to wait for
	} else {
		p.mu.Unlock()
	}
	return removed
}

// hookReady reports whether a hook may begin. Hooks that were added in the shutdown are a round
// of their own: a task goes in between, so that hooks which add hooks starve no task (G13).
// Requires mu.
func (p *Pool) hookReady() bool {
	return len(p.hooks.waiting) > 0 && p.shutdown.called && p.early == 0 && !p.hookRuns &&
		(len(p.hooks.waiting) > p.hooks.fresh || p.gaveWay || p.queue.Size() == 0)
}

// nextHook begins the hook whose turn it is. Requires mu and hookReady.
func (p *Pool) nextHook() *hook {
	if len(p.hooks.waiting) == p.hooks.fresh {
		p.hooks.fresh = 0
	}
	h := p.hooks.waiting[0]
	p.hooks.waiting = slices.Delete(p.hooks.waiting, 0, 1)
	if len(p.hooks.waiting) == p.hooks.fresh {
		p.gaveWay = false
	}
	h.state, p.hookRuns = hookBegun, true
	return h
}
