package gate

import (
	"context"
	"errors"
	"slices"
	"time"

	"eventide/bench/gate/measure"
)

// layouts are the binaries of both sides of a package, one for each layout.
type layouts struct{ base, head []measure.Binary }

// link links the layouts of a target. Each stage has layouts of its own.
func (g *gate) link(ctx context.Context, t *target, stage int) (layouts, error) {
	if g.Layouts == 1 {
		return layouts{[]measure.Binary{t.base}, []measure.Binary{t.head}}, nil
	}
	var l layouts
	for k := range g.Layouts {
		seed := 1 + 2*(k+stage*g.Layouts)
		base, err := g.Build(ctx, g.Old, t.pkg, seed)
		if err != nil {
			return l, err
		}
		head, err := g.Build(ctx, g.New, t.pkg, seed+1)
		if err != nil {
			return l, err
		}
		l.base, l.head = append(l.base, base), append(l.head, head)
	}
	return l, nil
}

// A series is the rounds of one benchmark as they are measured.
type series struct {
	target    *target
	benchmark benchmark
	stage     int
	layouts   layouts            // of the stage
	rounds    map[string]*rounds // by unit
	failed    error
	took      time.Duration // of its last round; before the first: as weigh expects it
}

// begin begins a stage.
func (s *series) begin(stage int, l layouts) {
	s.stage, s.layouts = stage, l
	for _, r := range s.rounds {
		r.fresh = len(r.base)
	}
}

// round measures base, head and base again, from left to right or from right to left.
func (s *series) round(ctx context.Context, n int) error {
	began := time.Now()
	defer func() { s.took = time.Since(began) }()
	k := len(s.layouts.base)
	legs := []measure.Binary{s.layouts.base[n%k], s.layouts.head[n%k], s.layouts.base[(n+1)%k]}
	order := []int{0, 1, 2}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	var said [3]measure.Line
	for _, leg := range order {
		line, err := legs[leg].Run(ctx, s.benchmark.name, s.benchmark.ops, slicesPerLeg)
		if err != nil {
			return sideError{leg % 2, err}
		}
		said[leg] = line
	}
	for unit := range said[0].Values {
		way := direction(unit, s.benchmark.better)
		if way == 0 || tolerances[unit].number != 0 || unit == "MB/s" { // MB/s is ns/op once more
			continue
		}
		r := s.rounds[unit]
		if r == nil {
			r = &rounds{pkg: s.target.pkg.ImportPath, benchmark: s.benchmark.name, figure: unit, inverted: way < 0}
			s.rounds[unit] = r
		}
		head, is := said[1].Values[unit]
		if again, too := said[2].Values[unit]; is && too {
			r.base, r.head, r.again = append(r.base, said[0].Values[unit]), append(r.head, head), append(r.again, again)
			if k > 1 {
				r.layouts = append(r.layouts, s.stage*k+n%k)
			}
		}
	}
	return nil
}

// measure runs the series round by round, so that a disturbance of some seconds falls on one
// round of each series instead of all rounds of one. It begins at round from, and ends before round to. It
// returns early if the deadline would pass, but never with fewer rounds than fewest, those before from included.
func (g *gate) measure(ctx context.Context, all []*series, from, to, fewest int, deadline time.Time) error {
	began := g.now()
	for i := from; i < to; i++ {
		for _, s := range all {
			if s.failed != nil {
				continue
			}
			if err := s.round(ctx, i); err != nil {
				if _, isSide := errors.AsType[sideError](err); !isSide || ctx.Err() != nil {
					return errors.Join(ctx.Err(), err)
				}
				s.failed = err
			}
		}
		perRound := g.now().Sub(began) / time.Duration(i-from+1)
		left := to - i - 1
		if fit := int(deadline.Sub(g.now()) / max(1, perRound)); fit < left {
			left = max(fit, fewest-i-1)
		}
		if left <= 0 {
			break
		}
		g.say("round %d done, %d to go, about %v left", i+1, left, (perRound * time.Duration(left)).Round(time.Second))
	}
	return nil
}
