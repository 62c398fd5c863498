package driver

import (
	"regexp"
	"slices"
	"time"

	"eventide/props/interleave/protocol"
)

// Limits of the search for a smaller program of interleave.Linearizable.
const (
	programLimit     = 4 * time.Second
	programTryLimit  = 500 * time.Millisecond // of one candidate
	programSchedules = 2000                   // of one candidate
)

var programLine = regexp.MustCompile(`(?m)^\s*program (\d+:\S*)$`)

// programOf reads the program that a failure of interleave.Linearizable names.
func programOf(output string) (protocol.Program, bool) {
	all := programLine.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return protocol.Program{}, false
	}
	p, err := protocol.ParseProgram(all[len(all)-1][1])
	return p, err == nil
}

// A programShrinker leaves out operations of a program, and makes arguments simple, while
// some schedule shows the cause.
type programShrinker struct {
	search *search // explores smallest
	cause  cause
	ending *ending // shows the cause for the smallest program; nil while that is the program as drawn
	end    time.Time
}

// shrinkProgram looks for the smallest program of a failure of interleave.Linearizable.
// It returns a search for that program and an ending that shows c. It returns s and e if the
// failure has no program, or if no smaller program fails.
func (s *search) shrinkProgram(c cause, e *ending) (*search, *ending, error) {
	p, ok := programOf(e.output)
	if !ok || s.program != "" {
		return s, e, nil
	}
	m := &programShrinker{search: s, cause: c, end: time.Now().Add(programLimit)}
	for again := true; again && !time.Now().After(m.end); {
		again = false
		for _, smaller := range smallerPrograms(p) {
			ok, err := m.fails(smaller)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				p, again = smaller, true
				break
			}
		}
	}
	if m.ending == nil {
		return s, e, nil
	}
	return m.search, m.ending, nil
}

// fails says whether a schedule of the program shows the cause. If so, it keeps the
// search and the ending.
func (m *programShrinker) fails(p protocol.Program) (bool, error) {
	if time.Now().After(m.end) {
		return false, nil
	}
	s := *m.search
	s.program, s.progress = p.String(), nil
	r := s.base()
	r.Strategy, r.Budget, r.Cold, r.Stride = protocol.StrategyMix, programTryLimit, s.cold || s.fresh, 0
	count := uint64(programSchedules)
	if s.fresh {
		count = 1
	}
	e, err := s.once(r, count)
	if err != nil || !e.same(m.cause) {
		return false, err
	}
	m.search, m.ending = &s, e
	return true, nil
}

// smallerPrograms are the programs that are one step smaller: without a thread, without
// an operation, with simple arguments. A program keeps two threads at least.
func smallerPrograms(p protocol.Program) []protocol.Program {
	var all []protocol.Program
	without := func(places ...protocol.Place) {
		q := p
		q.Out = slices.Concat(p.Out, places)
		all = append(all, q)
	}
	threads := left(p)
	busy := slices.DeleteFunc(slices.Clone(threads), func(t []protocol.Place) bool { return len(t) == 0 })
	for _, places := range busy {
		if len(busy) > 2 {
			without(places...)
		}
	}
	for _, places := range busy {
		for i := len(places) - 1; i >= 0 && len(places) > 1; i-- {
			without(places[i])
		}
	}
	for _, at := range slices.Concat(threads...) {
		if !slices.Contains(p.Simple, at) {
			q := p
			q.Simple = append(slices.Clone(p.Simple), at)
			all = append(all, q)
		}
	}
	return all
}

// left are the operations of each thread that are not left out.
func left(p protocol.Program) [][]protocol.Place {
	threads := make([][]protocol.Place, len(p.Sizes))
	for i, n := range p.Sizes {
		for k := range n {
			if at := (protocol.Place{Thread: i, Op: k}); p.Has(at) {
				threads[i] = append(threads[i], at)
			}
		}
	}
	return threads
}
