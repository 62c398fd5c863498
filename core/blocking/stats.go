package blocking

import "eventide/core"

// Stats is a snapshot of a group.
type Stats struct {
	core.Stats // the sum over all executors, including those that have terminated

	Channels  int // open or being registered
	Executors int // executors that have not terminated
	Idle      int // executors that wait for a channel
}

// Stats returns a snapshot. Each executor's part is consistent. The part of an executor that has
// terminated does not change any more: a call that it refuses later is in its own Stats alone.
func (g *Group) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Stats: g.pastStats, Channels: g.open, Executors: len(g.children), Idle: len(g.idle)}
	for _, c := range g.children {
		s.Stats = s.Stats.Plus(c.loop.Stats())
	}
	s.State = g.stateLocked()
	return s
}

// report returns the sum of the executors' reports.
func (g *Group) report() core.Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.past
	for _, c := range g.children {
		r = r.Plus(c.loop.Termination().Report())
	}
	return r
}
