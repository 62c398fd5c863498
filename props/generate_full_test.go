package props

import (
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestG19ProgramsFillTheLargestQueue: a program that fills a queue with the largest bound has the premise of G19:
// that many tasks are accepted while nothing runs, and then a task is refused.
func TestG19ProgramsFillTheLargestQueue(t *testing.T) {
	for name, pool := range map[string]int{"executor": 0, "pool": 3} {
		t.Run(name, func(t *testing.T) {
			p := rapid.Custom(func(t *rapid.T) Program {
				p := Program{Limit: largestLimit, Pool: pool, Retries: 2, Starts: []Start{StartRefused}}
				g := &generator{T: t, pool: pool > 0}
				p.Actors = []Actor{{Steps: g.full(&p)}}
				return p
			}).Example(1)
			var out Recording
			synctest.Test(t, func(*testing.T) { out = Run(p) })
			v, err := Judge(p, out)
			require.NoError(t, err)
			require.Empty(t, v.Violations)
			require.True(t, v.Exercised["G19"], "no task was refused because the queue was full")
			accepted := 0
			for _, e := range out.Events {
				if e.Kind == history.Return && e.Outcome == history.RefusedQueueFull {
					break
				}
				accepted += one(e.Kind == history.Return && e.Outcome == history.Accepted)
			}
			require.Equal(t, largestLimit+max(1, pool), accepted)
		})
	}
}

// TestProgramsFillTheLargestQueue: some of many programs do.
func TestProgramsFillTheLargestQueue(t *testing.T) {
	for seed := range 1000 * 1000 {
		p := Programs(Profile{Limit: true, Wide: true}).Example(seed)
		if p.Limit == largestLimit && p.AnyStep(func(s *Step) bool { return s.Times > largestLimit }) {
			t.Logf("program %d fills a queue of %d tasks", seed, p.Limit)
			return
		}
	}
	t.Error("none of a million programs fills a queue with the largest bound")
}
