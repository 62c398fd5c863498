package core

import (
	"testing"
)

// The counter of the round robin wraps at n, not at 2^64: no turn is skipped for any n
// (netty #10423).
func TestG21RoundRobinWraps(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		g, err := NewExecutorGroup(n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 * n {
			if g.next.Load() >= uint64(n) {
				t.Fatalf("G21: the counter is %d with %d children", g.next.Load(), n)
			}
			if got := g.Next(); got != g.members[i%n] {
				t.Fatalf("G21: n=%d: turn %d is not child %d's", n, i, i%n)
			}
		}
		g.Shutdown()
		<-g.Termination().Done()
	}
}
