package tracked

import (
	"context"
	"strings"
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

// TestG10AFunctionBeforeTheTimerThatHasFired: the timer of the quiet period has fired and waits for
// mu, and a function is accepted before it: the quiet period has not ended (G10).
func TestG10AFunctionBeforeTheTimerThatHasFired(t *testing.T) {
	g := NewGroup()
	g.mu.Lock()
	g.begin(1, time.Hour)
	g.idle()
	timerRuns := func() bool {
		for _, stack := range stacksByGoroutine() {
			if strings.Contains(stack, "tracked.(*Group).idle.") {
				return true
			}
		}
		return false
	}
	coretest.Until(t, "the timer of the quiet period", timerRuns)
	one := &function{name: "late"}
	g.accept(one)
	g.mu.Unlock()
	coretest.Until(t, "the end of the timer", func() bool { return !timerRuns() })
	coretest.Want(t, "G10: the state while an accepted function runs", g.State(), core.StateShuttingDown)
	g.returned(one)
	coretest.Want(t, "G10: the timeout has ended the group", coretest.AwaitDone(t, g).TimedOut, false)
}
