package props

import (
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// A verdict keeps its history if somebody may still read it: a report, or a search that was given up.
func TestRecycleKeepsWhatIsRead(t *testing.T) {
	p := Program{Main: true, Actors: []Actor{{Steps: []Step{{Op: history.OpExecute, ID: 1, Body: &Script{}}, {Op: history.OpShutdown}}}}}
	var out Recording
	synctest.Test(t, func(*testing.T) { out = Run(p) })
	v, err := Judge(p, out)
	require.NoError(t, err)
	require.Empty(t, v.Violations)

	undecided, violated := v, v
	undecided.Undecided = true
	violated.add(history.Violation{})
	for _, kept := range []*Verdict{&undecided, &violated} {
		require.False(t, kept.Recycle())
		require.NotNil(t, kept.history)
	}
	require.True(t, v.Recycle())
	require.Nil(t, v.history)
	require.False(t, v.Recycle())
}
