package props

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgramsSpin: programs of the real lane have loops that spin and loops that do not. One that spins for 10 ms finds
// work that comes meanwhile, and one that does not spin finds work in few of its sleeps.
func TestProgramsSpin(t *testing.T) {
	programs := Programs(Profile{Real: true})
	const longest = 10 * time.Millisecond
	runs, found, sleeps := map[time.Duration]int{}, map[time.Duration]int64{}, map[time.Duration]int64{}
	for n := 0; runs[-1] < 10 || found[longest] == 0; n++ {
		require.Less(t, n, 1000, "no spin has found work")
		p := programs.Example(n)
		out, err := RunReal(p)
		require.NoError(t, err)
		v, err := JudgeIn(Real, p, out)
		require.NoError(t, err)
		require.Empty(t, v.Violations, "%v", p)
		stats := out.Final.Stats
		runs[p.Spin]++
		found[p.Spin] += stats.Spins
		sleeps[p.Spin] += stats.Spins + stats.Parks
	}
	require.Less(t, 2*found[-1], sleeps[-1], "found %v of sleeps %v, by the spin", found, sleeps)
}
