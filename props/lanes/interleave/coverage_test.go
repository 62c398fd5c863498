package interleave

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/lane"

	"github.com/stretchr/testify/require"
)

// A call counts in the state in which it was decided, not in those in which it began or
// returned; a body in that in which it begins, a listener in none.
func TestActionsOfAHistory(t *testing.T) {
	a := Actions{}
	a.add([]history.Event{
		{N: 1, Kind: history.Invoke, Op: history.OpExecute},
		{N: 2, Kind: history.Transit, To: history.Started},
		{N: 3, Kind: history.Admit, Op: history.OpExecute, Call: 1},
		{N: 4, Kind: history.Invoke, Op: history.OpAwait},
		{N: 5, Kind: history.Transit, From: history.Started, To: history.ShuttingDown},
		{N: 6, Kind: history.Return, Op: history.OpExecute, Call: 1},
		{N: 7, Kind: history.Begin, Body: history.BodyTask},
		{N: 8, Kind: history.Begin, Body: history.BodyListener},
		{N: 9, Kind: history.Begin, Body: history.BodyTask},
		{N: 10, Kind: history.Transit, From: history.ShuttingDown, To: history.Terminated},
		{N: 11, Kind: history.Return, Op: history.OpAwait, Call: 4},
	})
	require.Equal(t, Actions{"Started/execute": 1, "Started/await": 1, "ShuttingDown/task begins": 1}, a)
}

func TestPossibleActions(t *testing.T) {
	cells := possibleActions()
	require.True(t, slices.IsSorted(cells))
	require.Equal(t, slices.Compact(slices.Clone(cells)), cells)
	for _, in := range []string{"NotStarted/execute", "Terminated/execute", "Shutdown/hook begins", "Started/cancel"} {
		require.Contains(t, cells, in)
	}
	for _, out := range []string{"NotStarted/task begins", "Terminated/hook begins", "Started/hook begins", "NotStarted/cancel"} {
		require.NotContains(t, cells, out)
	}
}

func TestHits(t *testing.T) {
	h := newHits([]string{"a", "b", "c"}, map[string]int{"a": 2, "b": 0, "x": 1})
	require.Equal(t, lane.Hits{Hit: 1, Of: 3, Missing: []string{"b", "c"}, Unexpected: []string{"x"}}, h)
	var many Actions
	require.Len(t, many.hits().Missing, mostNamed)
	var b bytes.Buffer
	hitsText(&b, h, "letters")
	require.Equal(t, "letters: 1 of 3; not yet b; c\n", b.String())
}

// A pair is two goroutines at one object of which one changes it, one right after the
// other. Both orders are possible, whichever was seen; of locks, the one who unlocks comes
// before the one who locks.
func TestConflictsOfATrace(t *testing.T) {
	const object, lock, other, foreign = 1, 2, 3, 4
	trace := []inprocess.Event{
		{G: 3, Object: object, Op: "store", Write: true, Site: "core/a.go:1"},
		{G: 3, Object: object, Op: "load", Site: "core/a.go:2"}, // the same goroutine
		{G: 4, Object: object, Op: "load", Site: "core/b.go:1"}, // two looks
		{G: 3, Object: object, Op: "store", Write: true, Site: "core/a.go:3"},
		{G: 3, Object: lock, Op: "lock", Write: true, Site: "core/a.go:4"},
		{G: 4, Object: lock, Op: inprocess.Blocked, Site: "core/b.go:2"}, // it could not
		{G: 3, Object: lock, Op: "unlock", Write: true, Site: "core/a.go:5"},
		{G: 4, Object: lock, Op: "lock", Write: true, Site: "core/b.go:2"},
		{G: 4, Object: other, Op: "store", Write: true, Site: "core/b.go:3"}, // nobody else is there
		{G: 3, Object: foreign, Op: "store", Write: true, Site: "props/a.go:1"},
		{G: 4, Object: foreign, Op: "store", Write: true, Site: "props/b.go:1"},
	}
	c := Conflicts{}
	c.add(trace)
	require.Equal(t, Conflicts{
		"core/b.go:1 load > core/a.go:3 store":  1,
		"core/a.go:5 unlock > core/b.go:2 lock": 1,
		"core/a.go:1 store > core/b.go:1 load":  0, // a.go:2 came between
		"core/a.go:3 store > core/b.go:1 load":  0,
		"core/b.go:1 load > core/a.go:1 store":  0,
	}, c)
	c.add(trace)
	require.Equal(t, 2, c["core/b.go:1 load > core/a.go:3 store"])
	require.Equal(t, lane.Hits{Hit: 2, Of: 5}, lane.Hits{Hit: c.hits().Hit, Of: c.hits().Of})
}

func TestNewClassRate(t *testing.T) {
	then := Coverage{Schedules: 10, Pruned: 2, Classes: 8}
	now := Coverage{Schedules: 20, Pruned: 2, Classes: 13}
	require.Equal(t, 0.5, now.NewClassRate(then))
	require.Equal(t, 1.0, then.NewClassRate(then), "of all: none since")
	require.Equal(t, 1.0, Coverage{}.NewClassRate(Coverage{}), "nothing has run")
}

// promised has a chance and runs nothing.
type promised struct{ chance float64 }

func (p promised) Chance(n int) (int, float64) { return 2, p.chance / float64(n) }

// The chances of independent schedules come together, in whatever order and on whatever
// shard they were made.
func TestPCTsAddUp(t *testing.T) {
	r := &inprocess.Result{Goroutines: 2}
	one, other := PCTs{}, PCTs{}
	one.add(Scenario{Name: "a"}, promised{chance: 1}, r) // 1/2
	other.add(Scenario{Name: "a"}, promised{chance: 0.5}, r)
	other.add(Scenario{Name: "b", Time: inprocess.Boundary}, promised{chance: 0.3}, r) // the clock is one more
	other.add(Scenario{Name: "generated 1"}, promised{chance: 1}, r)
	one.merge(other)
	c := one.confidence()
	require.Len(t, c, 1)
	require.Equal(t, 2, c[0].Scenarios)
	require.InDelta(t, 0.1, c[0].Least, 1e-9)
	require.InDelta(t, 1-0.5*0.75, c[0].Most, 1e-9)
	require.InDelta(t, math.Log(2/0.75)/pctUnit, float64(one[2]["a"]), 1)
}

// TestRepeatComparesSchedules: a schedule that does not come out as it did is an error.
func TestRepeatComparesSchedules(t *testing.T) {
	first := inprocess.Result{Class: 7, Steps: 30}
	same := first
	require.NoError(t, sameSchedule(&first, &same))
	for _, change := range []func(*inprocess.Result){
		func(r *inprocess.Result) { r.Class++ },
		func(r *inprocess.Result) { r.Steps++ },
		func(r *inprocess.Result) { r.Verdict = inprocess.OutOfSteps },
	} {
		other := first
		change(&other)
		require.ErrorContains(t, sameSchedule(&first, &other), "the same schedule ran differently")
	}
}
