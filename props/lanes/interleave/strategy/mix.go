package strategy

import "eventide/props/lanes/interleave/det"

// Mix takes several strategies in turn. A report that says which of them found what
// is how their order is earned.
type Mix struct {
	of   []Strategy
	turn int
}

// NewMix returns the mix of the strategies of these names, each with a seed of its
// own.
func NewMix(seed uint64, names ...string) (*Mix, error) {
	m := &Mix{turn: -1}
	for i, name := range names {
		s, err := New(name, seed+uint64(i)<<32)
		if err != nil {
			return nil, err
		}
		m.of = append(m.of, s)
	}
	return m, nil
}

// Name implements Strategy: that of the one whose schedule this is.
func (m *Mix) Name() string { return m.of[max(0, m.turn)].Name() }

// Begin implements Strategy.
func (m *Mix) Begin() bool {
	m.turn = (m.turn + 1) % len(m.of)
	return m.of[m.turn].Begin()
}

// End implements Strategy.
func (m *Mix) End(r *det.Result, newClass bool) { m.of[m.turn].End(r, newClass) }

// Next implements det.Strategy.
//
//go:norace
func (m *Mix) Next(d *det.Decision) int { return m.of[m.turn].Next(d) }

// Bound implements Bounded: of the one whose schedule it was.
func (m *Mix) Bound(goroutines int) (depth int, chance float64) {
	if b, ok := m.of[m.turn].(Bounded); ok {
		return b.Bound(goroutines)
	}
	return 0, 0
}
