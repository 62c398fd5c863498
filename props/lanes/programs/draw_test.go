package programs

import (
	"testing"
	"time"

	"eventide/internal/timeline"

	"github.com/stretchr/testify/require"
)

// TestTimeline: rows are in their order, and the first violation is the breach, behind them.
func TestTimeline(t *testing.T) {
	rows := []Row{{3, timeline.Row{Text: "c"}}, {1, timeline.Row{Text: "a"}}, {3, timeline.Row{Text: "d"}}, {2, timeline.Row{Text: "b", Actor: -1}}}
	l := Timeline([]string{"one"}, rows, nil, time.Second)
	require.NoError(t, l.Check())
	require.Equal(t, "Nothing broke when the program ran again", l.Title)
	texts := ""
	for _, row := range l.Rows {
		texts += row.Text
	}
	require.Equal(t, "abcd", texts)

	l = Timeline([]string{"one"}, rows, []string{"1s  G22: no Inactive\nevents Active", "2s  G24: a socket"}, time.Second)
	require.NoError(t, l.Check())
	require.Equal(t, "G22: no Inactive", l.Title)
	require.Contains(t, l.Text, "G24: a socket")
	last := l.Rows[len(l.Rows)-1]
	require.Equal(t, timeline.Row{At: "1s", Actor: -1, Text: "the run has ended: G22: no Inactive", Kind: timeline.Breach}, last)
	require.Equal(t, "no time", firstLine("no time"))
}
