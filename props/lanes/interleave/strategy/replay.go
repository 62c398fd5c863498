package strategy

import (
	"cmp"
	"slices"

	"eventide/props/lanes/interleave/det"
)

// Replay follows a list of switches, and takes the default everywhere else.
type Replay struct {
	of   [most][]det.Switch // by goroutine, in the order of its decisions
	next [most]int
	used int
	all  int
}

// NewReplay returns the strategy for one list.
func NewReplay(switches []det.Switch) *Replay {
	r := &Replay{all: len(switches)}
	for _, s := range switches {
		r.of[place(s.G)] = append(r.of[place(s.G)], s)
	}
	for _, list := range r.of {
		slices.SortStableFunc(list, func(a, b det.Switch) int { return cmp.Compare(a.N, b.N) })
	}
	return r
}

// Name implements Strategy.
func (*Replay) Name() string { return "replay" }

// Begin implements Strategy.
func (r *Replay) Begin() bool {
	r.next, r.used = [most]int{}, 0
	return true
}

// End implements Strategy.
func (*Replay) End(*det.Result, bool) {}

// Unused returns how many switches had no occasion: the list does not fit the
// program, or the program has changed.
func (r *Replay) Unused() int { return r.all - r.used }

// Next implements det.Strategy.
//
//go:norace
func (r *Replay) Next(d *det.Decision) int {
	turn, at := d.Turn(), place(d.Prev)
	list := r.of[at]
	for r.next[at] < len(list) && list[r.next[at]].N < turn {
		r.next[at]++
	}
	for i := r.next[at]; i < len(list) && list[i].N == turn; i++ {
		s := &list[i]
		if s.G != d.Prev {
			continue
		}
		for j, id := range d.Runnable {
			if id == s.To {
				r.used++
				return j
			}
		}
	}
	return d.Default()
}
