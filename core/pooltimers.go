package core

import "time"

// Schedule runs task once, delay from now, never early (G7). A negative delay is zero. See
// Executor.Schedule.
func (p *Pool) Schedule(delay time.Duration, task func()) (*Timer, error) {
	if task == nil {
		return nil, nilFunc("Schedule", "task")
	}
	return p.schedule(max(delay, 0), 0, task)
}

// ScheduleAtFixedRate runs task at initial, initial+period, and so on from now, on any worker.
// Runs of one timer do not overlap. See Executor.ScheduleAtFixedRate.
func (p *Pool) ScheduleAtFixedRate(initial, period time.Duration, task func()) (*Timer, error) {
	if err := checkPeriodic("ScheduleAtFixedRate", "period", initial, period, task); err != nil {
		return nil, err
	}
	return p.schedule(initial, period, task)
}

// ScheduleWithFixedDelay runs task after initial, and then again delay after the end of each run.
// See Executor.ScheduleWithFixedDelay.
func (p *Pool) ScheduleWithFixedDelay(initial, delay time.Duration, task func()) (*Timer, error) {
	if err := checkPeriodic("ScheduleWithFixedDelay", "delay", initial, delay, task); err != nil {
		return nil, err
	}
	return p.schedule(initial, -delay, task)
}

func (p *Pool) schedule(delay, period time.Duration, task func()) (*Timer, error) {
	t := p.newTimer(delay, period, task)
	if err := p.lockOpen(OpSchedule); err != nil {
		return nil, err
	}
	p.addTimerAndUnlock(t)
	return t, nil
}

// addTimerAndUnlock accepts t. Requires mu, and releases it.
func (p *Pool) addTimerAndUnlock(t *Timer) {
	p.traceAdmit(OpSchedule, true)
	p.timers.accept(t)
	// If only the horizon were tested, a timer scheduled after the shutdown call and due at the
	// instant of that call would run.
	tooLate := p.shutdown.called && p.cfg.timers != RunTimersUntilTimeout
	if tooLate || t.at > p.timers.horizon {
		p.endTimer(t, &ErrCancelled)
	} else {
		p.heap.push(t)
	}
	p.unlockAndWake()
}

// stopTimer implements Timer.Cancel.
func (p *Pool) stopTimer(t *Timer) (cancelled bool) {
	p.mu.Lock()
	switch t.state {
	case timerWaiting:
		p.heap.remove(t)
		p.endTimer(t, &ErrCancelled)
		cancelled = true
	case timerRunning:
		cancelled = t.period != 0 && !t.cancel
		t.cancel = t.cancel || cancelled
	}
	p.traceAdmit(OpCancelTimer, cancelled)
	if cancelled && p.shutdown.called {
		p.unlockAndWakeOne() // without this timer the quiet period may end earlier
	} else {
		p.mu.Unlock()
	}
	return cancelled
}

// endTimer completes t with the error that err points to; nil: none. Requires mu.
func (p *Pool) endTimer(t *Timer, err *error) {
	p.timers.end(t, err)
	if err == &ErrCancelled && p.cfg.tracer != nil {
		p.trace(Event{Kind: EventTimerCancelled})
	}
}

// timerDue reports whether a timer is due at now. Requires mu.
func (p *Pool) timerDue(now int64) bool { return p.heap.len() > 0 && p.heap.first() <= now }

// beginTimer removes the first timer from the heap, marks it as running and returns it. Its deadline
// is not after the horizon of a shutdown: purge has removed those timers, and the others that reach
// the heap are not later. The heap must not be empty. Requires mu, held since purge returned false.
func (p *Pool) beginTimer() *Timer {
	t := p.heap.pop()
	t.state, t.ranAt = timerRunning, t.at
	return t
}

// endRun counts a run that ended at now, and then completes t or schedules its next run, with
// the given jitter. Requires mu.
func (p *Pool) endRun(t *Timer, outcome Outcome, panics []*PanicError, now int64, jitter time.Duration) {
	p.timers.runs++
	switch {
	case outcome == OutcomePanicked:
		panicked := error(panics[len(panics)-1])
		p.endTimer(t, &panicked)
	case outcome == OutcomeExited:
		p.endTimer(t, &ErrGoexit)
	case t.period == 0:
		p.endTimer(t, nil)
	case t.cancel:
		p.endTimer(t, &ErrCancelled)
	default:
		p.rearm(t, now, jitter)
	}
}

// rearm schedules the next run of a periodic timer; the timer keeps its id. Requires mu.
func (p *Pool) rearm(t *Timer, now int64, jitter time.Duration) {
	t.nextRun(now, jitter)
	if p.gate&gateClosed != 0 || t.at > p.timers.horizon {
		p.endTimer(t, &ErrCancelled)
		return
	}
	t.state = timerWaiting
	p.heap.push(t)
}

// purge cancels timers beyond the horizon that a shutdown has set, one chunk per call, and
// reports whether there were any. After a chunk it releases mu for a moment, so that a million
// timers do not block callers for long. mu is held when it returns. Requires mu.
func (p *Pool) purge() bool {
	if p.purged != p.timers.horizon {
		p.purged = p.timers.horizon
		p.doomed = append(p.doomed, p.heap.removeAfter(p.purged)...)
	}
	if len(p.doomed) == 0 {
		return false
	}
	n := min(len(p.doomed), purgeChunk)
	for _, t := range p.doomed[:n] {
		if t.state == timerWaiting && t.at > p.purged { // else cancelled, and perhaps scheduled again by ScheduleTimer
			p.endTimer(t, &ErrCancelled)
		}
	}
	clear(p.doomed[:n])
	p.doomed = p.doomed[n:] // slices.Delete would move all that are left, for each chunk
	p.mu.Unlock()
	p.mu.Lock()
	return true
}
