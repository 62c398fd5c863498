package core_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// full returns an executor without room, whose loop is held up until the end of the
// test, or release, and how many tasks it has been offered.
func full(t testing.TB, opts ...core.Option) (ex *core.Executor, release func(), offered int64) {
	t.Helper()
	ex = coretest.NewExecutor(t, append(opts, core.WithMaxPendingTasks(16))...)
	release = occupy(t, ex)
	for range 16 {
		coretest.MustExecute(t, ex, func() {})
	}
	return ex, release, 17
}

// A call that waits for room is refused by the close, and its error has that reason instead of
// the full queue of the previous attempt, whatever closed admission.
func TestG5ARefusalByTheCloseGivesTheReason(t *testing.T) {
	for name, c := range map[string]struct {
		close func(ex *core.Executor)
		want  error
	}{
		"Shutdown":     {func(ex *core.Executor) { ex.Shutdown() }, core.ErrShutdown},
		"the deadline": {func(ex *core.Executor) { _, _ = ex.ShutdownGracefully(0, time.Minute) }, core.ErrShutdownTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex, release, offered := full(t, core.WithRejectedHandler(core.BackOff(1, time.Hour)))
				refused := make(chan error, 1)
				go func() { refused <- ex.Execute(func() { t.Error("G3: a task that was refused ran") }) }()
				synctest.Wait()
				c.close(ex)
				err := <-refused
				var r *core.RejectedError
				if !errors.As(err, &r) || r.State != core.StateShutdown || r.Reason != c.want {
					t.Errorf("G5: a waiter that the close refused: got %v, want state Shutdown, %v", err, c.want)
				}
				release()
				if got := coretest.AwaitDone(t, ex); got.Accepted != offered || got.Rejected != 1 {
					t.Errorf("G20: accepted %d, rejected %d; want %d, 1", got.Accepted, got.Rejected, offered)
				}
			})
		})
	}
}

// The same for a handler that retries at once, and so does not see the close either.
func TestG5ARefusalByTheCloseBetweenTwoAttempts(t *testing.T) {
	var ex *core.Executor
	ex, release, _ := full(t, core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		ex.Shutdown()
		return 0, true
	}))
	err := ex.Execute(func() { t.Error("G3: a task that was refused ran") })
	var r *core.RejectedError
	if !errors.As(err, &r) || r.State != core.StateShutdown || r.Reason != core.ErrShutdown {
		t.Errorf("G5: closed by the handler: got %v, want state Shutdown, ErrShutdown", err)
	}
	release()
}

// A call that a handler ends in its own way was refused like any other.
func TestG20ACallThatItsHandlerDoesNotReturnFromIsCounted(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic":  func() { panic("no room, no return") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			ex, release, offered := full(t, core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
				leave()
				return 0, false
			}))
			left := make(chan struct{})
			go func() {
				defer close(left)
				defer func() { _ = recover() }()
				_ = ex.Execute(func() { t.Error("G3: a task that was refused ran") })
			}()
			coretest.Await(t, "the end of the call", left)
			if s := ex.Stats(); s.Accepted != offered || s.Rejected != 1 {
				t.Errorf("G20: accepted %d, rejected %d; want %d, 1: so many were offered", s.Accepted, s.Rejected, offered)
			}
			release()
		})
	}
}

// TestG19RoomWhileTheLoopMoves: a task that has ended its goroutine does not run any more:
// while the loop is given another, there is as much room as tasks have begun, and no more.
func TestG19RoomWhileTheLoopMoves(t *testing.T) {
	const limit = 16
	var ex *core.Executor
	room, moving := 0, false
	ex = coretest.NewExecutor(t, core.WithMaxPendingTasks(limit), core.WithSpawner(func(run func()) error {
		for ; moving && ex.Execute(func() {}) == nil; room++ {
		}
		go run()
		return nil
	}))
	release := occupy(t, ex)
	coretest.MustExecute(t, ex, func() { moving = true; runtime.Goexit() })
	for range limit - 1 {
		coretest.MustExecute(t, ex, func() { moving = false })
	}
	release()
	coretest.MustShutdownGracefully(t, ex, 0, time.Minute)
	coretest.AwaitDone(t, ex)
	coretest.Want(t, "G19: the room that the one task left which had begun", room, 1)
}

// The listeners of a refused function run on the goroutine that adds them, though the executor is
// started.
func TestListenersOfARefusedSubmitRunOnTheCaller(t *testing.T) {
	ex, release, _ := full(t)
	called, inside := false, false
	core.Submit(ex, give(1)).OnDone(func(_ int, err error) {
		called, inside = errors.Is(err, core.ErrQueueFull), ex.InEventLoop()
	})
	if !called || inside {
		t.Errorf("G9: the listener was called with the refusal %v, on the loop %v; want true, false", called, inside)
	}
	release()
}
