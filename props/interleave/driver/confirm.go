package driver

import (
	"time"

	"eventide/props/interleave/protocol"
)

// A repeatState says how a finding repeats in fresh processes.
type repeatState int

const (
	repeatsMinimal  repeatState = iota // by its minimal switches
	repeatsBySeed                      // by seed, strategy and number: the finding has too many switches, or depends on more than its switches
	repeatsUntried                     // not known: the time was over before the repetition
	repeatsByPrefix                    // after earlier schedules in the same process: state of the process
	repeatsNot
)

// minimiseLimit is the time after which minimising a finding begins no further process.
// Ten seconds are the most that it may take.
const minimiseLimit = 9 * time.Second

// confirm repeats f in fresh processes, minimises its switches, and keeps the trace of
// the last repetition for the report.
func (s *search) confirm(f *found, e *ending) error {
	begin, drawn, before := time.Now(), s, s.cpu
	end := s.minimiseBy(begin)
	s.cutOff(end.Add(budgetGrace))
	s, e, err := s.shrinkProgram(f.cause, e)
	if err != nil {
		return err
	}
	m := &minimiser{search: s, cause: f.cause, end: end}
	if e.hung {
		s.cutOff(time.Now().Add(traceLimit))
		f.state, f.repeat = repeatsNot, s.bySeed(e.finding, s.opts.Time)
		f.replay, f.printed = e.finding, e.output
		ok, err := s.repeats(f.repeat, 1, f.cause)
		if ok {
			f.state = repeatsBySeed
		}
		return err
	}
	ok, err := m.run(e.finding)
	f.minimising, f.cpu = time.Since(begin), s.cpu-before
	s.cutOff(time.Now().Add(traceLimit))
	if err != nil {
		return err
	}
	if ok {
		f.original = len(e.finding.Switches)
		f.repeat, f.state = s.bySwitches(m.of, m.list), repeatsMinimal
		f.timing = hasClock(m.list)
		return s.trace(f, 1)
	}
	f.repeat, f.state = s.bySeed(e.finding, s.opts.Time), repeatsBySeed
	if s.tooLate(begin) {
		return s.trace(f, 1)
	}
	ok, err = s.repeats(f.repeat, 1, f.cause)
	if err != nil {
		return err
	}
	if ok {
		return s.trace(f, 1)
	}
	return drawn.prefix(f)
}

// prefix looks for the fewest schedules that have to run before f in the same process.
func (s *search) prefix(f *found) error {
	f.state = repeatsNot
	f.replay, f.printed = f.first, f.output
	if s.fresh || f.first.Number < f.from {
		return nil
	}
	s.cutOff(time.Now().Add(traceLimit))
	stride := max(s.stride(), 1)
	before := (f.first.Number - f.from) / stride
	try := func(n uint64) (bool, error) {
		r := s.bySeed(f.first, s.opts.Time)
		r.First, r.Longest, r.Strategy = f.first.Number-n*stride, 0, s.opts.Strategy
		return s.repeats(r, n+1, f.cause)
	}
	ok, err := try(before)
	if s.timed() && !ok && time.Now().After(s.onceBy) {
		f.state = repeatsUntried
	}
	if err != nil || !ok {
		return err
	}
	f.state, f.prefix = repeatsByPrefix, before
	for n := uint64(1); n < before; n *= 4 {
		ok, err := try(n)
		if err != nil {
			return err
		}
		if ok {
			f.prefix = n
			break
		}
	}
	f.repeat = s.bySeed(f.first, s.opts.Time)
	f.repeat.First, f.repeat.Longest, f.repeat.Strategy = f.first.Number-f.prefix*stride, 0, s.opts.Strategy
	return nil
}

// bySwitches is the request that repeats a finding by switches alone.
func (s *search) bySwitches(f *finding, switches []protocol.Switch) protocol.Request {
	r := s.base()
	r.Strategy, r.First, r.Seed, r.Fair, r.Cold = protocol.StrategyReplay, f.Number, f.Seed, f.Fair, f.Cold
	r.IgnoreLeaks = f.Verdict != protocol.Leak
	r.Switches = switches
	if hasClock(switches) {
		r.Time = protocol.TimeEarly
	}
	return r
}

// bySeed is the request that draws the schedule of a finding once more.
func (s *search) bySeed(f *finding, clock string) protocol.Request {
	r := s.base()
	r.First, r.Seed, r.Fair, r.Longest, r.Time, r.Cold = f.Number, f.Seed, f.Fair, f.Longest, clock, f.Cold
	if r.Strategy = f.Strategy; f.Warm {
		r.Strategy = protocol.StrategyReplay // a replay without switches takes the default at every decision
	}
	if f.Early {
		r.Time = protocol.TimeEarly
	}
	if s.opts.Exhaust >= 0 {
		r.Strategy, r.Bound = protocol.StrategyDFS, s.opts.Exhaust
	}
	return r
}

// once runs one request in a fresh process.
func (s *search) once(r protocol.Request, count uint64) (*ending, error) {
	p := &process{pkg: s.pkg, opts: s.opts, pattern: s.test.Pattern, request: r, count: count}
	if !s.onceBy.IsZero() {
		if p.most = time.Until(s.onceBy); p.most <= 0 {
			return &ending{pkg: s.pkg, timeUp: true}, nil
		}
	}
	e, err := p.start()
	if e != nil {
		s.cpu += e.cpu
	}
	return e, err
}

func (s *search) repeats(r protocol.Request, count uint64, c cause) (bool, error) {
	e, err := s.once(r, count)
	return err == nil && e.same(c), err
}

// trace runs the repetition of f once more, in a fresh process, and keeps its operations.
func (s *search) trace(f *found, count uint64) error {
	e, err := s.traced(f.repeat, count, f.cause)
	if err != nil {
		return err
	}
	if !e.same(f.cause) {
		switch {
		case !e.timeUp:
			f.state = repeatsNot
		case f.state == repeatsBySeed:
			f.state = repeatsUntried
		}
		f.replay, f.printed = f.first, f.output
		return nil
	}
	f.cause = e.cause() // the stacks of the minimal schedule
	f.replay, f.ops, f.born, f.printed = e.finding, e.ops, e.born, e.output
	return nil
}

// endlessSteps are the operations of the trace of a schedule that does not end. A trace
// up to the limit of a schedule has millions of operations and shows nothing further.
const endlessSteps = 20000

// traced runs a request that has shown a cause, with its operations.
func (s *search) traced(r protocol.Request, count uint64, c cause) (*ending, error) {
	r.Detail = 2
	if c.endless() && (r.Steps == 0 || r.Steps > endlessSteps) {
		short := r
		short.Steps = endlessSteps
		if e, err := s.once(short, count); err != nil || e.same(c) {
			return e, err
		}
	}
	return s.once(r, count)
}

func hasClock(switches []protocol.Switch) bool {
	for _, s := range switches {
		if s.Kind == protocol.ToClock {
			return true
		}
	}
	return false
}
