package props

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"eventide/core"
	"eventide/props/history"
)

// checkSamples compares every counter of every sample, and every field of every report that was taken before
// the end, with the log. A counter of the loop has one legal value in a sample that a body of the loop takes.
// Other goroutines may be in between: there it is between its values in the log before and after the sample.
func checkSamples(lane Lane, p Program, events []history.Event, rules history.Rules, out Recording) *history.Violation {
	if len(out.Samples)+len(out.Reports) == 0 {
		return nil
	}
	j, _ := samplesJudges.Get().(*samplesJudge)
	if j == nil {
		j = &samplesJudge{log: reader{periodic: map[int]bool{}, cancelled: map[int]bool{}}}
	}
	j.begin(lane, p, events, rules, out)
	defer func() {
		*j = samplesJudge{log: j.log, reports: j.reports[:0], froms: j.froms[:0]}
		samplesJudges.Put(j)
	}()
	for i := range events {
		if i == j.next {
			j.until(i)
		}
		j.log.event(&events[i])
	}
	if len(events) == j.next {
		j.until(len(events))
	}
	if j.wrong == "" {
		return nil
	}
	return &history.Violation{Guarantee: "G20", Predicate: "Samples", At: j.at, Sentence: "every snapshot and every report agrees with the log", Text: j.wrong}
}

// samplesJudges are unused judges, kept for their memory: lanes judge many short runs.
var samplesJudges sync.Pool

// samplesJudge compares the samples of a run with its log.
type samplesJudge struct {
	Program
	events []history.Event
	log    reader
	most   int // workers that the pool may have
	spins  bool
	whole  bool // the log has every shutdown call
	final  *core.Report

	samples []Sample // those that are left
	from    totals   // of the first one
	parks   int64    // of the last one
	reports []ReportSample
	froms   []totals // of the first reports
	next    int      // length of the log at which until is called next

	wrong string
	at    []int
}

// begin makes j, which may have been used before, the judge of a recording.
func (j *samplesJudge) begin(lane Lane, p Program, events []history.Event, rules history.Rules, out Recording) {
	*j = samplesJudge{
		Program: p, events: events, log: j.log, samples: out.Samples, reports: append(j.reports[:0], out.Reports...), froms: j.froms[:0],
		most: p.Pool, spins: lane == Real, whole: !p.clockFaults(),
	}
	j.log.reset(rules.Overlap || p.Pool > 0, out.Asides)
	if p.Pool > 0 {
		p.AnyStep(func(s *Step) bool {
			j.most = max(j.most, s.Size)
			return false
		})
	}
	if out.Final != nil {
		j.final = &out.Final.Report
	}
	slices.SortStableFunc(j.reports, func(a, b ReportSample) int { return cmp.Compare(a.After, b.After) })
}

// until judges the samples and reports that were taken when the log had the length n, and sets next. Event n+1 is not in j.log yet.
func (j *samplesJudge) until(n int) {
	j.next = len(j.events) + 1
	for len(j.froms) < len(j.reports) && j.reports[len(j.froms)].After == n {
		j.froms = append(j.froms, j.log.totals)
	}
	for i := range j.froms {
		if r := &j.reports[i]; r.N == n+1 {
			j.report(r, &j.froms[i])
		} else if r.N > n+1 {
			j.next = min(j.next, r.N-1)
		}
	}
	if len(j.froms) < len(j.reports) {
		j.next = min(j.next, j.reports[len(j.froms)].After)
	}
	for len(j.samples) > 0 {
		s := &j.samples[0]
		if s.After == n {
			j.from = j.log.totals
		}
		if s.N != n+1 {
			at := s.N - 1
			if s.After > n {
				at = s.After
			}
			j.next = min(j.next, at)
			return
		}
		j.sample(s)
		j.parks = s.Stats.Parks
		j.samples = j.samples[1:]
	}
}

// blame keeps the first violation.
func (j *samplesJudge) blame(n int, format string, args ...any) {
	if j.wrong != "" {
		return
	}
	j.wrong = fmt.Sprintf(format, args...)
	if n <= len(j.events) {
		j.at = []int{n}
	}
}

// between blames a counter that is not between two values.
func (j *samplesJudge) between(n int, of, what string, is int64, least, most int) {
	if is < int64(least) || is > int64(most) {
		j.blame(n, "at #%d %s.%s is %d, and by the log it is at least %d and at most %d", n, of, what, is, least, most)
	}
}

// sample judges a snapshot.
func (j *samplesJudge) sample(sample *Sample) {
	s, n, from, to := &sample.Stats, sample.N, &j.from, j.log.upper()
	inBody, open, asleep := j.workers(sample)
	j.counters(n, "Stats", &counters{s.Accepted, s.Ran, s.Cancelled, s.Rejected, s.Panicked, s.HooksRun, s.TimersRun}, from, &to)
	j.state(sample, &to)
	j.between(n, "Stats", "TimersScheduled", s.TimersScheduled, from.scheduled, to.scheduled)
	j.between(n, "Stats", "TimersEnded", s.TimersEnded, from.least.timersEnded, to.most.timersEnded)
	j.between(n, "Stats", "TimersCancelled", s.TimersCancelled, sample.Cancelled[0], sample.Cancelled[1])
	if s.TimersScheduled != s.TimersEnded+s.TimersCancelled+s.Timers {
		j.blame(n, "at #%d %d timers were scheduled, %d ended, %d were cancelled, and %d are left", n, s.TimersScheduled, s.TimersEnded, s.TimersCancelled, s.Timers)
	}
	if s.Accepted != s.Ran+s.Cancelled+s.Pending {
		j.blame(n, "at #%d %d tasks were accepted, %d ran, %d were cancelled, and %d are pending", n, s.Accepted, s.Ran, s.Cancelled, s.Pending)
	}
	taken := 1 // the loop may have taken a hook whose begin is not logged
	if inBody && !j.log.overlap {
		taken = 0
	}
	j.between(n, "Stats", "Hooks", s.Hooks, from.added-to.removed-to.hooksBegun-taken, to.added-from.removed-from.hooksBegun)
	j.between(n, "Stats", "Parks + Spins", s.Parks+s.Spins, from.sleeps, to.sleeps)
	if s.Parks < j.parks || s.Spins < 0 || s.Spins > 0 && !j.spins {
		j.blame(n, "at #%d the loop has parked %d times and spun %d times, after it had parked %d times", n, s.Parks, s.Spins, j.parks)
	}
	j.between(n, "Stats", "Wakes", s.Wakes, from.wakes, to.wakes)
	j.between(n, "Stats", "Registrations", s.Registrations, from.opened-to.closed, to.opened-from.closed)
	logged := 1 // a rebuild is logged when it is over
	if inBody || !j.Loop {
		logged = 0
	}
	j.between(n, "Stats", "Rebuilds", s.Rebuilds, sample.Rebuilt[0], sample.Rebuilt[1]+logged)
	j.between(n, "Stats", "Workers", s.Workers, open+asleep, j.most)
	j.between(n, "Stats", "Busy", s.Busy, open, int(s.Workers)-asleep)
}

// workers returns whether the sample was taken in a body, and how many workers of a pool ran bodies and slept
// during all of the sample.
func (j *samplesJudge) workers(s *Sample) (inBody bool, open, asleep int) {
	g := j.events[s.N-1].G
	for _, w := range j.log.workers {
		switch {
		case w.since == 0 || w.since > s.After:
		case w.depth > 0:
			inBody = inBody || w.g == g
			open++
		default:
			asleep++
		}
	}
	if j.Pool == 0 {
		open, asleep = 0, 0
	}
	return inBody, open, asleep
}

// state judges the state of a snapshot. Between its last move and the close of Done an executor has the state before.
func (j *samplesJudge) state(s *Sample, to *totals) {
	least, is := j.from.state, s.Stats.State
	if least == history.Terminated && !j.from.ended {
		least = j.from.before
	}
	if is < least || is > to.state {
		j.blame(s.N, "at #%d the state is %v, and by the log it is at least %v and at most %v", s.N, is, least, to.state)
	}
}

// counters are those that a snapshot and a report have in common.
type counters struct{ accepted, ran, cancelled, rejected, panicked, hooksRun, timersRun int64 }

func (j *samplesJudge) counters(n int, of string, c *counters, from, to *totals) {
	j.between(n, of, "Accepted", c.accepted, from.accepted, to.accepted)
	j.between(n, of, "Ran", c.ran, from.least.ran, to.most.ran)
	j.between(n, of, "Cancelled", c.cancelled, from.least.cancelled, to.most.cancelled)
	j.between(n, of, "Rejected", c.rejected, from.least.rejected, to.most.rejected)
	j.between(n, of, "Panicked", c.panicked, from.least.panicked, to.most.panicked)
	j.between(n, of, "HooksRun", c.hooksRun, from.least.hooksRun, to.most.hooksRun)
	j.between(n, of, "TimersRun", c.timersRun, from.least.timersRun, to.most.timersRun)
}

// report judges a report. The Elapsed of a shutdown and the cancelled timers are compared when it is taken.
func (j *samplesJudge) report(sample *ReportSample, from *totals) {
	r, n, to := &sample.Report, sample.N, j.log.upper()
	j.counters(n, "Report", &counters{r.Accepted, r.Ran, r.Cancelled, r.Rejected, r.Panicked, r.HooksRun, r.TimersRun}, from, &to)
	j.between(n, "Report", "TimersCancelled", r.TimersCancelled, sample.Cancelled[0], sample.Cancelled[1])
	j.between(n, "Report", "TimedOut", int64(one(r.TimedOut)), one(from.timed), one(to.timed))
	j.shutdown(sample, from, &to)
	most := core.Report{}
	if begun := to.called > 0 || to.state >= history.ShuttingDown; begun && j.final != nil && j.Loop {
		most = *j.final
	}
	j.between(n, "Report", "ChannelsDrained + ChannelsAborted", r.ChannelsDrained+r.ChannelsAborted, 0, to.shut)
	j.between(n, "Report", "ChannelsDrained", r.ChannelsDrained, 0, int(most.ChannelsDrained))
	j.between(n, "Report", "ChannelsAborted", r.ChannelsAborted, 0, int(most.ChannelsAborted))
	j.between(n, "Report", "BytesDiscarded", r.BytesDiscarded, 0, int(most.BytesDiscarded))
	j.between(n, "Report", "WritesRefused", r.WritesRefused, 0, int(most.WritesRefused))
	j.between(n, "Report", "ChannelsHeld", r.ChannelsHeld, 0, 0) // only channels of core/tcp can be held
	j.between(n, "Report", "bytes of Held", int64(len(r.Held)), 0, 0)
}

// shutdown judges the part of a report about the shutdown call.
func (j *samplesJudge) shutdown(sample *ReportSample, from, to *totals) {
	r, n := &sample.Report, sample.N
	none := r.Quiet == 0 && r.Timeout == 0 && r.Elapsed == 0
	switch {
	case r.Running != "" && !r.TimedOut:
		j.blame(n, "before #%d a report names a running body, and no timeout has passed", n)
	case !j.whole, to.called == 0 && to.state >= history.ShuttingDown: // a failure has begun the shutdown
	case to.called == 0:
		if !none {
			j.blame(n, "before #%d the report is %+v, and there was no shutdown call", n, *r)
		}
	case from.called > 0 || !none:
		if inv := &j.events[to.called-1]; r.Quiet != inv.Quiet || r.Timeout != inv.Timeout {
			j.blame(n, "before #%d the report has the quiet period %v and the timeout %v, and #%d gave %v and %v", n, r.Quiet, r.Timeout, inv.N, inv.Quiet, inv.Timeout)
		}
	}
}
