package core

import (
	"fmt"
	"strings"
	"time"
)

// Stats returns one consistent snapshot of the pool. Pending counts queued and running tasks.
// Only a pool sets Workers and Busy.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats()
}

// stats requires mu.
func (p *Pool) stats() Stats {
	c := p.queue.Counts()
	return Stats{
		State:    p.State(),
		Accepted: c.Accepted, Ran: c.Ran, Cancelled: c.Cancelled, Pending: int64(c.Pending),
		Rejected: p.rejected + p.rejectedLate, Panicked: p.panicked,
		Timers: p.timers.pending, TimersScheduled: p.timers.scheduled, TimersEnded: p.timers.ended,
		TimersCancelled: p.timers.cancelled, TimersRun: p.timers.runs,
		Hooks: int64(p.hooks.size()), HooksRun: p.hooks.ran,
		Parks: p.parks, Wakes: p.wakes,
		Workers: int64(p.live - p.starting), Busy: int64(p.busy),
	}
}

// progressReport implements Termination.Report before the report is sealed.
func (p *Pool) progressReport() Report {
	var now int64
	if p.State() >= StateShuttingDown {
		now = p.nowIfItCan()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reportAt(now)
}

// reportAt returns the report as of now. Requires mu.
func (p *Pool) reportAt(now int64) Report {
	c := p.queue.Counts()
	r := Report{
		Accepted: c.Accepted, Ran: c.Ran, Cancelled: c.Cancelled, Rejected: p.rejected, Panicked: p.panicked,
		HooksRun: p.hooks.ran, TimersRun: p.timers.runs, TimersCancelled: p.timers.cancelled,
		TimedOut: p.shutdown.timedOut, Running: p.shutdown.running,
		Quiet: p.shutdown.quiet, Timeout: p.shutdown.timeout,
	}
	if p.shutdown.called {
		r.Elapsed = max(0, asDuration(now-p.shutdown.calledAt))
	}
	return r
}

// runningBody describes a body that a worker is running.
type runningBody struct {
	kind      Body
	since     time.Duration
	goroutine int64
}

// runningBodies returns the running bodies, in the order in which their workers started. Requires
// mu.
func (p *Pool) runningBodies(now int64) (running []runningBody) {
	for _, w := range p.workers {
		if w.job.kind != BodyNone {
			running = append(running, runningBody{w.job.kind, max(0, asDuration(now-w.job.began)), w.goroutine})
		}
	}
	return running
}

// Running describes the bodies that are running, each with its running time and its stack as in
// Report.Running; "" if none runs. It may be called from any goroutine, and does not wait for the
// bodies. Call it only when you give up waiting: to read the stack of another goroutine than its
// caller's it stops all goroutines.
func (p *Pool) Running() string {
	now := p.nowIfItCan()
	p.mu.Lock()
	running := p.runningBodies(now)
	p.mu.Unlock()
	return p.describe(running)
}

// describe returns the text of Running for the given bodies.
func (p *Pool) describe(running []runningBody) string {
	if len(running) == 0 {
		return ""
	}
	ids := make([]int64, len(running))
	for i, r := range running {
		ids[i] = r.goroutine
	}
	stacks := stacksOf(ids...)
	var text strings.Builder
	for i, r := range running {
		fmt.Fprintf(&text, "%s: a %s has been running for %v:\n%s\n", p.cfg.name, noun(r.kind), r.since.Round(time.Microsecond), stacks[i])
	}
	return text.String()
}
