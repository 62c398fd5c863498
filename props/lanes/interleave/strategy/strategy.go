// Package strategy says which goroutine goes on: the ways to look for the schedule
// that breaks a guarantee.
package strategy

import (
	"fmt"
	"math"

	"eventide/props/lanes/interleave/det"
)

// Strategy makes schedules, one after the other. It is used by one run at a time.
// Next must be invisible to the race detector: go:norace, no maps, no growing
// slices.
type Strategy interface {
	det.Strategy
	// Name is what reports call it.
	Name() string
	// Begin starts the next schedule. It returns false if there is none.
	Begin() bool
	// End hears what the schedule came to, and whether its happens-before class
	// was new.
	End(r *det.Result, newClass bool)
}

// Bounded is a strategy that finds a bug of so many ordering constraints, its depth,
// with at least this chance, if there is one: in the last schedule, of so many
// goroutines. A depth of 0 is one that nothing is known of.
type Bounded interface {
	Bound(goroutines int) (depth int, chance float64)
}

// names lists what New makes, in the order in which Mix takes them.
var names = []string{"pct3", "pos", "walk", "sticky", "pct2", "surw", "feedback", "pct4", "pct5"}

// Names returns the names of all strategies that New makes.
func Names() []string { return append([]string(nil), names...) }

// New returns a strategy by its name.
func New(name string, seed uint64) (Strategy, error) {
	r := newRandom(seed)
	switch name {
	case "walk":
		return &walk{random: r}, nil
	case "sticky":
		return &sticky{random: r}, nil
	case "pct2", "pct3", "pct4", "pct5":
		return &pct{random: r, d: int(name[3] - '0')}, nil
	case "pos":
		return &pos{random: r}, nil
	case "surw":
		return &surw{random: r}, nil
	case "feedback":
		return newFeedback(r), nil
	}
	return nil, fmt.Errorf("strategy: there is no %q, want one of %v", name, names)
}

// random is xorshift: small, fast, the same everywhere.
type random struct{ state uint64 }

func newRandom(seed uint64) random {
	return random{seed*0x9e3779b97f4a7c15 ^ 0xd1b54a32d192ed03 | 1}
}

//go:norace
func (r *random) next() uint64 {
	x := r.state
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	r.state = x
	return x
}

// below returns a number in [0, n).
//
//go:norace
func (r *random) below(n int) int { return int((r.next() >> 33) * uint64(n) >> 31) }

// most is the number of goroutines that a strategy keeps something for; those
// beyond share the last place.
const most = 64

//go:norace
func place(id int) int { return min(id, most-1) }

// walk takes any, each with the same chance.
type walk struct{ random }

func (*walk) Name() string          { return "walk" }
func (*walk) Begin() bool           { return true }
func (*walk) End(*det.Result, bool) {}

// Next implements det.Strategy.
//
//go:norace
func (w *walk) Next(d *det.Decision) int { return w.below(len(d.Runnable)) }

// sticky stays, but for one decision in eight.
type sticky struct{ random }

func (*sticky) Name() string          { return "sticky" }
func (*sticky) Begin() bool           { return true }
func (*sticky) End(*det.Result, bool) {}

// Next implements det.Strategy.
//
//go:norace
func (w *sticky) Next(d *det.Decision) int {
	if d.Cur >= 0 && w.below(8) != 0 {
		return d.Cur
	}
	return w.below(len(d.Runnable))
}

// pct is probabilistic concurrency testing (Burckhardt et al., 2010): goroutines
// have random priorities, and at d-1 random decisions the running one falls to the
// lowest. A bug of depth d is found with a chance of at least 1/(n*k^(d-1)) in each
// schedule of n goroutines and k decisions.
type pct struct {
	random
	d        int
	step     int
	longest  int
	priority [most]int
	lowest   int
	change   [8]int
}

func (p *pct) Name() string { return fmt.Sprintf("pct%d", p.d) }

func (p *pct) Begin() bool {
	p.longest = max(p.longest, p.step, 16)
	p.step, p.lowest = 0, 0
	for i := range p.priority {
		p.priority[i] = 1 + p.below(1<<20)
	}
	for i := range p.d - 1 {
		p.change[i] = 1 + p.below(p.longest)
	}
	return true
}

func (p *pct) End(*det.Result, bool) {}

// Bound implements Bounded. It needs a priority for each goroutine, and that a change may
// come at each decision: a schedule that went on for longer than those before it has none
// at its end. Which case of a select is taken is left to chance, and not counted.
func (p *pct) Bound(goroutines int) (depth int, chance float64) {
	if p.step > p.longest || goroutines+det.Main > most {
		return p.d, 0
	}
	return p.d, 1 / (float64(goroutines) * math.Pow(float64(p.longest), float64(p.d-1)))
}

// Next implements det.Strategy.
//
//go:norace
func (p *pct) Next(d *det.Decision) int {
	if d.Case {
		return p.below(len(d.Runnable))
	}
	p.step++
	if d.Cur >= 0 {
		for i := 0; i < p.d-1; i++ {
			if p.change[i] == p.step {
				p.lowest--
				p.priority[place(d.Runnable[d.Cur])] = p.lowest
			}
		}
	}
	best := 0
	for i, id := range d.Runnable {
		if p.priority[place(id)] > p.priority[place(d.Runnable[best])] {
			best = i
		}
	}
	return best
}

// pos is partial order sampling (Yuan et al., 2018): each operation that waits to
// be done has a random priority, and the highest is done; those that race with it
// get new ones.
type pos struct {
	random
	priority [most]uint64
}

func (*pos) Name() string { return "pos" }

func (p *pos) Begin() bool {
	for i := range p.priority {
		p.priority[i] = p.next()
	}
	return true
}

func (p *pos) End(*det.Result, bool) {}

// Next implements det.Strategy.
//
//go:norace
func (p *pos) Next(d *det.Decision) int {
	if d.Case {
		return p.below(len(d.Runnable))
	}
	best := 0
	for i, id := range d.Runnable {
		if p.priority[place(id)] > p.priority[place(d.Runnable[best])] {
			best = i
		}
	}
	o, write := d.Pending(best)
	for i, id := range d.Runnable {
		other, w := d.Pending(i)
		if i == best || o != nil && other == o && (write || w) {
			p.priority[place(id)] = p.next()
		}
	}
	return best
}

// surw is a selectively uniform random walk (Zhao et al., 2025): a goroutine is
// taken with a chance in proportion to how many operations it still has, so that
// the orders of two goroutines' operations are about equally likely, however
// different their lengths. How many there are is learnt from earlier schedules.
type surw struct {
	random
	length [most]float64 // mean of the steps a goroutine takes
	taken  [most]int
	begun  bool
}

func (*surw) Name() string { return "surw" }

func (s *surw) Begin() bool {
	if s.begun {
		for i, n := range s.taken {
			if n > 0 {
				s.length[i] += (float64(n) - s.length[i]) / 16
			}
		}
	}
	s.begun = true
	s.taken = [most]int{}
	return true
}

func (s *surw) End(*det.Result, bool) {}

// Next implements det.Strategy.
//
//go:norace
func (s *surw) Next(d *det.Decision) int {
	if d.Case {
		return s.below(len(d.Runnable))
	}
	total := 0
	for _, id := range d.Runnable {
		total += s.left(id)
	}
	n := s.below(total)
	pick := 0
	for i, id := range d.Runnable {
		if n -= s.left(id); n < 0 {
			pick = i
			break
		}
	}
	s.taken[place(d.Runnable[pick])]++
	return pick
}

//go:norace
func (s *surw) left(id int) int {
	id = place(id)
	return max(1, int(s.length[id])-s.taken[id])
}
