package scale

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"time"

	"eventide/bench"
)

// MinRounds is the least number of rounds: with fewer, the 95 % confidence interval by order
// statistics spans nearly all rounds.
const MinRounds = 10

// Options say what Measure measures, and for how long.
type Options struct {
	Rounds      int            // MinRounds or more
	Tasks       int            // of a slice of a curve of producers
	Slice       time.Duration  // of a curve of connections
	Connections []int          // points of those curves, ascending
	Run         *regexp.Regexp // curves to measure, by name; nil: all
	Progress    io.Writer      // receives a line for each round
}

// A planned point is measured once in each round.
type planned struct {
	curve, n int
	run      func() (float64, error)
	notRun   string
	rounds   []float64
}

// Measure measures the curves of this machine.
func Measure(o Options) ([]Curve, error) {
	if o.Rounds < MinRounds {
		return nil, fmt.Errorf("scale: %d rounds, want at least %d", o.Rounds, MinRounds)
	}
	curves, points := plan(o, runtime.GOMAXPROCS(0))
	if len(curves) == 0 {
		return nil, fmt.Errorf("scale: no curve matches %v", o.Run)
	}
	for round := range o.Rounds {
		fmt.Fprintf(o.Progress, "round %d of %d\n", round+1, o.Rounds)
		if err := measureRound(points, round); err != nil {
			return nil, err
		}
	}
	for _, p := range points {
		c := &curves[p.curve]
		if p.notRun != "" {
			c.Points = append(c.Points, Point{N: p.n, NotRun: p.notRun})
			continue
		}
		c.Points = append(c.Points, newPoint(p.n, p.rounds))
	}
	for i := range curves {
		curves[i].fit()
	}
	return curves, nil
}

// measureRound measures each point once, in order or in reverse order.
func measureRound(points []*planned, round int) error {
	order := slices.Clone(points)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	for _, p := range order {
		if p.notRun != "" {
			continue
		}
		runtime.GC() // so that no point is charged for the garbage of another
		v, err := p.run()
		if err != nil {
			return fmt.Errorf("n=%d: %w", p.n, err)
		}
		p.rounds = append(p.rounds, v)
	}
	return nil
}

// plan returns the curves, without points, and the points to measure for them.
func plan(o Options, processors int) ([]Curve, []*planned) {
	var curves []Curve
	var points []*planned
	add := func(c Curve, of []*planned) {
		if o.Run != nil && !o.Run.MatchString(c.Name) {
			return
		}
		for _, p := range of {
			p.curve = len(curves)
		}
		curves, points = append(curves, c), append(points, of...)
	}
	for _, loops := range slices.Compact([]int{1, processors}) {
		for _, x := range bench.Throughput() {
			t := tasks{loops: loops, perSlice: o.Tasks, open: x.Open}
			add(Curve{Name: t.name(x.Impl), X: "producers", Unit: "tasks/s"}, producersOf(t, processors))
		}
		name := fmt.Sprintf("echo/impl=core/loops=%d", loops)
		add(Curve{Name: name, X: "connections", Unit: "requests/s"}, connectionsOf(loops, o))
	}
	return curves, points
}

// producersOf are the points of a curve: powers of two, up to four producers for each
// processor.
func producersOf(t tasks, processors int) []*planned {
	var all []*planned
	for n := 1; n <= 4*processors; n *= 2 {
		t := t
		t.producers = n
		all = append(all, &planned{n: n, run: t.run})
	}
	return all
}

func connectionsOf(loops int, o Options) []*planned {
	var all []*planned
	for _, n := range o.Connections {
		e := echo{loops: loops, connections: n, lasts: o.Slice}
		all = append(all, &planned{n: n, run: e.run, notRun: lacks(n)})
	}
	return all
}
