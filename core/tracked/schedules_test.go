package tracked

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestSchedulesG10AFunctionAtTheEndOfTheQuietPeriod: a function is accepted at the moment at which the quiet period
// ends, or refused then. If it is accepted, the group does not close before it has ended and another
// quiet period has passed. One run sees one order of the two; `interleave test -run Schedules` chooses them.
func TestSchedulesG10AFunctionAtTheEndOfTheQuietPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quiet = time.Millisecond
		g := NewGroup()
		_, err := g.ShutdownGracefully(quiet, time.Hour)
		coretest.Must(t, err)
		var ended time.Time
		time.Sleep(quiet)
		accepted := g.Go("late", func(context.Context) error {
			coretest.Want(t, "G10: the state while an accepted function runs", g.State(), core.StateShuttingDown)
			ended = time.Now()
			return nil
		})
		coretest.Must(t, g.AwaitTermination(context.Background()))
		if since := time.Since(ended); accepted == nil && since < quiet {
			t.Errorf("G10: the group has ended %v after its last function, want %v or more", since, quiet)
		}
	})
}
