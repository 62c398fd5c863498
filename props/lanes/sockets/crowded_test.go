//go:build linux

package sockets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCrowded: crowded programs are within their bounds, their calls are of connections that they
// have, and they draw each poller.
func TestCrowded(t *testing.T) {
	pollers := map[[2]bool]int{} // by: it blocks, it spins
	for seed := range 500 {
		for _, transport := range []string{"", Blocking} {
			p := CrowdedPrograms(transport).Example(seed)
			require.LessOrEqual(t, len(p.Conns), crowdedConns)
			require.LessOrEqual(t, len(p.Calls), crowdedCalls)
			for _, c := range p.Conns {
				require.Less(t, c.At, crowdedTimes)
				for _, step := range c.Writer {
					require.LessOrEqual(t, step.N, crowdedReads*p.Options.ReadBuffer)
				}
			}
			for _, call := range p.Calls {
				require.Less(t, call.At, crowdedTimes)
				require.Less(t, call.Conn, len(p.Conns))
				require.Less(t, len(call.Then), crowdedActions)
			}
			if transport == "" {
				pollers[[2]bool{p.Blocking, p.Spin > 0}]++
			}
		}
	}
	require.Greater(t, pollers[[2]bool{false, false}], 50, "programs whose loops park at once")
	require.Greater(t, pollers[[2]bool{false, true}], 50, "programs whose loops spin")
	require.Greater(t, pollers[[2]bool{true, false}], 50, "programs whose loops block")
}
