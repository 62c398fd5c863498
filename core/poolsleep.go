package core

import "slices"

// sleepers are the workers that sleep, or are about to. A worker joins them with mu held, after it
// has found nothing to run; so a goroutine that posts work afterwards finds the worker here (G12).
// Guarded by Pool.mu.
//
// Invariant that prevents lost wake-ups: if mu is free and there is work other than lazy tasks,
// then no worker sleeps, or woken > 0. A woken worker that leaves work behind wakes the next
// worker before it runs its body, so that work does not wait for a worker that blocks. One wake-up
// at a time suffices, and a burst of short tasks does not wake all workers.
type sleepers struct {
	idle        []*worker // sleep until they are woken; the last of them is woken first
	keeper      *worker   // sleeps until keeperUntil at most, so that the others need no deadline
	keeperUntil int64     // noDeadline: there is no keeper
	woken       int       // workers that were woken and have not got mu since
}

// park announces that w sleeps, and returns the deadline of its sleep. The worker with the
// earliest deadline is the keeper. The keeper before it becomes an idle worker; its alarm is still
// set, and wakes it once in vain.
func (s *sleepers) park(w *worker, until int64) int64 {
	w.parked = true
	if until >= s.keeperUntil {
		s.idle = append(s.idle, w)
		return noDeadline
	}
	if s.keeper != nil {
		s.idle = append(s.idle, s.keeper)
	}
	s.keeper, s.keeperUntil = w, until
	return until
}

// arrive undoes park: w is awake and has mu.
func (s *sleepers) arrive(w *worker) {
	switch {
	case w.woken:
		w.woken = false
		s.woken--
	case !w.parked:
	case s.keeper == w:
		s.keeper, s.keeperUntil = nil, noDeadline
	default:
		i := slices.Index(s.idle, w)
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	w.parked = false
}

// claimSleeper claims the wake-up of one worker for the caller: at most one caller wakes a worker
// per sleep (G12). It returns nil if all are awake. The keeper is claimed last.
func (s *sleepers) claimSleeper() *worker {
	var w *worker
	switch n := len(s.idle); {
	case n > 0:
		w, s.idle = s.idle[n-1], s.idle[:n-1]
	case s.keeper != nil:
		w, s.keeper, s.keeperUntil = s.keeper, nil, noDeadline
	default:
		return nil
	}
	w.woken = true
	s.woken++
	return w
}

// claim is claimSleeper, and counts and traces the wake-up. Requires mu.
func (p *Pool) claim() *worker {
	w := p.claimSleeper()
	if w != nil {
		p.wakes++
		if p.cfg.tracer != nil {
			p.trace(Event{Kind: EventWake})
		}
	}
	return w
}

// claimExcess claims one sleeper for each surplus worker, so that it can leave. Requires mu.
func (p *Pool) claimExcess() (woken []*worker) {
	for n := p.live - p.size - p.woken; n > 0; n-- {
		w := p.claim()
		if w == nil {
			break
		}
		woken = append(woken, w)
	}
	return woken
}

// rouse claims a worker for work that can run or for an earlier deadline: a sleeper to wake, or a
// new worker to start. Requires mu; the caller calls goOn after it has released mu. now is the
// time, or -1 if the caller does not know it.
func (p *Pool) rouse(now int64) (r roused) {
	if p.woken > 0 {
		return r // the woken worker wakes the next one if work is left
	}
	if !p.canRun(now) && (p.heap.len() == 0 || p.heap.first() >= p.keeperUntil) {
		return r
	}
	return p.rouseOne()
}

// rouseOne claims a worker even if there is no work. Requires mu.
func (p *Pool) rouseOne() (r roused) {
	if p.gate&gateNotStarted != 0 {
		return r
	}
	if r.sleeper = p.claim(); r.sleeper != nil {
		return r
	}
	if p.live < p.size && p.starting == 0 && !p.over {
		r.start = p.newWorker()
	}
	return r
}

// roused is what rouse has claimed.
type roused struct {
	sleeper *worker
	start   *worker
}

// goOn wakes or starts the worker that rouse has claimed. It is called without mu, and may call
// the user's spawner.
func (p *Pool) goOn(r roused) {
	if r.sleeper != nil {
		r.sleeper.poller.Wake()
	}
	if r.start != nil {
		p.startWorker(r.start)
	}
}

// unlockAndRouse ends a critical section that posted work. Requires mu, and releases it.
func (p *Pool) unlockAndRouse() {
	r := p.rouse(-1)
	p.mu.Unlock()
	p.goOn(r)
}

// unlockAndRouseOne ends a critical section after which a worker must run next, because the state
// has moved or the pool may end. Requires mu, and releases it.
func (p *Pool) unlockAndRouseOne() {
	var r roused
	if p.woken == 0 {
		r = p.rouseOne()
	}
	p.mu.Unlock()
	p.goOn(r)
}

// canRun reports whether a worker that came now would find a body. Requires mu.
func (p *Pool) canRun(now int64) bool {
	return p.queue.Size() > 0 || p.internal.len() > 0 || p.hookReady() || p.timerDue(now)
}

// sleep parks w and waits until it is woken, or until the next deadline, and returns the time.
// Requires mu. It releases mu meanwhile; mu is held again when it returns.
func (w *worker) sleep(now int64) int64 {
	p := w.pool
	until := p.park(w, p.nextDeadline())
	p.parks++
	if p.cfg.tracer != nil {
		ev := Event{Kind: EventPark, To: State(p.state.Load()), Until: -1, NextTimer: -1, Queued: p.queue.Size() + p.internal.len()}
		if until != noDeadline {
			ev.Until = asDuration(until)
		}
		if p.heap.len() > 0 {
			ev.NextTimer = asDuration(p.heap.first())
		}
		p.trace(ev)
	}
	p.mu.Unlock()
	_ = w.poller.Wait(p.deadlineAt(until)) // a chanPoller returns nil
	if p.cfg.tracer != nil {
		p.trace(Event{Kind: EventUnpark})
	}
	now = w.now(now)
	p.lock()
	p.arrive(w)
	return now
}

// nextDeadline returns when a worker has to act although no caller wakes it: at the first timer,
// or, if the pool is drained, at the end of the quiet period. Requires mu.
func (p *Pool) nextDeadline() int64 {
	switch {
	case p.failed.Load():
		return noDeadline
	case p.heap.len() > 0:
		return p.heap.first()
	case State(p.state.Load()) == StateShuttingDown && p.drained():
		return p.quietEnd()
	}
	return noDeadline
}
