package core

import "slices"

// sleepers are the workers that sleep or are about to. A worker joins them in the critical
// section in which it has found no work, so a goroutine that posts work afterwards finds the
// worker here (G12). Guarded by Pool.mu.
//
// Invariant, which prevents lost wake-ups: if mu is free and there is work other than lazy tasks,
// then no worker sleeps, or woken > 0. A woken worker that leaves work in the queue wakes the next
// worker before it runs its body, so work never waits for a body that blocks while a worker
// sleeps. So one wake-up at a time suffices, and a burst of short tasks does not wake all workers.
type sleepers struct {
	idle            []*worker // without a deadline; the last one is woken first
	timekeeper      *worker   // the one worker with a deadline, or nil
	timekeeperUntil int64     // the timekeeper's deadline; noDeadline if there is no timekeeper
	woken           int       // workers whose wake-up was claimed and that have not locked mu since
}

// park adds w to the sleepers, and returns the deadline of its sleep. The worker with the
// earliest deadline becomes the timekeeper. The previous timekeeper becomes an idle worker; its
// alarm is still set, and causes one spurious wake-up.
func (s *sleepers) park(w *worker, until int64) int64 {
	w.parked = true
	if until >= s.timekeeperUntil {
		s.idle = append(s.idle, w)
		return noDeadline
	}
	if s.timekeeper != nil {
		s.idle = append(s.idle, s.timekeeper)
	}
	s.timekeeper, s.timekeeperUntil = w, until
	return until
}

// arrive removes w from the sleepers. w is parked, its goroutine is awake, and it holds mu.
func (s *sleepers) arrive(w *worker) {
	switch {
	case w.woken:
		w.woken = false
		s.woken--
	case s.timekeeper == w:
		s.timekeeper, s.timekeeperUntil = nil, noDeadline
	default:
		i := slices.Index(s.idle, w)
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	w.parked = false
}

// claimSleeper claims the wake-up of one worker, which the caller must then wake: each sleep has
// at most one claim (G12). It returns nil if no worker sleeps. The timekeeper is claimed last.
func (s *sleepers) claimSleeper() *worker {
	var w *worker
	switch n := len(s.idle); {
	case n > 0:
		w, s.idle = s.idle[n-1], s.idle[:n-1]
	case s.timekeeper != nil:
		w, s.timekeeper, s.timekeeperUntil = s.timekeeper, nil, noDeadline
	default:
		return nil
	}
	w.woken = true
	s.woken++
	return w
}

// claim calls claimSleeper, and counts and traces the wake-up. Requires mu.
func (p *Pool) claim() *worker {
	w := p.claimSleeper()
	if w != nil {
		p.wakes++
		p.meterWakeUp(w)
		if p.cfg.tracer != nil {
			p.trace(Event{Kind: EventWake})
		}
	}
	return w
}

// claimExcess claims one sleeper for each surplus worker, so that it can leave. Requires mu.
func (p *Pool) claimExcess() (woken []*worker) {
	for n := p.live - p.size - p.woken; n > 0; n-- {
		if w := p.claim(); w != nil {
			woken = append(woken, w)
		}
	}
	return woken
}

// claimForWork claims one worker, a sleeper or else a new one, if work can run or a timer is due
// before the timekeeper wakes. The caller must call wakeOrStart after it has released mu. now is
// the time, or -1 if the caller does not know it. Requires mu.
func (p *Pool) claimForWork(now int64) (r claimed) {
	if p.woken > 0 {
		return r // the woken worker wakes the next one if work is left
	}
	if !p.canRun(now) && (p.heap.len() == 0 || p.heap.first() >= p.timekeeperUntil) {
		return r
	}
	return p.claimWorker()
}

// claimWorker claims a sleeper or a new worker, even if there is no work. Requires mu.
func (p *Pool) claimWorker() (r claimed) {
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

// claimed is a claimed worker; at most one field is set.
type claimed struct {
	sleeper *worker // to wake
	start   *worker // to start
}

// wakeOrStart wakes or starts a claimed worker. It may call the user's spawner, so the caller
// must not hold mu.
func (p *Pool) wakeOrStart(r claimed) {
	if r.sleeper != nil {
		r.sleeper.poller.Wake()
	}
	if r.start != nil {
		p.startWorker(r.start)
	}
}

// unlockAndWake ends a critical section that posted work. Requires mu, and releases it.
func (p *Pool) unlockAndWake() {
	r := p.claimForWork(-1)
	p.mu.Unlock()
	p.wakeOrStart(r)
}

// unlockAndWakeOne ends a critical section after which a worker must run even without work: the
// state has changed, or the pool may end. Requires mu, and releases it.
func (p *Pool) unlockAndWakeOne() { p.wakeOrStart(p.claimOneAndUnlock()) }

// unlockAndWakeOneAside is unlockAndWakeOne for the begin of a shutdown, the timeout and a
// failure. It calls a spawner of the user on a goroutine of its own: a slow spawner delays
// neither the shutdown call nor the end of Context (G11). Requires mu, and releases it.
func (p *Pool) unlockAndWakeOneAside() {
	r := p.claimOneAndUnlock()
	if r.start != nil && p.cfg.userSpawner {
		go p.wakeOrStart(r)
	} else {
		p.wakeOrStart(r)
	}
}

// claimOneAndUnlock claims a worker, unless one has been woken and not run yet. The caller must
// call wakeOrStart. Requires mu, and releases it.
func (p *Pool) claimOneAndUnlock() (r claimed) {
	if p.woken == 0 {
		r = p.claimWorker()
	}
	p.mu.Unlock()
	return r
}

// canRun reports whether a free worker would find a body to run. Requires mu.
func (p *Pool) canRun(now int64) bool {
	return p.queue.Size() > 0 || p.internal.len() > 0 || p.hookReady() || p.timerDue(now)
}

// sleep parks w until it is woken or its deadline passes, and returns the time. It releases mu
// meanwhile; mu is held when it returns. Requires mu.
func (w *worker) sleep(now int64) int64 {
	p := w.pool
	until := p.park(w, p.nextDeadline())
	p.parks++
	p.meterSleep()
	if p.cfg.tracer != nil {
		ev := Event{Kind: EventPark, To: State(p.state.Load()), Until: -1, NextTimer: -1, Queued: p.queue.Size() + p.internal.len()}
		if until != noDeadline {
			ev.Until = shown(until)
		}
		if p.heap.len() > 0 {
			ev.NextTimer = shown(p.heap.first())
		}
		p.trace(ev)
	}
	w.sleeping = true
	p.mu.Unlock()
	_ = w.poller.Wait(p.deadlineAt(until)) // a chanPoller returns nil
	w.traceUnpark()
	now = w.now(now)
	p.lock()
	p.arrive(w)
	p.meterWoke(w)
	return now
}

// traceUnpark is called once per sleep. Worker only.
func (w *worker) traceUnpark() {
	w.sleeping = false
	if w.pool.cfg.tracer != nil {
		w.pool.trace(Event{Kind: EventUnpark})
	}
}

// nextDeadline returns when a worker must act without a wake-up: at the first timer, or at the end
// of the quiet period if the pool is drained. A pool that has failed has neither. Requires mu.
func (p *Pool) nextDeadline() int64 {
	switch {
	case p.heap.len() > 0:
		return p.heap.first()
	case State(p.state.Load()) == StateShuttingDown && p.drained():
		return p.quietEnd()
	}
	return noDeadline
}
