package strategy

import "eventide/props/lanes/interleave/det"

// Exhaustive goes through every schedule with at most so many preemptions, first
// those with none, then one more, and so on (Musuvathi and Qadeer, 2007). A state
// that was reached before, with no more preemptions spent, is not gone into again:
// what follows from it has been, or will be, seen. Two prefixes lead to the same
// state if they differ only in the order of independent operations.
//
// It does not preempt where a goroutine gives way or blocks: there any other is
// taken for free.
type Exhaustive struct {
	Most int // preemptions

	bound  int
	levels []level
	at     int
	spent  int
	begun  bool
	cutOff bool // some schedule had more preemptions than the bound
	done   bool
	over   bool // too many states, or too long a schedule: not complete
	full   bool // too many states: what follows would be seen again and again
	seen   seen
	pruned int
}

type level struct {
	pick, n int
	cur     int // index of the one that would stay
}

// mostStates are some 1.2 GB, which few come to: half as many were too few for one pair of
// calls at bound 3.
const mostStates = 64 << 20

// NewExhaustive returns the strategy for bounds from 0 to most.
func NewExhaustive(most int) *Exhaustive {
	e := &Exhaustive{Most: most, levels: make([]level, 0, mostDecisions)}
	e.seen.reset()
	return e
}

// Name implements Strategy.
func (*Exhaustive) Name() string { return "exhaustive" }

// Complete reports whether every schedule within the bound was seen, and Bound is
// the bound up to which that is so.
func (e *Exhaustive) Complete() bool { return e.done && !e.over }

// Bound is the preemption bound that is being explored, or was the last.
func (e *Exhaustive) Bound() int { return e.bound }

// All reports whether no schedule was left out for the bound: a higher one would
// find nothing more.
func (e *Exhaustive) All() bool { return e.Complete() && !e.cutOff }

// Pruned is how many schedules were cut short at a state seen before.
func (e *Exhaustive) Pruned() int { return e.pruned }

// Begin implements Strategy.
func (e *Exhaustive) Begin() bool {
	e.done = e.done || e.full
	if e.done {
		return false
	}
	e.at, e.spent = 0, 0
	if !e.begun {
		e.begun = true
		return true
	}
	for len(e.levels) > 0 {
		last := &e.levels[len(e.levels)-1]
		if last.pick+1 < last.n {
			last.pick++
			return true
		}
		e.levels = e.levels[:len(e.levels)-1]
	}
	if e.bound < e.Most && e.cutOff && !e.over {
		e.bound++
		e.cutOff = false
		e.seen.reset()
		return true
	}
	e.done = true
	return false
}

// End implements Strategy.
func (e *Exhaustive) End(r *det.Result, _ bool) {
	if r.Verdict == det.Pruned {
		e.pruned++
	}
}

// Next implements det.Strategy: the one that runs first, then the others.
//
//go:norace
func (e *Exhaustive) Next(d *det.Decision) int {
	n := len(d.Runnable)
	free := d.Cur < 0
	if !free && e.spent >= e.bound {
		if n > 1 {
			e.cutOff = true
		}
		n = 1
	}
	if e.at == len(e.levels) {
		isNew, full := e.seen.visit(d.Key, int8(e.spent))
		if !isNew {
			return det.Prune
		}
		e.over, e.full = e.over || full, e.full || full
		if len(e.levels) == cap(e.levels) {
			e.over = true
			return d.Default()
		}
		e.levels = e.levels[:len(e.levels)+1]
		e.levels[len(e.levels)-1] = level{0, n, d.Cur}
	}
	l := e.levels[e.at]
	e.at++
	if free {
		return l.pick
	}
	if l.pick == 0 {
		return d.Cur
	}
	e.spent++
	i := l.pick - 1
	if i >= d.Cur {
		i++
	}
	return i
}
