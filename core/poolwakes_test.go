package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// G12: Cancel wakes a worker only if that lets a quiet period end earlier.
func TestPoolG12WakeUpsOfCancel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		before, other := mustSchedule(t, p, time.Hour, func() {}), mustSchedule(t, p, 2*time.Hour, func() {})
		cancel := func(when string, timer interface{ Cancel() bool }, want bool, wakes int64) {
			synctest.Wait()
			was := p.Stats().Wakes
			coretest.Want(t, when+": cancelled", timer.Cancel(), want)
			coretest.Want(t, "G12: "+when+": wake-ups", p.Stats().Wakes-was, wakes)
		}
		cancel("before a shutdown", before, true, 0)
		p.ShutdownGracefully(time.Second, 4*time.Hour)
		cancel("in a shutdown, of a timer that has ended", before, false, 0)
		cancel("in a shutdown", other, true, 1)
		coretest.AwaitDone(t, p)
	})
}
