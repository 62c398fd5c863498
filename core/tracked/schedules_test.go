package tracked

import (
	"context"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestSchedulesG10AFunctionAtTheEndOfTheQuietPeriod: a function is accepted at the moment at which the quiet period
// ends, or refused then. If it is accepted, the group does not close before it has ended and another
// quiet period has passed.
func TestSchedulesG10AFunctionAtTheEndOfTheQuietPeriod(t *testing.T) {
	const quiet = time.Millisecond
	g := NewGroup()
	_, err := g.ShutdownGracefully(quiet, time.Hour)
	coretest.Must(t, err)
	var ended time.Time
	var calls sync.WaitGroup
	calls.Go(func() {
		time.Sleep(quiet)
		accepted := g.Go("late", func(context.Context) error {
			if g.State() != core.StateShuttingDown {
				t.Errorf("G10: the group has closed while an accepted function runs: %v", g.State())
			}
			ended = time.Now()
			return nil
		})
		if accepted == nil {
			coretest.Must(t, g.AwaitTermination(context.Background()))
			if since := time.Since(ended); since < quiet {
				t.Errorf("G10: the group has ended %v after its last function, want %v or more", since, quiet)
			}
		}
	})
	calls.Wait()
	coretest.Must(t, g.AwaitTermination(context.Background()))
}
