//go:build linux

package exits

import (
	"testing"
	"time"

	"eventide/internal/timeline"

	"github.com/stretchr/testify/require"
)

// TestDraw: each event is in the column of its part, a signal is in none, and the first violation
// is the breach.
func TestDraw(t *testing.T) {
	p := Program{Starts: make([]Start, 2), NotReady: 1, Steps: make([]Step, 1)}
	r := &run{p: &p, began: time.Now(), took: time.Second}
	for _, who := range []string{"1", "0", outside, "NotReady", "step 0"} {
		r.record(who, "begins %d", 1)
	}
	(&journal{record: r.record}).record("Run", "log: INFO exit")
	r.violate("the report: no code")
	l := r.draw()
	require.NoError(t, l.Check())
	require.Equal(t, []string{"Run", "0", "1", "NotReady", "step 0"}, l.Actors)
	var columns []int
	for _, row := range l.Rows {
		columns = append(columns, row.Actor)
	}
	require.Equal(t, []int{2, 1, -1, 3, 4, 0, -1}, columns)
	require.Equal(t, "begins 1", l.Rows[0].Text)
	require.Equal(t, "the report: no code", l.Title)
	require.Equal(t, timeline.Breach, l.Rows[6].Kind)

	p = Program{Start: &Start{}, NotReady: -1}
	require.Equal(t, []string{"Run", "Start"}, p.actors())
}
