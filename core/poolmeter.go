package core

import (
	"slices"
	"time"
)

// NewMeter returns a Meter of the pool. It does not start a worker.
func (p *Pool) NewMeter() *Meter {
	m := &Meter{owner: p, begun: time.Now()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters = append(p.meters, m)
	return m
}

// readMeter returns the measurements of m. If m is nil, it sets only Running. Requires
// mu.
func (p *Pool) readMeter(m *Meter) (r Reading) {
	for _, w := range p.workers {
		if w.job.kind != BodyNone {
			r.Running = append(r.Running, RunningBody{w.job.kind, w.job.run, w.goroutine})
		}
	}
	if m == nil {
		return r
	}
	r.Stats = p.stats()
	if m.closed {
		return r
	}
	m.addBusy(p.busy)
	r.Busy = time.Duration(m.busy)
	c := p.queue.Counts()
	begun := c.Begun()
	r.Oldest = m.oldest(begun)
	if p.gate&gateNotStarted == 0 {
		m.begin(c.Accepted, begun, p.busy < p.size)
	}
	return r
}

func (p *Pool) removeMeter(m *Meter) {
	p.meters = slices.DeleteFunc(p.meters, func(other *Meter) bool { return other == m })
}

// addBusy adds to m.busy, for each worker that ran a body, the time since the last call of
// addBusy. The number of these workers is the parameter busy.
func (m *Meter) addBusy(busy int) {
	now := m.now()
	m.busy += (now - m.busyUntil) * int64(busy)
	m.busyUntil = now
}

// meterBusy is called before busy changes. Requires mu.
func (p *Pool) meterBusy() {
	for _, m := range p.meters {
		m.addBusy(p.busy)
	}
}

// meterBegin is called before a body begins, at now. Requires mu.
func (p *Pool) meterBegin(j *job, now int64) {
	p.meterBusy()
	for _, m := range p.meters {
		switch j.kind {
		case BodyTask:
			m.takeSamples(j.number-1, m.busyUntil)
		case BodyTimer:
			m.timerBegins(now - j.timer.at)
		}
	}
}

// meterSleep is called when a worker has found nothing to run. It takes the samples of all probes:
// a task accepted at any of them would have begun by now. Requires mu.
func (p *Pool) meterSleep() {
	for _, m := range p.meters {
		m.takeSamples(p.queue.Counts().Accepted, m.now())
	}
}

// meterWakeUp begins samples of the wake-up of w. Requires mu.
func (p *Pool) meterWakeUp(w *worker) {
	for _, m := range p.meters {
		m.callerWakes(w)
	}
}

// meterWoke ends the sample of the wake-up of w. Requires mu.
func (p *Pool) meterWoke(w *worker) {
	for _, m := range p.meters {
		m.loopWoke(w, m.now())
	}
}
