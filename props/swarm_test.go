package props

import (
	"math/rand/v2"
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestPropSwarm: the program of a swarm makes none of the calls that are left out, not in a body
// either. A swarm that leaves out nothing changes nothing.
func TestPropSwarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Programs(Profile{Real: true, Loop: true, Timers: true}).Draw(t, "program")
		s := DrawSwarm(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		for _, op := range s.Without {
			require.Zero(t, callsOf(s.Apply(p))[op], "%v is left out", op)
		}
		require.Equal(t, callsOf(p), callsOf(Swarm{}.Apply(p)), "the calls of the program if nothing is left out")
	})
}

// TestSwarmsDiffer: each call of swarmOps is left out by some of 100 swarms, and not by all.
func TestSwarmsDiffer(t *testing.T) {
	const draws = 100
	left := map[history.Op]int{}
	for seed := range uint64(draws) {
		for _, op := range DrawSwarm(rand.New(rand.NewPCG(seed, 0))).Without {
			left[op]++
		}
	}
	for _, op := range swarmOps {
		require.Positive(t, left[op], "swarms that leave out %v", op)
		require.Less(t, left[op], draws, "swarms that leave out %v", op)
	}
}

// callsOf counts the calls of a program, those of its bodies too.
func callsOf(p Program) map[history.Op]int {
	counts := map[history.Op]int{}
	for _, a := range p.Actors {
		countCalls(counts, a.Steps)
	}
	return counts
}

func countCalls(counts map[history.Op]int, steps []Step) {
	for _, s := range steps {
		counts[s.Op]++
		for _, b := range []*Script{s.Body, s.Asked} {
			for ; b != nil; b = b.Listener {
				countCalls(counts, b.Steps)
			}
		}
	}
}
