package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLeftIsHonest: what remains is never 0 while something is to come. What is not
// known is said to be a bound.
func TestLeftIsHonest(t *testing.T) {
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	plan := &timetable{budget: 30 * time.Second, planted: 23}
	says := func(want string, now int) {
		t.Helper()
		require.Equal(t, want, plan.left(at(now)).String(), "after %d s", now)
	}
	says("at least 30s", 5) // the compiler
	plan.lanesBegin(at(10))
	says("at least 25s", 15)
	says("at least 23s", 19) // the model has its turn: no planted bug takes less than a second
	plan.mutantsBegin(at(20))
	says("at least 23s", 30) // none is done: nobody knows how long one takes
	for range 3 {
		plan.mutantDone()
	}
	says("about 1m20s", 32) // 20 of 4 s each: more than the lanes take
	says("about 2m20s", 41)
	plan.lanesEnd()
	for range 19 {
		plan.mutantDone()
	}
	says("about 5s", 130)
	plan.mutantDone()
	says("about 0s", 130)
}

// TestLanesPastTheirBudget: for guarantees that lack their minimum they go on.
func TestLanesPastTheirBudget(t *testing.T) {
	began := time.Now()
	plan := &timetable{budget: 30 * time.Second, planted: 2}
	plan.lanesBegin(began)
	plan.mutantsBegin(began)
	plan.mutantDone()
	plan.mutantDone()
	require.Equal(t, estimate{10 * time.Second, false}, plan.left(began.Add(20*time.Second)))
	require.Equal(t, estimate{0, true}, plan.left(began.Add(40*time.Second)))
}

// TestLiveLineSaysWhatIsLeft: also when the budget of the lanes is spent.
func TestLiveLineSaysWhatIsLeft(t *testing.T) {
	var out bytes.Buffer
	l := newLive(&out, func() estimate { return estimate{80 * time.Second, true} })
	l.set(func(l *live) { l.planted = 23 })
	var line struct {
		Left    int  `json:"left_s"`
		AtLeast bool `json:"left_at_least"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, 80, line.Left)
	require.True(t, line.AtLeast)
}
