package props

import (
	"eventide/core"
	"eventide/props/history"
)

// Sample is a snapshot of core that was taken during a run, with the events of the log around it. All of
// its counters are compared with the log. The event of kind history.Sample at N has only those counters
// that other executors have too.
type Sample struct {
	After     int // position of the last event before the call of Stats
	N         int // position of the Sample event, which follows the call
	Stats     core.Stats
	Cancelled [2]int // timers traced as cancelled, before and after the call
	Rebuilt   [2]int // rebuilds of the poller that were logged, before and after the call
}

// ReportSample is a report of an executor that had not terminated. Running, if it is set, is "a body": a stack
// has the numbers of goroutines.
type ReportSample struct {
	After  int // position of the last event before the call of Report
	N      int // one more than the position of the last event when the call had returned
	Report core.Report

	Cancelled [2]int // as in Sample
}

// firstSamples is enough for the samples of a small program.
const firstSamples = 16

// sample takes a snapshot, and adds it to the log.
func (h *harness) sample() {
	h.sampling.Lock() // the log has samples in the order in which they were taken
	defer h.sampling.Unlock()
	if len(h.common) == 0 {
		h.common = make([]history.Stats, firstSamples)
	}
	stats := &h.common[0]
	h.common = h.common[1:]
	s := Sample{After: h.rec.log.Len()}
	s.Cancelled[0], s.Rebuilt[0] = h.rec.cancelledTimers(), h.reporter.rebuiltPollers()
	s.Stats = h.ex.Stats()
	s.Cancelled[1], s.Rebuilt[1] = h.rec.cancelledTimers(), h.reporter.rebuiltPollers()
	h.lookAtBegun(s.Stats.State)
	*stats = statsWords(s.Stats)
	s.N = h.rec.log.Add(history.Event{Kind: history.Sample, Call: s.After, Stats: stats})
	if h.samples == nil {
		h.samples = make([]Sample, 0, firstSamples)
	}
	h.samples = append(h.samples, s)
}

// take keeps a report that was taken after the log had the length After.
func (s *ReportSample) take(h *harness, r core.Report) {
	s.Cancelled[1], s.N = h.rec.cancelledTimers(), h.rec.log.Len()+1
	if s.Report = r; r.Running != "" {
		s.Report.Running = "a body"
	}
}

// cancelledTimers returns how many timers were traced as cancelled.
func (r *recorder) cancelledTimers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timers
}

// rebuiltPollers returns how many rebuilds of the poller were logged.
func (r *reporter) rebuiltPollers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rebuilds
}
