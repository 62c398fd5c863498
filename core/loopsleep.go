package core

import "eventide/core/internal/poll"

// sleepAndUnlock announces the sleep, sleeps, and drains the inbox. Requires mu, and
// releases it.
func (e *Executor) sleepAndUnlock(until int64) {
	e.inSleep, e.asleep = true, true
	e.parks++
	e.batches = 0
	if len(e.meters) > 0 {
		e.meterSleep()
	}
	e.timers.sleepUntil = until
	e.sleeping = true
	e.tracePark(until)
	e.mu.Unlock()
	worked := e.sleep(until)
	e.recordPoll()
	found := e.found()
	e.mu.Lock()
	woken := !e.asleep
	e.inSleep, e.asleep = false, false // before any body runs: the loop does not wake itself
	if len(e.meters) > 0 {
		e.meterWoke()
	}
	news := e.drainInbox() || e.hasWork()
	if e.io == nil || e.broken != nil {
		e.mu.Unlock()
		return
	}
	e.io.collect(found)
	e.mu.Unlock()
	if worked { // after a failed Wait, a wake-up is no sign that the poller works again
		e.judgeReturn(woken || news || !e.io.spent(), until)
	}
}

// sleep waits on the poller, and reports whether Wait succeeded. pollerFailed handles an error of
// the poller: an event loop rebuilds the poller once, any other executor fails (G15).
func (e *Executor) sleep(until int64) (worked bool) {
	if e.broken != nil {
		e.sleepWithoutPoller()
	} else if err := e.poller.Wait(e.deadlineAt(until)); err != nil {
		e.traceUnpark()
		e.awake()
		e.pollerFailed(err)
		return false
	} else {
		worked = true
	}
	e.traceUnpark()
	return worked
}

// awake ends the announcement of a sleep whose Wait has failed: the logger is called before the inbox is
// drained, and work that it posts must not wake the loop (G12). Loop only.
func (e *Executor) awake() {
	e.mu.Lock()
	e.inSleep, e.asleep = false, false
	e.mu.Unlock()
}

// endSleep ends the sleep that a panic or Goexit of a clock or a poller may have cut short: the
// loop is awake, so nobody has to wake it (G12). Loop only.
func (e *Executor) endSleep() {
	if e.sleeping {
		e.traceUnpark()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inSleep, e.asleep = false, false
	e.meterWoke()
}

// recordPoll is called after a sleep. It allows the loop another share of tasks until the
// next poll, unless the poller has returned without polling (G13). Loop only.
func (e *Executor) recordPoll() {
	if e.io == nil || e.broken != nil {
		return
	}
	if p, ok := e.io.poller.(poll.PollTracker); !ok || p.Polled() {
		e.beginShare()
	}
}

// tracePark requires mu.
func (e *Executor) tracePark(until int64) {
	if e.cfg.tracer == nil {
		return
	}
	ev := Event{
		Kind: EventPark, To: e.seen, Until: -1, NextTimer: -1,
		Queued: e.counts().Pending + len(e.internalTasks),
	}
	if until != noDeadline {
		ev.Until = shown(until)
	}
	if next := e.earliestTimer(); next != noDeadline {
		ev.NextTimer = shown(next)
	}
	e.trace(ev)
}

// traceUnpark is called once per sleep. Loop only.
func (e *Executor) traceUnpark() {
	e.sleeping = false
	if e.cfg.tracer != nil {
		e.trace(Event{Kind: EventUnpark})
	}
}
