package exectest

import (
	"math/rand/v2"
	"testing"

	"eventide/props/history"
)

// TestWholeProgramsShutDownWithoutCloser wants every program of the whole API to call
// Shutdown, because the calls of ShutdownNow are left out for a subject that is no Closer.
func TestWholeProgramsShutDownWithoutCloser(t *testing.T) {
	for seed := range uint64(500) {
		p := everything(false)(rand.New(rand.NewPCG(seed, 0)), 0)
		shuts := false
		p.each(func(s *step) { shuts = shuts || s.op == history.OpShutdownGracefully })
		if !shuts {
			t.Fatalf("seed %d: %v does not call Shutdown", seed, p)
		}
	}
}
