package interleave

import (
	"slices"
	"time"

	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/interleave/protocol"
	"eventide/props/internal/shrink"
)

// again runs a scenario with a list of switches. It returns the failure if the run
// breaks the guarantee that want names, and otherwise nil.
func (x *Explorer) again(sc Scenario, switches []inprocess.Switch, want string, trace bool) (*Found, *inprocess.Strategy) {
	st := inprocess.NewReplay(switches)
	st.Begin()
	r, out := x.run(sc, st, trace)
	verdict := x.judgeBreaches(r)
	if sc.writesHistory() {
		var err error
		if verdict, err = sc.judge(r, out); err != nil {
			return nil, st
		}
	}
	for i, v := range verdict.Violations {
		if v.Guarantee != want {
			continue
		}
		others := append(append([]history.Violation(nil), verdict.Violations[:i]...), verdict.Violations[i+1:]...)
		return &Found{
			Scenario: sc, Violation: v, Others: others, Switches: append([]inprocess.Switch(nil), r.Switches...), Verdict: r.Verdict,
			events: slices.Clone(out.Events), goroutines: out.Goroutines, result: r,
		}, st
	}
	return nil, st
}

// Bounds of Minimise. The first is a number of replays, so that the result is no larger
// on a loaded machine. The time is for programs that are slow to run.
const (
	mostReplays = 12_000
	mostTime    = 30 * time.Second

	// Goroutines that failing schedules leave behind. The race detector, which has room for
	// 8,128 goroutines, ends a process that has more.
	mostAbandoned = 6_000
)

// minimiser minimises one failure. It accepts a candidate that breaks the same
// guarantee and has no more goroutines before the breach, the driver counted: a program
// is not smaller if it is shorter only because the driver makes the shutdown call
// instead of a caller.
type minimiser struct {
	x     *Explorer
	want  string // the guarantee
	until time.Time

	best     *Found
	census   Census // of the best
	most     int    // goroutines that it may have
	tries    int
	accepted int
}

// Minimise minimises a failing schedule: first the program, then the switches, then the
// times. It removes parts as long as the same guarantee breaks, and repeats these steps
// until nothing changes. It returns the smallest failure, with its trace, and the number
// of replays.
func (x *Explorer) Minimise(f *Found) (*Found, int) {
	m := &minimiser{x: x, want: f.Violation.Guarantee, until: time.Now().Add(mostTime)}
	if !m.accept(f) {
		return f, m.tries
	}
	for before := 0; before != m.accepted && !m.over(); {
		before = m.accepted
		m.program()
		m.switches()
		m.times()
	}
	least, _ := x.again(m.best.Scenario, m.best.Switches, m.want, true) // a trace is good until the next run
	if least == nil {
		return f, m.tries // the failure does not repeat
	}
	least.Strategy, least.Schedule = f.Strategy, f.Schedule
	return least, m.tries
}

func (m *minimiser) over() bool {
	full := inprocess.RaceBuild && inprocess.Abandoned() > mostAbandoned
	return m.tries >= mostReplays || full || time.Now().After(m.until)
}

// replay runs the scenario with the switches, and returns the failure if the guarantee
// breaks.
func (m *minimiser) replay(sc Scenario, switches []inprocess.Switch) *Found {
	if m.over() {
		return nil
	}
	m.tries++
	f, _ := m.x.again(sc, sc.permitted(switches), m.want, false)
	return f
}

// permitted returns the switches without those that move the clock, if in the scenario it moves only
// when no goroutine can run. The engine would follow them, and the judge expects none: with them, a
// history that is right is blamed.
func (sc Scenario) permitted(switches []inprocess.Switch) []inprocess.Switch {
	if sc.Time != inprocess.Idle {
		return switches
	}
	return slices.DeleteFunc(slices.Clone(switches), func(s inprocess.Switch) bool {
		return s.Kind == protocol.ToClock || s.Kind == protocol.ToTimer
	})
}

// fits counts the goroutines of f, and reports whether there are not too many.
func (m *minimiser) fits(f *Found) (Census, bool) {
	traced, _ := m.x.again(f.Scenario, f.Switches, m.want, true)
	if traced == nil {
		return Census{}, false
	}
	c := traced.census()
	return c, m.best == nil || c.Sum() <= m.most
}

// accept makes f the best, if it fits.
func (m *minimiser) accept(f *Found) bool {
	c, ok := m.fits(f)
	if ok {
		m.best, m.census, m.most = f, c, c.Sum()
		m.accepted++
	}
	return ok
}

// Numbers of schedules in which a smaller scenario may break the same guarantee, if the
// old switches do not break it.
const (
	searchPerProgram = 200
	searchPerTime    = 40
)

// breaks reports whether a smaller scenario breaks the same guarantee, under the switches
// of the best or in one of the given number of other schedules. If so, it becomes the
// best.
func (m *minimiser) breaks(sc Scenario, schedules int) bool {
	if f := m.replay(sc, m.best.Switches); f != nil && m.accept(f) {
		return true
	}
	st, err := inprocess.NewMix(uint64(len(sc.text())), "pct2", "pct3", "sticky", "pos", "walk")
	if err != nil {
		panic(err) // the names are constants
	}
	f := m.search(sc, st, schedules)
	return f != nil && m.accept(f)
}

// search makes up to the given number of schedules, and returns the first that breaks
// the guarantee.
func (m *minimiser) search(sc Scenario, st *inprocess.Strategy, schedules int) *Found {
	y := NewExplorer()
	y.Options, y.Check = m.x.Options, 0
	f, err := y.Explore(sc, st, func(n int) bool { return n >= schedules || m.over() })
	m.tries += y.Schedules
	if err != nil || f == nil || !f.against(m.want) {
		return nil
	}
	return f
}

// searchForFewer is the number of schedules in which each of several strategies looks
// for a failure of the small program with fewer switches.
const searchForFewer = 400

// switches removes switches of the best. Then it looks for other failing schedules, and
// removes their switches: the schedule that was found first may be a detour of which no
// part can be left out.
func (m *minimiser) switches() {
	if f := m.shrink(m.best); len(f.Switches) < len(m.best.Switches) {
		m.accept(f)
	}
	for _, name := range []string{"exhaustive", "pct2", "pct3", "sticky", "pos"} {
		if len(m.best.Switches) == 0 {
			return
		}
		st, err := newStrategy(name, 1)
		if err != nil {
			panic(err) // the names are constants
		}
		f := m.search(m.best.Scenario, st, searchForFewer)
		if f == nil {
			continue
		}
		if f = m.shrink(f); len(f.Switches) < len(m.best.Switches) {
			m.accept(f)
		}
	}
}

// shrink leaves out switches of f as long as the guarantee still breaks. Where a switch is
// left out, its goroutine keeps the turn.
func (m *minimiser) shrink(f *Found) *Found {
	shrink.Parts(f.Switches, func(fewer []inprocess.Switch) ([]inprocess.Switch, bool) {
		g := m.replay(f.Scenario, fewer)
		if g == nil || len(g.Switches) > len(fewer) {
			return nil, false
		}
		if _, ok := m.fits(g); !ok {
			return nil, false
		}
		f = g
		return f.Switches, true
	})
	return f
}
