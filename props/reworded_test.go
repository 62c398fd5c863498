package props

import (
	"slices"
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestRewordedErrorsChangeNoVerdict: what the log keeps of an error's text is for people.
// Runs whose executor closes for each kind of reason are judged, and judged again with
// every text replaced: the verdicts are the same, and good.
func TestRewordedErrorsChangeNoVerdict(t *testing.T) {
	causes := map[history.Cause]int{}
	programs := Programs(Profile{Loop: true, Spawner: true, Long: true})
	for seed := range 400 {
		p := programs.Example(seed)
		var out Recording
		synctest.Test(t, func(*testing.T) { out = Run(p) })
		want, err := Judge(p, out)
		require.NoError(t, err)
		require.Empty(t, want.Violations, "%v", p)

		reworded := Recording{Events: slices.Clone(out.Events), AlarmsLeft: out.AlarmsLeft}
		for i := range reworded.Events {
			if e := &reworded.Events[i]; e.Note != "" {
				causes[e.Cause]++
				e.Note = "in other words"
			}
		}
		got, err := Judge(p, reworded)
		require.NoError(t, err)
		require.Equal(t, want.Violations, got.Violations, "%v", p)
		require.Equal(t, want.Exercised, got.Exercised, "%v", p)
	}
	for c := history.CauseShutdown; c <= history.CauseOtherError; c++ {
		require.Positive(t, causes[c], "no run shows the cause %v: %v", c, causes)
	}
}
