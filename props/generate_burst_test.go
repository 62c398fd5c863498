package props

import (
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestProgramsShowWhatAShutdownCallOrders: of the programs of every profile enough have
// later tasks behind a tail task and a hook (S22, G6), and timers that the call cancels
// with somebody to look afterwards (S23, G7).
func TestProgramsShowWhatAShutdownCallOrders(t *testing.T) {
	const programs, least = 400, 8
	exercised := map[string]int{}
	all := Programs(Profile{})
	for seed := range programs {
		p := all.Example(seed)
		var out Recording
		synctest.Test(t, func(*testing.T) { out = Run(p) })
		require.Nil(t, NameEnds(out.Events))
		h, err := history.Of(out.Events, RulesOf(p))
		require.NoError(t, err)
		for _, v := range h.Check("S22", "S23") {
			require.Empty(t, v.Violations, "%v", p)
			if v.Premise > 0 {
				exercised[v.Predicate.Name]++
			}
		}
	}
	t.Logf("exercised by %v of %d programs", exercised, programs)
	require.GreaterOrEqual(t, exercised["S22"], least, "S22 (G6)")
	require.GreaterOrEqual(t, exercised["S23"], least, "S23 (G7)")
}
