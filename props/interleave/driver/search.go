package driver

import (
	"strings"
	"time"

	"eventide/props/interleave/protocol"
)

// A search explores the schedules of one test.
type search struct {
	pkg           *pkg
	test          test
	opts          *Options
	seed          uint64
	fresh         bool          // a process for each schedule: the test cannot run twice in one
	limit         uint64        // schedules; 0 is none
	budget        time.Duration // of the search, without minimising; 0 is none
	until         time.Time     // of the package's run; zero is none
	leaks         bool
	cold          bool   // processes have no warm-up, because the warm-up fails or is undecided
	coldUndecided bool   // it is undecided
	largest       uint64 // operations of the largest schedule that passed
	covered       coverage
	found         []*found
	spent         time.Duration
	confirming    time.Duration       // spent on findings
	onceBy        time.Time           // when a process of once is killed; zero is never
	cpu           time.Duration       // processor time of the processes of once
	about         string              // what the run without control showed
	alone         string              // output of the test when it failed alone without control; "" if it did not fail so
	plainCut      time.Duration       // time after which a run without control was killed during this test; 0 if it was not
	stopped       string              // why the search ended before its limit; "" if it did not
	program       string              // of interleave.Linearizable; "" draws one for each schedule
	next          uint64              // place of the first schedule that has not run
	progress      func(*search) error // called before each process; nil for none
}

// A found is one distinct finding of a test.
type found struct {
	kept       *keptFinding // it comes from a file of state; the fields about its schedule are not set
	cause      cause
	first      *finding
	from       uint64 // schedule at which the process began that found it
	output     string // of that process
	times      int
	after      time.Duration // of searching
	repeat     protocol.Request
	state      repeatState
	timing     bool     // it needs time to pass while a goroutine can run
	replay     *finding // of the confirmed replay
	ops        []protocol.Op
	born       map[uint64]string
	printed    string // by the test in the confirmed replay
	prefix     uint64 // schedules that have to run before, in the same process
	file       string // replay file
	html       string // timeline
	original   int    // switches before minimising; 0 if they were too many to be listed
	minimising time.Duration
	cpu        time.Duration // processor time of the processes that minimised
}

// maxNew bounds the distinct findings of a test that are minimised and shown.
const maxNew = 8

// run searches until the limit, the budget or the end of the package's time.
func (s *search) run() error {
	dfs := s.opts.Exhaust >= 0
	for next := s.next; s.limit == 0 || next < s.limit; {
		if s.next = next; s.progress != nil {
			if err := s.progress(s); err != nil {
				return err
			}
		}
		left, ok := s.left()
		if !ok {
			break
		}
		p := s.process(next, left)
		e, err := p.start()
		if err != nil {
			return err
		}
		s.spent += e.took
		s.covered.add(e, p)
		ran := e.counts.Schedules
		if e.cut {
			s.stopped = stoppedByClose
			break
		}
		if e.timeUp {
			if s.covered.Schedules == 0 {
				s.stopped = stoppedByBudget
			}
			break
		}
		if e.finding == nil && e.summary && ran == 0 && s.opts.Run != "" {
			s.stopped = stoppedByPattern
			break
		}
		if e.finding == nil {
			next += max(ran, 1)
			if !dfs && (s.fresh || ran >= p.count || p.request.Budget < left) {
				continue
			}
			break // complete, or out of budget
		}
		begin := time.Now()
		err = s.take(e, s.number(next))
		s.confirming += time.Since(begin)
		if err != nil {
			return err
		}
		if !e.finding.Warm || p.request.Cold {
			next = max(s.position(e.finding.Number), next) + 1
		}
		if s.enough(e, dfs) {
			break
		}
	}
	return nil
}

// Reasons to stop that leave a test undecided.
const (
	stoppedByTimeout = "-timeout"
	stoppedBySize    = "no schedule fits into the limit of operations"
	stoppedByPattern = "no subtest matches -run"
	stoppedByClose   = "the process closed the descriptor on which it reports"
	stoppedByWait    = "a schedule waited for a process outside of control"
	stoppedByBudget  = "no schedule ended within the budget"
)

// enough says whether the search ends after the finding of e.
func (s *search) enough(e *ending, dfs bool) bool {
	switch {
	case dfs && e.finding.Verdict == protocol.Leak && s.leaks:
		s.leaks = false
		return false
	case dfs:
		s.stopped = "a complete search ends at its first finding"
	case s.opts.FailFast && len(s.found) > 0:
		s.stopped = "-failfast"
	case len(s.found) >= maxNew:
		s.stopped = "many different findings"
	case s.covered.TooLarge >= 3 && s.covered.TooLarge == s.covered.Schedules:
		s.stopped = stoppedBySize
	case e.hung && e.finding.Verdict == verdictOutside:
		s.stopped = stoppedByWait
	case e.hung:
		s.stopped = "a schedule did not end"
	default:
		return false
	}
	return true
}

// left returns the budget for the next process.
func (s *search) left() (time.Duration, bool) {
	left := time.Duration(0)
	if s.budget > 0 {
		if left = s.spare(); left <= 0 {
			if s.covered.Schedules == 0 {
				s.stopped = stoppedByBudget
			}
			return 0, false
		}
	}
	if !s.until.IsZero() {
		end := time.Until(s.until)
		if end <= 0 {
			s.stopped = stoppedByTimeout
			return 0, false
		}
		if left == 0 || end < left {
			left = end
		}
	}
	return left, true
}

// stride is the difference of the numbers of two consecutive schedules of this process,
// because the shards of a run take turns. 0 is the default, 1.
func (s *search) stride() uint64 {
	if s.opts.Shard.Of <= 1 || s.opts.Exhaust >= 0 {
		return 0
	}
	return uint64(s.opts.Shard.Of)
}

// number returns the number of the schedule at a place among the schedules of this
// shard. position is its inverse.
func (s *search) number(place uint64) uint64 {
	if s.stride() == 0 {
		return place
	}
	return uint64(s.opts.Shard.Index) + place*s.stride()
}

func (s *search) position(number uint64) uint64 { return number / max(s.stride(), 1) }

// share is how many of n schedules fall to this shard.
func (s *search) share(n uint64) uint64 {
	if s.stride() == 0 {
		return n
	}
	return (n + s.stride() - 1 - uint64(s.opts.Shard.Index)) / s.stride()
}

// mostInProcess is the most schedules of one process. The bound limits the state that a
// test leaves in its process.
const mostInProcess = 1 << 20

func (s *search) process(next uint64, budget time.Duration) *process {
	count := uint64(mostInProcess)
	if s.limit > 0 {
		count = min(count, s.limit-next)
	}
	if s.fresh {
		count = 1
	}
	r := s.base()
	r.First, r.Budget, r.Cold = s.number(next), budget, s.cold || s.fresh
	if s.progress != nil && (budget == 0 || budget > stateEvery) {
		r.Budget = stateEvery
	}
	r.Strategy, r.Time = s.opts.Strategy, s.opts.Time
	if s.opts.Exhaust >= 0 {
		r.Strategy, r.Bound, r.First, r.Budget = protocol.StrategyDFS, s.opts.Exhaust, 0, budget
		count = 1 << 30
	}
	p := &process{pkg: s.pkg, opts: s.opts, pattern: s.test.Pattern, request: r, count: count}
	if s.timed() {
		p.most = s.spare() + budgetGrace
	}
	return p
}

// base is the part that all requests of the search have in common.
func (s *search) base() protocol.Request {
	return protocol.Request{Seed: s.seed, Program: s.program, Stride: s.stride(), IgnoreLeaks: !s.leaks, Time: protocol.TimeIdle, Net: s.opts.Net,
		Faults: s.opts.Faults, Steps: s.opts.Steps, Largest: s.largest}
}

// take counts the finding of e, and minimises and confirms it if it is new.
func (s *search) take(e *ending, from uint64) error {
	s.largest = max(s.largest, e.finding.Largest)
	if protocol.Inconclusive(e.finding.Verdict) || e.finding.Verdict == verdictOutside {
		s.covered.inconclusive(e.finding)
		if e.finding.Warm && !s.cold {
			s.cold, s.coldUndecided = true, true // other schedules may end
		}
		return nil
	}
	if e.finding.Warm && !s.cold {
		s.cold, s.coldUndecided = true, false
		if err := s.tryAlone(); err != nil {
			return err
		}
	}
	c := e.cause()
	for _, f := range s.found {
		if f.cause.key() == c.key() {
			f.times++
			// A leak in most schedules hides other failures, so the search continues without leaks.
			if c.Verdict == protocol.Leak && f.times == 3 {
				s.leaks, s.cold = false, false
			}
			return nil
		}
	}
	f := &found{cause: c, first: e.finding, from: from, output: e.output, times: 1, after: s.spent}
	if err := s.confirm(f, e); err != nil {
		return err
	}
	once, err := s.failsOnlyAgain(f)
	if err != nil {
		return err
	}
	if once {
		s.fresh = true
		return nil
	}
	for _, other := range s.found {
		if other.cause.key() == f.cause.key() {
			other.times++
			return nil
		}
	}
	s.found = append(s.found, f)
	return nil
}

// tryAlone runs the test alone, without control. The test then fails if it depends on a
// test that runs before it.
func (s *search) tryAlone() error {
	r, err := s.opts.plainRun(s.pkg, s.test.Pattern, 1, s.alonePlain())
	if err == nil && r.state(s.test.Name) == plainFailed {
		s.alone = r.about(s.test.Name)
	}
	return err
}

// failsOnlyAgain says whether f fails on the default schedule because the process ran the
// test before: the same schedule passes in a process without a warm-up. The run without
// control cannot show this if another test of the package resets the state.
func (s *search) failsOnlyAgain(f *found) (bool, error) {
	if f.state != repeatsMinimal || len(f.repeat.Switches) > 0 || f.repeat.Cold {
		return false, nil
	}
	r := f.repeat
	r.Cold = true
	s.cutOff(time.Now().Add(traceLimit))
	e, err := s.once(r, 1)
	return err == nil && e.finding == nil && !e.timeUp, err
}

// cause returns the cause of the finding of e.
func (e *ending) cause() cause { return causeOf(e.finding, e.output, e.pkg) }

// same says whether an ending shows the cause c. The stacks may differ: in a smaller
// schedule, goroutines that have nothing to do with the failure may wait elsewhere.
func (e *ending) same(c cause) bool {
	return e.finding != nil && e.cause().same(c)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
