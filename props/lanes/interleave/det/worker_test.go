package det

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// newest is the schedule in which a goroutine begins when those before it have ended.
type newest struct{}

func (newest) Next(d *Decision) int { return len(d.Runnable) - 1 }

// TestWorkerIsOneGoroutineOfARun: where the race detector watches, no worker is two
// goroutines of a run, though the second begins when the first has ended; the next run
// takes the workers of the one before. Elsewhere the second takes the first one's.
func TestWorkerIsOneGoroutineOfARun(t *testing.T) {
	workers := func(twice bool) (first, second map[chan struct{}]bool) {
		defer func(before bool) { twiceInARun = before }(twiceInARun)
		twiceInARun = twice
		idle, spent = idle[:0], spent[:0]
		run := func() map[chan struct{}]bool {
			r := Run(newest{}, Options{}, func() {
				for range 3 {
					Go(func() {})
				}
			})
			require.Equal(t, Finished, r.Verdict)
			all := map[chan struct{}]bool{}
			for _, g := range spare.gs {
				all[g.run] = true
			}
			return all
		}
		return run(), run()
	}

	first, second := workers(false)
	require.Len(t, first, 4)
	require.Equal(t, first, second)
	first, second = workers(true)
	require.Len(t, first, 2)
	require.Subset(t, second, first)
}
