package core

import "slices"

// sleepers are the workers that sleep, or are about to: they have announced it with mu held
// after a last look at all that could be run, and whoever posts work afterwards finds them
// here (G12). Guarded by Pool.mu.
//
// The rule that no wake-up is lost by: with mu free, if something can be run that no lazy call
// has posted, then no worker sleeps that nobody has woken, or one is on its way: woken > 0. A
// woken worker that finds more than it takes wakes the next before it runs its body, so that
// work is never left to a worker that blocks. One at a time is enough for that, and a burst
// of short tasks does not wake everybody.
type sleepers struct {
	idle        []*worker // sleep until they are woken; the last one parked last
	keeper      *worker   // sleeps until keeperUntil at most: it keeps the time for all
	keeperUntil int64     // noDeadline: there is no keeper
	woken       int       // workers that were woken and have not got mu since
}

// park announces that w sleeps, and returns until when. The one with the earliest deadline is
// the keeper; one that was before sleeps on without the office, and wakes once for nothing.
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

// claimSleeper makes the caller the one who wakes a worker: at most one does per sleep (G12).
// It returns nil if all are awake. The keeper is the last to be woken for work.
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

// claim is claimSleeper of a pool: counted, traced. Requires mu.
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

// claimExcess claims as many sleepers as there are workers too many. Requires mu.
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

// rouse is who is to come for work: a sleeper to wake, or a worker to start. Requires mu; the
// caller calls goOn when it has released mu. now is the time, as far as the caller knows it.
func (p *Pool) rouse(now int64) (r roused) {
	if p.woken > 0 {
		return r // it will see to the rest
	}
	if !p.canRun(now) && (p.heap.len() == 0 || p.heap.first() >= p.keeperUntil) {
		return r
	}
	return p.rouseOne()
}

// rouseOne is rouse, whether there is work or not. Requires mu.
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

// goOn does what was claimed. It is called without mu, and may call the user's spawner.
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

// unlockAndRouseOne ends a critical section after which a worker has to look: for a state that
// has moved, or for the end. Requires mu, and releases it.
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

// sleep parks w and waits until it is woken, or until the next deadline. Requires mu, and
// holds it again when it returns the time.
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

// nextDeadline is when something has to be done though nobody wakes a worker: the first timer,
// or the end of the quiet period, while nothing else stands against it. Requires mu.
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
