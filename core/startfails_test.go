package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// G17: a caller that waits for a start learns that it has failed before the failure is logged: a logger may take long.
// A second shutdown call in the meantime does not start a worker of its own.
func TestG17CallersWaitForNoLogger(t *testing.T) {
	fails, logs, starts := make(chan struct{}), make(chan struct{}), 0
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		fails, logs, starts = make(chan struct{}), make(chan struct{}), 0
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		synctest.Wait() // the spawner has been called
		refused := make(chan error, 1)
		go func() { refused <- ex.Execute(func() {}) }()
		synctest.Wait()
		ex.Shutdown()
		synctest.Wait()
		coretest.Want(t, "calls of the spawner", starts, 1)
		close(fails)
		synctest.Wait()
		coretest.Want(t, "G17: callers that have returned while the failure is logged", len(refused), 1)
		close(logs)
		coretest.AwaitDone(t, ex)
	}, core.WithSpawner(func(func()) error { starts++; <-fails; return errSpawn }), core.WithLogger(newHooked(func(string) { <-logs })))
}

// TestG17TheErrorOfASpawnerThatCallsTheLoopAtOnce: a spawner that calls the function of the loop on its own goroutine, and then
// fails, fails with its own error: that one says why there is no goroutine (G17).
func TestG17TheErrorOfASpawnerThatCallsTheLoopAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		coretest.WantErr(t, "G17: the error of Execute, which has to start the executor", ex.Execute(func() {}), errSpawn, core.ErrRejected)
	}, core.WithSpawner(func(loop func()) error { loop(); return errSpawn }))
}
