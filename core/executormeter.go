package core

import (
	"slices"
	"time"
)

// NewMeter returns a Meter of the executor. It does not start the loop.
func (e *Executor) NewMeter() *Meter {
	m := &Meter{owner: e, begun: time.Now(), idleFrom: -1}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gate&gateNotStarted != 0 || e.asleep || State(e.state.Load()) == StateTerminated {
		m.idleFrom = 0
	}
	e.meters = append(e.meters, m)
	return m
}

// readMeter returns the measurements of m. If m is nil, it sets only Running. Requires
// mu.
func (e *Executor) readMeter(m *Meter) (r Reading) {
	if body, number := e.runningCall(); body != BodyNone {
		r.Running = []RunningBody{{body, number, e.owner.Load()}}
	}
	if m == nil {
		return r
	}
	r.Stats = e.stats()
	if m.closed {
		return r
	}
	now, c := m.now(), e.tasks.Counts()
	idle := m.idle
	if m.idleFrom >= 0 {
		idle += now - m.idleFrom
	}
	r.Busy = time.Duration(now - idle)
	begun := c.Begun()
	r.Oldest = m.oldest(begun)
	if e.gate&gateNotStarted == 0 {
		m.begin(c.Accepted, begun, e.asleep)
	}
	return r
}

func (e *Executor) removeMeter(m *Meter) {
	e.meters = slices.DeleteFunc(e.meters, func(other *Meter) bool { return other == m })
}

// updateProbeAt sets probeAt to the first position in the queue at which the loop has to call
// takeSamples. Requires mu; loop only.
//
// The loop calls it whenever it drains the inbox. That is early enough: a new probe is behind
// every accepted task, and the loop drains the inbox before it begins a task behind the probe.
func (e *Executor) updateProbeAt() {
	e.probeAt = noDeadline
	for _, m := range e.meters {
		if len(m.probes) > 0 {
			e.probeAt = min(e.probeAt, m.probes[0].after)
		}
	}
}

// takeSamples takes the samples of the probes up to the next task to begin. Loop only.
func (e *Executor) takeSamples() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.meters {
		m.takeSamples(e.tasks.Begun(), m.now())
	}
	e.updateProbeAt()
}

// meterSleep records that the loop begins to sleep, and takes the samples of all probes: every
// accepted task has run. Requires mu; loop only.
func (e *Executor) meterSleep() {
	for _, m := range e.meters {
		m.idleFrom = m.now()
		m.takeSamples(e.tasks.Begun(), m.idleFrom)
	}
}

// meterWakeUp begins samples of a wake-up. Requires mu.
func (e *Executor) meterWakeUp() {
	for _, m := range e.meters {
		m.callerWakes(nil)
	}
}

// meterWoke records that a sleep has ended. Requires mu.
func (e *Executor) meterWoke() {
	for _, m := range e.meters {
		now := m.now()
		if m.idleFrom >= 0 {
			m.idle, m.idleFrom = m.idle+now-m.idleFrom, -1
		}
		m.loopWoke(nil, now)
	}
}

// meterEnd ends the measurements of an executor that has terminated: from now on it counts as
// asleep. If no loop was ever started, it counts as asleep already. Requires mu.
func (e *Executor) meterEnd() {
	for _, m := range e.meters {
		if m.idleFrom < 0 {
			m.idleFrom = m.now()
		}
	}
}

// meterTimer takes a sample of a timer that begins. now is the time at which the turn began
// to run timers. meterTimer reads the time again, unless the clock is a user's, which must
// not be called with mu held. Requires mu; loop only.
func (e *Executor) meterTimer(t *Timer, now int64) {
	if e.cfg.clock == nil {
		now = e.now()
	}
	for _, m := range e.meters {
		m.timerBegins(now - t.at)
	}
}
