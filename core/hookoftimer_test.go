package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// G13: a timer that calls for the shutdown makes the hooks ready, and a ready hook runs before the other due timers.
func TestG13AHookRunsBeforeTimersThatAreDue(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		var j coretest.Journal
		hooked := ex.(interface {
			AddShutdownHook(func()) (func() bool, error)
		})
		_, err := hooked.AddShutdownHook(j.Adds("hook"))
		coretest.Must(t, err)
		release := occupy(t, ex)
		mustSchedule(t, ex, 0, func() {
			j.Add("first")
			coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		})
		mustSchedule(t, ex, 0, j.Adds("second"))
		mustSchedule(t, ex, 0, j.Adds("third"))
		release()
		coretest.AwaitDone(t, ex)
		j.Want(t, "G13", "first hook second third")
	}, core.WithTimersAtShutdown(core.RunDueTimers))
}
