package props

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestTimelineNamesActorsAsTheProgram: the second actor acts first and is g2 all the same, in
// the page and in the text of a failure.
func TestTimelineNamesActorsAsTheProgram(t *testing.T) {
	p := Program{Main: true, Actors: []Actor{
		{Steps: []Step{{Wait: time.Second, Op: history.OpExecute, ID: 1, Body: &Script{}}}},
		{Steps: []Step{{Op: history.OpExecute, ID: 2, Body: &Script{}}}},
		{Steps: []Step{{Wait: time.Minute, Op: history.OpShutdownGracefully}}},
	}}
	var out Recording
	synctest.Test(t, func(*testing.T) { out = Run(p) })
	v, err := Judge(p, out)
	require.NoError(t, err)
	require.Empty(t, v.Violations)

	l := v.Timeline(p, history.Violation{}, "replay")
	require.NoError(t, l.Check())
	who := map[string]string{}
	for _, r := range l.Rows {
		call, _, _ := strings.Cut(r.Text, "(")
		if call == "execute" {
			call = r.Text
		}
		who[call] = l.Actors[r.Actor]
	}
	require.Equal(t, "g1", who["execute(1)"])
	require.Equal(t, "g2", who["execute(2)"])
	require.Equal(t, "main", who[history.OpShutdownGracefully.String()])
	require.Equal(t, []string{"main", "loop", "g1", "g2"}, l.Actors)
	require.Equal(t, "NotStarted", l.States[l.Rows[0].State])
	require.Equal(t, "Terminated", l.States[l.Rows[len(l.Rows)-1].State])
	require.Equal(t, p.String(), l.Program)
	require.Contains(t, v.Failure(p, history.Violation{At: []int{1}}, "replay"), "g2 ")
}
