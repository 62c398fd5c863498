package core_test

import (
	"errors"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG19TryExecuteCallsNoHandler: a full queue refuses at once, and one attempt is counted;
// accepted tasks run, in order, and refused ones do not (G3, G4).
func TestG19TryExecuteCallsNoHandler(t *testing.T) {
	const room = 16
	asked := 0
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(room), core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		asked++
		return 0, false
	}))
	release := occupy(t, ex)
	var ran []int
	for i := range room + 2 {
		err := ex.TryExecute(func() { ran = append(ran, i) })
		if full := i >= room; full != errors.Is(err, core.ErrQueueFull) || full != errors.Is(err, core.ErrRejected) {
			t.Errorf("G19: task %d with room for %d: got %v", i, room, err)
		}
	}
	if s := ex.Stats(); asked != 0 || s.Rejected != 2 || s.Pending != room+1 {
		t.Errorf("G19: the rejected-handler was called %d times, rejected %d, pending %d; want 0, 2, %d", asked, s.Rejected, s.Pending, room+1)
	}
	if err := ex.Execute(func() {}); !errors.Is(err, core.ErrQueueFull) || asked != 1 {
		t.Errorf("G19: Execute: got %v, rejected-handler called %d times, want ErrQueueFull and once", err, asked)
	}
	release()
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	for i, n := range ran {
		if i != n {
			t.Fatalf("G4: ran %v", ran)
		}
	}
	if len(ran) != room {
		t.Errorf("G3: %d tasks ran, want %d", len(ran), room)
	}
}

// TestG3TryExecute starts the loop, wakes it, and is refused after the close.
func TestG3TryExecute(t *testing.T) {
	ex := coretest.NewExecutor(t)
	for range 2 {
		done := make(chan struct{})
		if err := ex.TryExecute(func() { close(done) }); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if err := ex.TryExecute(nil); err == nil || errors.Is(err, core.ErrRejected) {
		t.Errorf("a nil task: got %v, want an error of the argument", err)
	}
	ex.Shutdown()
	err := ex.TryExecute(func() { t.Error("G3: a refused task ran") })
	if !errors.Is(err, core.ErrRejected) || !errors.Is(err, core.ErrShutdown) {
		t.Errorf("G5: after the close: got %v, want ErrRejected and ErrShutdown", err)
	}
	coretest.AwaitDone(t, ex)
}
