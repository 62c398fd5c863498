package core_test

import (
	"strings"
	"time"

	"eventide/core"
)

// This file has the worker of poolModel.

// settle lets the worker run until it sleeps, blocks in a body, or has ended.
func (m *poolModel) settle() {
	for m.awake {
		m.purge()
		if b := m.take(); b != nil {
			m.begin(b)
			continue
		}
		if !m.advance() {
			m.park()
		}
	}
}

// purge ends the timers that a shutdown cancels.
func (m *poolModel) purge() {
	for _, t := range m.timers {
		if m.called && t.waits && t.at > m.horizon {
			m.endTimer(t, core.ErrCancelled)
		}
	}
}

func (m *poolModel) hookReady() bool {
	return len(m.hooks) > 0 && m.called && m.early == 0 && (m.round > 0 || m.gaveWay || len(m.tasks) == 0)
}

// take takes the next body, or returns nil.
func (m *poolModel) take() *stepBody {
	pop := func(from *[]*stepBody) *stepBody {
		b := (*from)[0]
		*from = (*from)[1:]
		return b
	}
	taskFirst := len(m.tasks) > 0 && m.last != core.BodyTask && m.last != core.BodyNone
	switch {
	case len(m.handlers) > 0:
		return pop(&m.handlers)
	case m.hookReady():
		if m.round == 0 {
			m.round = len(m.hooks)
		}
		if m.round--; m.round == 0 {
			m.gaveWay = false
		}
		return pop(&m.hooks)
	case !taskFirst && len(m.listeners) > 0:
		return pop(&m.listeners)
	case !taskFirst && m.first() <= int64(m.now):
		t := m.next()
		t.waits, t.runs, t.ranAt = false, true, t.at
		return &stepBody{kind: core.BodyTimer, timer: t, calls: t.body.calls}
	case len(m.tasks) > 0:
		m.gaveWay = true
		return pop(&m.tasks)
	}
	return nil
}

func (m *poolModel) begin(b *stepBody) {
	m.emit("begin(%v)", b.kind)
	m.job, m.began, m.awake, m.stats.Busy = b, m.now, false, 1
	m.proceed()
}

// proceed makes the calls that are left of the body that runs, up to one that blocks.
func (m *poolModel) proceed() {
	for b := m.job; len(b.calls) > 0; {
		call := b.calls[0]
		b.calls = b.calls[1:]
		if call.how != "skip" {
			m.emit("call %d", call.id)
		}
		switch call.how {
		case "block":
			return
		case "":
		default:
			m.ends(call.how)
			return
		}
	}
	m.ends("")
}

// ends ends the body that runs.
func (m *poolModel) ends(how string) {
	b, outcome := m.job, core.OutcomeNormal
	how, handler, _ := strings.Cut(how, " ")
	switch how {
	case "panic":
		outcome = core.OutcomePanicked
		if b.handler {
			m.emit("panic in the panic handler")
			break
		}
		m.stats.Panicked++
		m.handlers = append(m.handlers, &stepBody{kind: core.BodyListener, handler: true, calls: []stepCall{{0, handler}}})
	case "exit":
		outcome = core.OutcomeExited
		m.failures = max(0, m.failures-1) // the worker continues on this goroutine then
	case "skip":
		outcome = core.OutcomeSkipped
	}
	if b.kind == core.BodyListener && !b.handler && how != "" { // the listeners that are left
		m.listeners = append([]*stepBody{{kind: core.BodyListener, calls: b.calls}}, m.listeners...)
	}
	m.emit("end(%v,%v)", b.kind, outcome)
	m.job, m.awake, m.stats.Busy = nil, true, 0
	if !b.handler {
		m.last = b.kind
	}
	if b.kind != core.BodyListener && outcome != core.OutcomeSkipped {
		m.lastEnd = m.now
	}
	switch b.kind {
	case core.BodyTask:
		m.stats.Pending--
		if outcome == core.OutcomeSkipped {
			m.stats.Cancelled++
		} else {
			m.stats.Ran++
		}
		if b.early {
			m.early--
		}
	case core.BodyHook:
		m.stats.HooksRun++
	case core.BodyTimer:
		m.stats.TimersRun++
		m.timerEnds(b.timer, outcome)
	}
}

func (m *poolModel) timerEnds(t *stepTimer, outcome core.Outcome) {
	t.runs = false
	switch {
	case outcome == core.OutcomePanicked:
		m.endTimer(t, errOfAPanic)
	case outcome == core.OutcomeExited:
		m.endTimer(t, core.ErrGoexit)
	case t.period == 0:
		m.endTimer(t, nil)
	case t.cancel:
		m.endTimer(t, core.ErrCancelled)
	default:
		switch {
		case t.moved:
			t.moved = false
		case t.period > 0:
			t.grid += int64(t.period)
			t.at = t.grid
		default:
			t.at = int64(m.now - t.period)
			t.grid = t.at
		}
		if m.closed || t.at > m.horizon {
			m.endTimer(t, core.ErrCancelled)
		} else {
			t.waits = true
		}
	}
}

// quietEnd returns when the quiet period ends, or never.
func (m *poolModel) quietEnd() int64 {
	if m.stats.State != core.StateShuttingDown || len(m.hooks) > 0 {
		return never
	}
	return int64(max(m.calledAt, m.lastEnd) + m.quiet)
}

// advance closes admission at the end of the quiet period, and ends a closed pool. The worker has found nothing to run.
func (m *poolModel) advance() bool {
	switch {
	case m.next() != nil || len(m.hooks) > 0:
		return false
	case m.quietEnd() <= int64(m.now):
		m.close(core.ErrShutdown)
		return true
	case m.stats.State == core.StateShutdown:
		m.terminate()
		return true
	}
	return false
}

// park lets the worker sleep until its first timer, or the end of the quiet period.
func (m *poolModel) park() {
	m.until = m.first()
	shown := func(at int64) time.Duration {
		if at == never {
			return -1
		}
		return time.Duration(at)
	}
	if m.until == never {
		m.until = m.quietEnd()
	}
	m.emit("park(%v until %v, timer at %v, queued 0)", m.stats.State, shown(m.until), shown(m.first()))
	m.stats.Parks++
	m.parked, m.awake = true, false
	if m.until != never && m.alarm > m.until { // an earlier alarm stays
		m.alarm = m.until
	}
	if m.token {
		m.token = false
		m.unpark()
	}
}

// pass lets time pass.
func (m *poolModel) pass(d time.Duration) {
	for to := m.now + d; ; {
		at := min(m.alarm, m.timeoutAt)
		if at > int64(to) {
			m.now = to
			return
		}
		m.now = time.Duration(at)
		if m.alarm <= at {
			m.alarm = never
			switch {
			case m.parked:
				m.unpark()
			case m.stats.State != core.StateTerminated:
				m.token = true
			}
		}
		if m.timeoutAt <= at {
			m.timeoutAt = never
			if !m.closed {
				m.close(core.ErrShutdownTimeout)
				m.wake()
			}
		}
		m.settle()
	}
}
