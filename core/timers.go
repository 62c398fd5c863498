package core

import "time"

// timerInbox holds the timers that callers pass to the loop; only the loop accesses the
// heap. Guarded by Executor.mu.
type timerInbox struct {
	added      *Timer // timers not yet in the heap: a ring, in the order scheduled
	changed    *Timer // timers of the heap, cancelled or moved, that the loop has yet to handle; linked by next
	nCancelled int    // cancelled timers in changed
	inHeap     int    // timers in the heap

	// sleepUntil is when the sleeping loop wakes by itself.
	sleepUntil int64

	timerCounts
}

// timerCounts counts the timers of an executor, and holds their horizon. Guarded by the
// executor's mutex.
type timerCounts struct {
	// horizon is the latest deadline of a timer that may still run. It is noDeadline
	// until a shutdown call sets it by the policy; the close of admission may lower it.
	horizon int64

	lastID    uint64
	scheduled int64
	pending   int64
	runs      int64 // bodies run
	ended     int64 // timers that ended with nil or an error other than ErrCancelled
	cancelled int64 // timers that ended with ErrCancelled
}

// addTimer accepts t, and reports whether the loop has to be woken: only if t is
// due before the loop wakes by itself (G12). Requires mu.
func (e *Executor) addTimer(t *Timer) (wake bool) {
	in := &e.timers
	in.accept(t)
	// If only the horizon were tested, a timer scheduled after the shutdown call and due at the
	// instant of that call would run.
	tooLate := e.shutdown.called && e.cfg.timers != RunTimersUntilTimeout
	if tooLate || t.at > in.horizon {
		e.endTimer(t, &ErrCancelled)
		return false
	}
	e.announceNews()
	if t.place == placeCancelled { // ScheduleTimer was called before the loop has removed t: Reset does the same
		in.nCancelled--
		t.place = placeChanged
	}
	if t.place != placeChanged {
		in.add(t)
	}
	return e.asleep && t.at < in.sleepUntil
}

// accept counts an accepted timer.
func (c *timerCounts) accept(t *Timer) {
	c.lastID++
	c.scheduled++
	c.pending++
	t.id = c.lastID
}

// add puts t, which has no place yet, behind the other timers that the loop has to put into the heap.
func (in *timerInbox) add(t *Timer) {
	t.place = placeAdded
	if in.added == nil {
		in.added, t.prev, t.next = t, t, t
	} else {
		first, last := in.added, in.added.prev
		t.prev, t.next, last.next, first.prev = last, first, t, t
	}
}

func (in *timerInbox) unlink(t *Timer) {
	if t.next == t {
		in.added = nil
	} else {
		t.prev.next, t.next.prev = t.next, t.prev
		if in.added == t {
			in.added = t.next
		}
	}
	t.prev, t.next = nil, nil
}

// drainTimerInbox puts added timers into the heap, removes cancelled timers, and puts
// moved timers at their new place. Requires mu; loop only.
func (e *Executor) drainTimerInbox() (news bool) {
	in := &e.timers
	news = in.changed != nil || in.added != nil
	for in.changed != nil {
		t := in.changed
		in.changed, t.next, t.place = t.next, nil, placeNowhere
		e.heap.remove(t)
		if t.state == timerWaiting { // moved
			e.placeTimer(t)
		}
	}
	in.nCancelled = 0
	for in.added != nil {
		t := in.added
		in.unlink(t)
		e.placeTimer(t)
	}
	in.inHeap = e.heap.len()
	return news
}

// placeTimer puts a waiting timer of the inbox into the heap. Requires mu; loop only.
func (e *Executor) placeTimer(t *Timer) {
	if t.at > e.timers.horizon {
		// A shutdown has lowered the horizon since t was accepted. The heap may be purged
		// already, so nothing else would end t.
		e.endTimer(t, &ErrCancelled)
		return
	}
	t.place = placeHeap
	e.heap.push(t)
}

// cancelTimer implements Timer.Cancel. wake reports whether the caller must wake the loop to
// remove cancelled timers, because they are the majority of the heap. Requires mu.
func (e *Executor) cancelTimer(t *Timer) (wake, cancelled bool) {
	in := &e.timers
	switch t.state {
	case timerOver:
		return false, false
	case timerRunning:
		cancelled = t.period != 0 && !t.cancel
		t.cancel = t.cancel || cancelled
		return false, cancelled
	}
	switch {
	case t.place == placeAdded:
		in.unlink(t)
	case e.InEventLoop():
		in.inHeap = e.heap.remove(t)
	default:
		if t.place != placeChanged {
			in.addChanged(t)
		}
		t.place = placeCancelled
		in.nCancelled++
		e.announceNews()
		wake = 2*in.nCancelled > in.inHeap
	}
	e.endTimer(t, &ErrCancelled)
	return wake, true
}

// endTimer completes t with the error that err points to; nil: none. Requires mu.
func (e *Executor) endTimer(t *Timer, err *error) {
	e.timers.end(t, err)
	if err == &ErrCancelled && e.cfg.tracer != nil {
		e.trace(Event{Kind: EventTimerCancelled})
	}
}

// end completes t and counts how it ended. It takes a pointer to the error, as Timer has one: to
// compare two errors is a call of the runtime, and a cancelled timer would need four.
func (c *timerCounts) end(t *Timer, err *error) {
	t.state, t.fn, t.err = timerOver, nil, err
	t.at = t.ranAt
	if t.done != nil {
		close(t.done)
	}
	c.pending--
	if err != &ErrCancelled {
		c.ended++
		return
	}
	c.cancelled++
}

// runTimers runs the timers that are due. One clock reading serves a turn.
func (e *Executor) runTimers() {
	if e.heap.len() == 0 {
		return
	}
	now := e.now()
	for e.timersLeft > 0 && !e.stateMoved() && e.heap.len() > 0 && e.heap.first() <= now {
		e.timersLeft--
		t := e.heap.pop()
		if body := e.beginTimer(t, now); body != nil {
			e.runBody(currentBody{kind: BodyTimer, timer: t}, body)
			e.settle()
		}
	}
}

// beginTimer marks t as running and returns its body, or returns nil if t must not run now.
// A cancelled timer has ended. A moved timer is put back by drainTimerInbox. A timer with a
// deadline after the horizon of a shutdown is ended here. Cancel and Reset hold mu too, so
// each of them comes before or after the begin of the body, never in between (G8).
func (e *Executor) beginTimer(t *Timer, now int64) func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t.state != timerWaiting || t.place == placeChanged {
		return nil
	}
	if t.at > e.timers.horizon {
		e.endTimer(t, &ErrCancelled)
		return nil
	}
	if len(e.meters) > 0 {
		e.meterTimer(t, now)
	}
	t.state, t.ranAt = timerRunning, t.at
	return t.fn
}

// finishTimer ends t after a run, or arms it again. If the clock or the source of the jitter
// panics, endRun is still called, so that t is waiting when the loop fails and cancels all
// waiting timers (G9).
func (e *Executor) finishTimer(t *Timer, outcome Outcome) {
	now, jitter := noDeadline, time.Duration(0)
	defer func() { e.endRun(t, outcome, now, jitter) }()
	if t.period < 0 {
		now = e.now()
	}
	if t.period != 0 {
		jitter = e.drawJitter(t.period)
	}
}

// endRun counts a run that ended at now, and ends t or arms it again, with the given jitter.
func (e *Executor) endRun(t *Timer, outcome Outcome, now int64, jitter time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timers.runs++
	switch {
	case outcome == OutcomePanicked:
		panicked := error(e.panics[len(e.panics)-1])
		e.endTimer(t, &panicked)
	case outcome == OutcomeExited:
		e.endTimer(t, &ErrGoexit)
	case t.period == 0:
		e.endTimer(t, nil)
	case t.cancel:
		e.endTimer(t, &ErrCancelled)
	default:
		e.rearm(t, now, jitter)
	}
}

// rearm puts a periodic timer back into the heap. The timer keeps its id: timers with equal
// deadlines run in the order of their Schedule calls (R76). Requires mu.
func (e *Executor) rearm(t *Timer, now int64, jitter time.Duration) {
	t.nextRun(now, jitter)
	if e.gate&gateClosed != 0 || t.at > e.timers.horizon {
		e.endTimer(t, &ErrCancelled)
		return
	}
	t.state = timerWaiting
	e.timers.inHeap = e.heap.push(t)
}

// nextRun sets the deadline of the next run of a periodic timer whose last run ended at
// now.
func (t *Timer) nextRun(now int64, jitter time.Duration) {
	switch {
	case t.moved:
		t.moved = false // at is set already
		return
	case t.period > 0:
		t.grid = addTime(t.grid, t.period)
	default:
		t.grid = addTime(now, -t.period)
	}
	t.at = addTime(t.grid, jitter)
}

// purgeChunk bounds the timers that purgeTimers cancels under one hold of mu.
const purgeChunk = 256

// purgeTimers cancels the timers with a deadline after the horizon. It takes time linear
// in the number of timers, once per change of the horizon.
func (e *Executor) purgeTimers() {
	e.mu.Lock()
	horizon := e.timers.horizon
	e.mu.Unlock()
	if horizon == e.purged {
		return
	}
	doomed := e.heap.removeAfter(horizon)
	for len(doomed) > 0 {
		n := min(len(doomed), purgeChunk)
		e.mu.Lock()
		for _, t := range doomed[:n] {
			if t.state == timerWaiting && t.at > horizon { // else cancelled, or moved: drainTimerInbox puts it back
				e.endTimer(t, &ErrCancelled)
			}
		}
		e.timers.inHeap = e.heap.len()
		e.mu.Unlock()
		doomed = doomed[n:]
	}
	e.purged = horizon
}

// earliestTimer returns the earliest deadline of the timers in the heap and in the inbox.
// Requires mu; loop only.
func (e *Executor) earliestTimer() int64 {
	next := noDeadline
	if e.heap.len() > 0 {
		next = e.heap.first()
	}
	for t := e.timers.added; t != nil; {
		next = min(next, t.at)
		if t = t.next; t == e.timers.added {
			break
		}
	}
	return next
}
