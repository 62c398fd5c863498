package interleave

import (
	"testing"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/interleave/protocol"
	"eventide/props/lanes/interleave/bare"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func waits(ids ...int) (steps []props.Step) {
	for i := 0; i < len(ids); i += 2 {
		steps = append(steps, props.Step{Op: history.OpExecute, ID: ids[i], Wait: time.Duration(ids[i+1]) * ms})
	}
	return steps
}

// TestByTime: one caller makes the calls of two at the times at which they made them.
func TestByTime(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want []props.Step }{
		"between":    {waits(1, 0, 2, 4), waits(3, 1, 4, 1), waits(1, 0, 3, 1, 4, 1, 2, 2)},
		"a tie":      {waits(1, 2), waits(2, 2), waits(1, 2, 2, 0)},
		"no other":   {waits(1, 2), nil, waits(1, 2)},
		"the second": {waits(1, 5), waits(2, 0), waits(2, 0, 1, 5)},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, byTime(c.a, c.b)) })
	}
}

// TestIdleTimeHasNoMoves: a scenario that is tried with an idle clock keeps the switches between
// goroutines, and none that moves the clock while a goroutine can run.
func TestIdleTimeHasNoMoves(t *testing.T) {
	turn := inprocess.Switch{Switch: protocol.Switch{G: 1, N: 6, Kind: protocol.ToGoroutine, To: 2}}
	moves := inprocess.Switch{Switch: protocol.Switch{G: 3, N: 8, Kind: protocol.ToClock}}
	beside := inprocess.Switch{Switch: protocol.Switch{N: 1, Kind: protocol.ToTimer, To: 1}}
	all := []inprocess.Switch{moves, turn, beside}
	require.Equal(t, []inprocess.Switch{turn}, Scenario{Time: inprocess.Idle}.permitted(all))
	require.Equal(t, all, Scenario{Time: inprocess.Boundary}.permitted(all))
	require.Equal(t, moves, all[0], "the switches of the best are not changed")
}

// TestFewerCallers: each caller is left out, and each pair made one, without a call lost.
func TestFewerCallers(t *testing.T) {
	p := props.Program{Limit: 20, Actors: []props.Actor{{Steps: waits(1, 0)}, {Steps: waits(2, 0)}, {Steps: waits(3, 0)}}}
	all := fewerCallers(p)
	require.Len(t, all, 3+2*3*2)
	for i, q := range all {
		require.Len(t, q.Actors, 2)
		require.Equal(t, p.Limit, q.Limit)
		ids := map[int]bool{}
		for _, a := range q.Actors {
			for _, s := range a.Steps {
				ids[s.ID] = true
			}
		}
		require.Len(t, ids, map[bool]int{true: 2, false: 3}[i < 3], "%v", q)
	}
	require.Len(t, p.Actors, 3, "the program itself is as it was")
}

// TestSmallerTimes: a time is made zero, equal to another, a millisecond or a half, never
// longer, and never one that the call refuses.
func TestSmallerTimes(t *testing.T) {
	for name, c := range map[string]struct {
		step props.Step
		want []props.Step // instead of the step, beside another time of 3 ms
	}{
		"a wait":          {props.Step{Op: history.OpExecute, Wait: 8 * ms}, []props.Step{{Wait: 0}, {Wait: ms}, {Wait: 3 * ms}, {Wait: 4 * ms}}},
		"a delay":         {props.Step{Op: history.OpSchedule, Delay: 2 * ms}, []props.Step{{Delay: 0}, {Delay: ms}}},
		"a period":        {props.Step{Op: history.OpFixedRate, Period: 2 * ms}, []props.Step{{Period: ms}}},
		"quiet":           {props.Step{Op: history.OpShutdownGracefully, Quiet: ms, Timeout: ms}, []props.Step{{Quiet: 0, Timeout: ms}, {Quiet: ms / 2, Timeout: ms}}},
		"a channel stays": {props.Step{Op: history.OpRegisterChannel, Drain: -1}, nil},
		"zero":            {props.Step{Op: history.OpExecute}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			sc := Scenario{Program: props.Program{Actors: []props.Actor{{Steps: []props.Step{c.step, {Op: history.OpExecute, Wait: 3 * ms}}}}}}
			var got []props.Step
			for i := range durations(&sc) {
				for _, less := range smallerTimes(sc, i) {
					if s := less.Program.Actors[0].Steps[0]; s != c.step {
						s.Op = 0
						got = append(got, s)
					}
				}
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.step, sc.Program.Actors[0].Steps[0], "the scenario itself is as it was")
		})
	}
}

// TestDurations: the times of bodies, of their calls and of listeners are among them, and
// those of a group.
func TestDurations(t *testing.T) {
	sc := Scenario{Program: props.Program{Actors: []props.Actor{{Steps: []props.Step{{Body: &props.Script{
		Sleep: ms, Steps: waits(1, 2), Listener: &props.Script{Sleep: 3 * ms},
	}}}}}}}
	less := clone(sc)
	for _, d := range durations(&less) {
		*d = 0
	}
	b := less.Program.Actors[0].Steps[0].Body
	require.Zero(t, b.Sleep+b.Steps[0].Wait+b.Listener.Sleep)
	require.Equal(t, ms, sc.Program.Actors[0].Steps[0].Body.Sleep, "a clone shares nothing")
	require.Len(t, durations(&Scenario{Group: &props.GroupProgram{}}), 4)
	require.False(t, valid(Scenario{Group: &props.GroupProgram{Quiet: 2, Timeout: 1}}))
}

// TestSmallerBare: each is smaller, and a program has a producer and a task.
func TestSmallerBare(t *testing.T) {
	require.Empty(t, smallerBare(bare.Config{Producers: 1, Tasks: 1}))
	require.Equal(t, []bare.Config{{Producers: 1, Tasks: 1, Warm: true}, {Producers: 2, Tasks: 1}}, smallerBare(bare.Config{Producers: 2, Tasks: 1, Warm: true}))
}

// TestWithoutDriver: no call is lost, no caller comes in, and what is offered is another
// scenario.
func TestWithoutDriver(t *testing.T) {
	p := props.Program{Actors: []props.Actor{{Steps: waits(1, 0)}, {Steps: waits(2, 0)}}}
	all := withoutDriver(Scenario{Program: p})
	require.Len(t, all, 4)
	require.Equal(t, props.Program{Main: true, Actors: []props.Actor{p.Actors[1], p.Actors[0]}}, all[0].Program)
	require.Equal(t, props.Program{Main: true, Actors: p.Actors}, all[1].Program)
	require.Equal(t, history.OpShutdownGracefully, all[2].Program.Actors[0].Steps[1].Op)
	require.Len(t, p.Actors[0].Steps, 1, "the program itself is as it was")
	require.Len(t, withoutDriver(all[1]), 3, "the same is not offered again")

	group := withoutDriver(Scenario{Group: &props.GroupProgram{Callers: 1}})
	require.Equal(t, props.GroupProgram{Callers: 1, Main: true}, *group[0].Group)
	require.Empty(t, withoutDriver(group[0]))

	warm := withoutDriver(Scenario{Bare: &bare.Config{Producers: 2, Tasks: 1}})
	require.Len(t, warm, 2)
	require.Equal(t, bare.Config{Producers: 2, Tasks: 1, Main: true}, *warm[0].Bare)
	require.Equal(t, bare.Config{Producers: 1, Tasks: 1, Warm: true}, *warm[1].Bare)
	require.Len(t, withoutDriver(Scenario{Bare: &bare.Config{Producers: 1, Tasks: 1, Warm: true}}), 1)
	require.Equal(t, "2x1 graceful main", bare.Config{Producers: 2, Tasks: 1, Graceful: true, Main: true}.String())
}

// TestCensusLine: what is printed is read again.
func TestCensusLine(t *testing.T) {
	for _, c := range []Census{{}, {Goroutines: 3, Callbacks: 1, All: 5}, {Goroutines: 2, Driver: true, All: 2}} {
		got, err := ParseCensus(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	require.Equal(t, 4, Census{Goroutines: 3, Driver: true}.Sum())
	_, err := ParseCensus("schedule 2 switches")
	require.Error(t, err)
}

// TestNamed: names are the scenarios' own, those that PCT is to come by early are first,
// and there are not so many small ones that it does not.
func TestNamed(t *testing.T) {
	all := named()
	require.LessOrEqual(t, len(all), 300)
	names := map[string]bool{}
	for _, sc := range all {
		require.False(t, names[sc.Name], sc.Name)
		names[sc.Name] = true
	}
	first := leaning(all, "G12")[:len(Sleeping())]
	for i, sc := range Sleeping() {
		require.Equal(t, sc.Name, first[i].Name)
	}
}

// TestFindGenerated: a generated program has the name that the report of its failure shows.
func TestFindGenerated(t *testing.T) {
	want := Generated("G20", 7)
	got, err := find(want.Name)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for _, name := range []string{"generated G20/", "generated G0/7", "generated G20/07", "G20/7"} {
		_, err := find(name)
		require.ErrorContains(t, err, "there is no scenario", name)
	}
}
