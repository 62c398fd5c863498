package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG8CancelsBesideAShutdownThatCancels: a shutdown cancels timers in chunks, while their owner cancels them too. Each timer
// ends once, and the report counts it once. In most runs, but not in all, Cancel comes between two chunks.
func TestG8CancelsBesideAShutdownThatCancels(t *testing.T) {
	for _, policy := range policies {
		onBoth(t, cancelBesideShutdown, core.WithTimersAtShutdown(policy))
	}
}

func cancelBesideShutdown(t *testing.T, ex core.EventExecutor) {
	const timers = 50_000
	var all []*core.Timer
	for range timers {
		all = append(all, mustSchedule(t, ex, 10*time.Hour, func() { t.Error("G11: a timer after the timeout has run") }))
	}
	term := coretest.MustShutdownGracefully(t, ex, time.Hour, 2*time.Hour)
	for i := range all {
		all[timers-1-i].Cancel()
	}
	ex.Shutdown()
	coretest.Await(t, "the end", term.Done())
	coretest.Want(t, "G8, G20: timers cancelled", term.Report().TimersCancelled, timers)
	for _, timer := range all {
		coretest.WantErr(t, "G8: Err", timer.Err(), core.ErrCancelled)
	}
}
