package exectest

import (
	"math/rand/v2"
	"testing"

	"eventide/props/history"
)

// TestScenesAreSmall wants a scene to end with a shutdown, to have few goroutines and
// calls, and none that the subject does not have.
func TestScenesAreSmall(t *testing.T) {
	const actors, calls = 5, 60
	m := menu{ops: []history.Op{history.OpExecute}}
	for seed := range uint64(1000) {
		s := drawScene(rand.New(rand.NewPCG(seed, 0)), m)
		ids := map[int]bool{}
		steps := 0
		for _, p := range s {
			if len(p.actors) > actors {
				t.Errorf("seed %d: %d goroutines in a wave, want at most %d", seed, len(p.actors), actors)
			}
			p.each(func(st *step) {
				steps++
				switch st.op {
				case history.OpExecute:
					if ids[st.id] {
						t.Errorf("seed %d: label %d twice", seed, st.id)
					}
					ids[st.id] = true
				case history.OpShutdownGracefully, history.OpInLoop:
				default:
					t.Errorf("seed %d: %v, which the subject does not have", seed, st.op)
				}
				if st.body.ends.Abrupt() {
					t.Errorf("seed %d: a body ends abruptly", seed)
				}
			})
		}
		if steps > calls {
			t.Errorf("seed %d: %d calls, want at most %d", seed, steps, calls)
		}
		for i, p := range s {
			if last := i == len(s)-1; p.wellFormed() != last {
				t.Errorf("seed %d: wave %d of %d shuts down: %v", seed, i+1, len(s), !last)
			}
		}
	}
}
