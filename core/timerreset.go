package core

import "time"

// Reset moves the next run of the timer to delay from now and reports true, or changes
// nothing and reports false. A negative delay counts as zero. It may be called from any
// goroutine, including from bodies; it never waits for the loop.
//
// It reports true while the timer waits, even if the deadline has passed. It also reports
// true during a run of a periodic timer, and then moves the run after that. A fixed rate
// counts its further runs from the new deadline. WithTimerJitter delays the moved run too.
// Reset does not change the order of timers with equal deadlines: they run in the order
// scheduled (G7).
//
// It reports false once the body of a one-shot timer has begun and once the timer has
// ended. Unlike time.Timer.Reset it does not start an ended timer again, because Done is
// closed then: ScheduleTimer does. After a shutdown call it reports false too: the policy
// has been applied to the deadline as it was at the call. Exception: under
// RunTimersUntilTimeout, until admission closes, it moves a run if both its old and its new
// deadline are before the timeout.
func (t *Timer) Reset(delay time.Duration) bool {
	return t.home != nil && t.home.timerOwner.resetTimer(t, max(delay, 0))
}

// resetTimer implements Timer.Reset.
func (e *Executor) resetTimer(t *Timer, delay time.Duration) bool {
	grid, at := e.deadline(delay, t.period) // before the lock: the clock and the source may be a user's
	e.mu.Lock()
	wake, moved := e.moveTimer(t, grid, at)
	e.traceAdmit(OpResetTimer, moved)
	if wake {
		e.unlockAndWake()
	} else {
		e.mu.Unlock()
	}
	return moved
}

// moveTimer moves the next run of t: the parameter at is the new deadline, and grid is that
// deadline without the jitter. moved reports whether the timer could be moved. wake reports
// whether a loop that sleeps would sleep past the run (G12). Requires mu.
func (e *Executor) moveTimer(t *Timer, grid, at int64) (wake, moved bool) {
	in := &e.timers
	if e.timersDecided(e.gate, &e.shutdown) || !t.mayMove(at, in.horizon) {
		return false, false
	}
	t.grid, t.at = grid, at
	switch {
	case t.state == timerRunning:
		t.moved = true
		return false, true
	case t.place != placeHeap:
		// The loop has not taken t from the inbox yet, and reads t.at when it does.
	case e.InEventLoop():
		e.heap.remove(t)
		e.heap.push(t)
	default:
		in.addChanged(t)
		e.announceNews()
	}
	return at < in.sleepUntil, true
}

// timersDecided reports whether a shutdown has decided which of the waiting timers run.
// Requires the executor's mutex.
func (s *setup) timersDecided(g gate, r *shutdownRecord) bool {
	return g&gateClosed != 0 || r.called && s.cfg.timers != RunTimersUntilTimeout
}

// mayMove reports whether Reset may set the deadline of the next run to at. A waiting timer
// whose deadline is beyond the horizon counts as cancelled, even if the loop has not ended
// it yet. Requires the executor's mutex.
func (t *Timer) mayMove(at, horizon int64) bool {
	switch t.state {
	case timerWaiting:
		return max(at, t.at) <= horizon
	case timerRunning:
		return t.period != 0 && !t.cancel && at <= horizon
	}
	return false
}

// addChanged adds t, a timer of the heap, to the cancelled and moved timers that the loop has yet
// to handle. Requires mu.
func (in *timerInbox) addChanged(t *Timer) {
	t.place = placeChanged
	t.next, in.changed = in.changed, t
}

// resetTimer implements Timer.Reset.
func (p *Pool) resetTimer(t *Timer, delay time.Duration) bool {
	grid, at := p.deadline(delay, t.period)
	p.mu.Lock()
	moved := !p.timersDecided(p.gate, &p.shutdown) && t.mayMove(at, p.timers.horizon)
	p.traceAdmit(OpResetTimer, moved)
	if !moved {
		p.mu.Unlock()
		return false
	}
	t.grid, t.at = grid, at
	if t.state == timerRunning {
		t.moved = true
		p.mu.Unlock()
		return true
	}
	p.heap.remove(t)
	p.heap.push(t)
	p.unlockAndWake()
	return true
}
