package blocking

import "eventide/core"

// Stats is a snapshot of a group.
type Stats struct {
	core.Stats // the sum over the executors, those that have terminated included

	Channels  int // open, or being registered
	Executors int // that have not terminated
	Idle      int // of these, the ones that wait for a channel
}

// Stats returns a snapshot. Each executor's part is consistent.
func (g *Group) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Stats: g.pastStats, Channels: g.open, Executors: len(g.children), Idle: len(g.idle)}
	for _, c := range g.children {
		s.Stats = addStats(s.Stats, c.loop.Stats())
	}
	s.State = g.stateLocked()
	return s
}

// report is the sum of what the executors report.
func (g *Group) report() core.Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.past
	for _, c := range g.children {
		r = addReports(r, c.loop.Termination().Report())
	}
	return r
}

// addReports adds two reports. Times are the longest.
func addReports(r, s core.Report) core.Report {
	r.Accepted += s.Accepted
	r.Ran += s.Ran
	r.Rejected += s.Rejected
	r.Cancelled += s.Cancelled
	r.Panicked += s.Panicked
	r.HooksRun += s.HooksRun
	r.TimersRun += s.TimersRun
	r.TimersCancelled += s.TimersCancelled
	r.ChannelsDrained += s.ChannelsDrained
	r.ChannelsAborted += s.ChannelsAborted
	r.BytesDiscarded += s.BytesDiscarded
	r.TimedOut = r.TimedOut || s.TimedOut
	if s.Running != "" {
		r.Running += s.Running + "\n"
	}
	r.Quiet, r.Timeout = max(r.Quiet, s.Quiet), max(r.Timeout, s.Timeout)
	r.Elapsed = max(r.Elapsed, s.Elapsed)
	return r
}

// addStats adds two snapshots; the state is not added.
func addStats(s, t core.Stats) core.Stats {
	s.Accepted += t.Accepted
	s.Ran += t.Ran
	s.Cancelled += t.Cancelled
	s.Pending += t.Pending
	s.Rejected += t.Rejected
	s.Panicked += t.Panicked
	s.Timers += t.Timers
	s.TimersScheduled += t.TimersScheduled
	s.TimersEnded += t.TimersEnded
	s.TimersCancelled += t.TimersCancelled
	s.TimersRun += t.TimersRun
	s.Hooks += t.Hooks
	s.HooksRun += t.HooksRun
	s.Parks += t.Parks
	s.Spins += t.Spins
	s.Wakes += t.Wakes
	s.Registrations += t.Registrations
	s.Rebuilds += t.Rebuilds
	return s
}
