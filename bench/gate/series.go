package gate

import (
	"context"
	"errors"
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
	leg       time.Duration // of its last round, the mean; before the first: as weigh expects it
}

// legs is the number of binaries that a round of a stage runs. The first stage only chooses suspects: it has more rounds
// instead of a second leg of base.
func legs(stage int) int {
	if stage == 0 {
		return 2
	}
	return 3
}

// begin begins a stage.
func (s *series) begin(stage int, l layouts) {
	s.stage, s.layouts = stage, l
	for _, r := range s.rounds {
		if stage == 1 {
			r.later = len(r.base)
		}
	}
}

// round measures base and head, and in a later stage base again, from left to right or from right to left.
func (s *series) round(ctx context.Context, n int) error {
	began := time.Now()
	k := len(s.layouts.base)
	order := []measure.Binary{s.layouts.base[n%k], s.layouts.head[n%k], s.layouts.base[(n+1)%k]}[:legs(s.stage)]
	said := make([]measure.Line, len(order))
	for i := range order {
		leg := i
		if n%2 == 1 {
			leg = len(order) - 1 - i
		}
		line, err := order[leg].Run(ctx, s.benchmark.name, s.benchmark.ops, slicesPerLeg)
		if err != nil {
			return sideError{leg % 2, err}
		}
		said[leg] = line
	}
	s.leg = time.Since(began) / time.Duration(len(order))
	for unit := range said[0].Values {
		if way := direction(unit, s.benchmark.better); way != 0 && tolerances[unit].number == 0 && unit != "MB/s" { // MB/s is ns/op once more
			s.enter(unit, way < 0, n%k, said)
		}
	}
	return nil
}

// enter adds one figure of a round, if all legs have it.
func (s *series) enter(unit string, inverted bool, layout int, said []measure.Line) {
	values := make([]float64, len(said))
	for i, line := range said {
		v, is := line.Values[unit]
		if !is {
			return
		}
		values[i] = v
	}
	r := s.rounds[unit]
	if r == nil {
		r = &rounds{pkg: s.target.pkg.ImportPath, benchmark: s.benchmark.name, figure: unit, inverted: inverted}
		s.rounds[unit] = r
	}
	r.base, r.head, r.again = append(r.base, values[0]), append(r.head, values[1]), append(r.again, values[2:]...)
	if k := len(s.layouts.base); k > 1 {
		r.layouts = append(r.layouts, s.stage*k+layout)
	}
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
