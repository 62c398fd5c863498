package core

import (
	"math"
	"testing"
)

// TestG22TokensOfASlotDiffer: registrations that follow one another in a slot have different tokens, so that no
// event of one is taken for that of another, and none has token 0, which is the poller's own. This holds too
// where the number of the generation begins again, after four billion registrations (G22).
func TestG22TokensOfASlotDiffer(t *testing.T) {
	for _, start := range []uint32{0, 1, math.MaxUint32 - 1, math.MaxUint32} {
		io := newLoopIO(&wakingPoller{chanPoller: newChanPoller(nil)}, defaultIORatio)
		io.generation = start
		had := map[uint64]bool{0: true}
		for range 4 {
			r := &Registration{fd: 3, interest: Readable}
			if _, err := io.add(r); err != nil {
				t.Fatal(err)
			}
			if had[r.token] {
				t.Errorf("from generation %d on: token %#x again, want another one", start, r.token)
			}
			had[r.token] = true
			io.remove(r)
		}
	}
}
