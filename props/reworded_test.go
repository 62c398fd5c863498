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
// every text replaced: the verdicts are the same, and good. After 400 programs the test goes on
// until a run has shown each cause: goroutines are free here, so a seed does not decide which.
func TestRewordedErrorsChangeNoVerdict(t *testing.T) {
	causes := map[history.Cause]int{}
	programs := Programs(Profile{Loop: true, Spawner: true, Long: true})
	for seed := 0; seed < 400 || seed < 20_000 && unseen(causes) != 0; seed++ {
		p := programs.Example(seed)
		var out Recording
		synctest.Test(t, func(*testing.T) { out = Run(p) })
		want, err := Judge(p, out)
		require.NoError(t, err)
		require.Empty(t, want.Violations, "%v", p)

		reworded := Recording{Events: slices.Clone(out.Events), AlarmsLeft: out.AlarmsLeft, Asides: out.Asides}
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
	require.Zero(t, unseen(causes), "no run shows this cause: %v", causes)
}

// unseen returns a cause that is not in causes, or zero, which is no cause.
func unseen(causes map[history.Cause]int) history.Cause {
	for c := history.CauseShutdown; c <= history.CauseOtherError; c++ {
		if causes[c] == 0 {
			return c
		}
	}
	return 0
}
