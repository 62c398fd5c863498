package interleave

import (
	"slices"
	"time"

	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/internal/shrink"
)

// again runs one list of switches, and returns what it breaks, if it breaks the
// guarantee that want names.
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
			events: slices.Clone(out.Events), result: r,
		}, st
	}
	return nil, st
}

// What bounds the work of Minimise. It is the number of replays, so that a machine that
// is busy with others makes the result no larger; the time is for programs that are
// slow to run.
const (
	mostReplays = 12_000
	mostTime    = 30 * time.Second

	// Goroutines that failing schedules leave behind. The race detector, which has room for
	// 8,128 goroutines, ends a process that has more.
	mostAbandoned = 6_000
)

// minimiser makes one failure small. What it accepts has to break the same guarantee,
// and to have no more goroutines before the breach, the driver counted: a program that
// is shorter because the driver ends what a caller ended before is not smaller.
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

// Minimise makes a failing schedule small: first the program, then the switches, then
// the times, by taking away what is not needed for the same guarantee to break, and
// again as long as that changes something. It returns the small one, with its trace, and
// how many replays that took.
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
		return f, m.tries // it is not the same each time
	}
	least.Strategy, least.Schedule = f.Strategy, f.Schedule
	return least, m.tries
}

func (m *minimiser) over() bool {
	full := inprocess.RaceBuild && inprocess.Abandoned() > mostAbandoned
	return m.tries >= mostReplays || full || time.Now().After(m.until)
}

// replay returns what the switches break, if it is the guarantee.
func (m *minimiser) replay(sc Scenario, switches []inprocess.Switch) *Found {
	if m.over() {
		return nil
	}
	m.tries++
	f, _ := m.x.again(sc, switches, m.want, false)
	return f
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

// How many schedules a smaller scenario gets to break the same guarantee, if the old
// switches do not do it.
const (
	searchPerProgram = 200
	searchPerTime    = 40
)

// breaks reports whether a smaller scenario breaks the same guarantee: under the
// switches of the best, or under others, of which so many are tried. Then it is the best.
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

// search makes so many schedules, and returns the first that breaks the guarantee.
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

// searchForFewer is how many schedules of the small program each of some strategies gets
// to find one with fewer switches.
const searchForFewer = 400

// switches takes away switches of the best. Then it looks for other schedules, and takes
// theirs away: the first one found may be a detour of which no part can be left out.
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

// shrink leaves out switches of f as long as the guarantee still breaks. A switch that is left
// out does not happen: its goroutine stays.
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
