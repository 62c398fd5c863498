package interleave

import (
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/det"
	"eventide/props/interleave/strategy"
)

// again runs one list of switches, and returns what it breaks, if it breaks the
// guarantee that want names.
func (x *Explorer) again(sc Scenario, switches []det.Switch, want string, trace bool) (*Found, *strategy.Replay) {
	st := strategy.NewReplay(switches)
	st.Begin()
	r, out := x.run(sc, st, trace)
	j := (*judgement)(nil)
	if !sc.writesHistory() {
		j = x.judgeBreaches(r)
	} else if j, _ = newJudgement(sc, r, out); j == nil {
		return nil, st
	}
	for i, v := range j.violations {
		if v.Guarantee != want {
			continue
		}
		others := append(append([]history.Violation(nil), j.violations[:i]...), j.violations[i+1:]...)
		return &Found{
			Scenario: sc, Violation: v, Others: others, Switches: append([]det.Switch(nil), r.Switches...), Verdict: r.Verdict,
			events: out.Events, result: r,
		}, st
	}
	return nil, st
}

// What bounds the work of Minimise.
const (
	mostReplays = 4000
	mostTime    = 5 * time.Second
)

// Minimise makes a failing schedule small: first the program, then the switches, by
// taking away what is not needed for the same guarantee to break. It returns the
// small one, with its trace, and how many replays that took.
func (x *Explorer) Minimise(f *Found) (*Found, int) {
	best, began := f, time.Now()
	tries := 0
	test := func(sc Scenario, switches []det.Switch) bool {
		tries++
		g, _ := x.again(sc, switches, f.Violation.Guarantee, false)
		if g == nil || len(g.Switches) > len(switches) {
			return false
		}
		g.Strategy, g.Schedule = f.Strategy, f.Schedule
		best = g
		return true
	}
	if !test(f.Scenario, f.Switches) {
		return f, tries
	}
	test = within(test, &tries)
	for {
		size := best.size()
		best.switches(test, func() *Found { return best })
		if f.Scenario.Bare == nil { // there is nothing to take away
			x.programs(&best, test, time.Now().Add(mostTime/2))
		}
		if best.size() == size || tries >= mostReplays || time.Since(began) > mostTime {
			break
		}
	}
	traced, _ := x.again(best.Scenario, best.Switches, f.Violation.Guarantee, true)
	if traced != nil {
		traced.Strategy, traced.Schedule = f.Strategy, f.Schedule
		best = traced
	}
	return best, tries
}

func within(test func(Scenario, []det.Switch) bool, tries *int) func(Scenario, []det.Switch) bool {
	until := time.Now().Add(mostTime)
	return func(sc Scenario, s []det.Switch) bool {
		return *tries < mostReplays && time.Now().Before(until) && test(sc, s)
	}
}

func (f *Found) size() int { return len(f.Switches)*1000 + len(f.Scenario.text()) }

// switches is ddmin over the list: take away half, a quarter, ... as long as the
// guarantee still breaks. What is taken away is a switch that does not happen: its
// goroutine stays.
func (f *Found) switches(test func(Scenario, []det.Switch) bool, best func() *Found) {
	for changed := true; changed; {
		changed = false
		for w := (len(best().Switches) + 1) / 2; w >= 1; w /= 2 {
			for at := 0; at+w <= len(best().Switches); {
				now := best().Switches
				fewer := append(append([]det.Switch(nil), now[:at]...), now[at+w:]...)
				if test(best().Scenario, fewer) {
					changed = true
				} else {
					at++
				}
			}
		}
	}
}

// searchPerProgram is how many schedules a smaller program gets to break the same
// guarantee, if the old switches do not do it.
const searchPerProgram = 60

// programs takes away parts of the program.
func (x *Explorer) programs(best **Found, test func(Scenario, []det.Switch) bool, until time.Time) {
	first := **best
	breaks := func(sc Scenario) bool { return time.Now().Before(until) && x.stillBreaks(sc, best, test) }
	if group := first.Scenario.Group; group != nil {
		props.MinimiseGroup(*group, func(p props.GroupProgram) bool {
			sc := first.Scenario
			sc.Group = &p
			return breaks(sc)
		})
		return
	}
	props.Minimise(first.Scenario.Program, func(p props.Program) bool {
		sc := first.Scenario
		sc.Program = p
		return breaks(sc)
	})
}

// stillBreaks reports whether a smaller program breaks the same guarantee: under the
// old switches, or under others that a short search finds. Then it is the best.
func (x *Explorer) stillBreaks(sc Scenario, best **Found, test func(Scenario, []det.Switch) bool) bool {
	if test(sc, (*best).Switches) {
		return true
	}
	st, err := strategy.NewMix(uint64(len(sc.text())), "pct2", "pct3", "sticky")
	if err != nil {
		panic(err) // the names are constants
	}
	y := NewExplorer()
	y.Options, y.Check = x.Options, 0
	g, err := y.Explore(sc, st, func(n int) bool { return n >= searchPerProgram })
	if err != nil || g == nil || g.Violation.Guarantee != (*best).Violation.Guarantee {
		return false
	}
	g.Strategy, g.Schedule = (*best).Strategy, (*best).Schedule
	*best = g
	return true
}
