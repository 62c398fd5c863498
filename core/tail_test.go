package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// The tail task that wakes the loop comes after the task that lay there before.
func TestATailTaskRunsAfterATaskThatWasQueuedBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		var j coretest.Journal
		if err := ex.ExecuteLazy(j.Adds("task")); err != nil {
			t.Fatal(err)
		}
		mustTail(t, ex, j.Adds("tail"))
		synctest.Wait()
		j.Want(t, "ExecuteAfterIteration: at the end of a turn, after the turn's tasks", "task tail")
	})
}

// A tail task that a task adds runs at the end of this turn: after the tasks and due timers of the
// turn, and before a task that was added earlier and is for the next turn.
func TestATailTaskRunsInTheTurnOfItsTask(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	coretest.MustExecute(t, ex, func() {
		j.Add("a")
		coretest.MustExecute(t, ex, j.Adds("next"))
		mustTail(t, ex, j.Adds("tail"))
		mustSchedule(t, ex, 0, j.Adds("timer"))
	})
	coretest.MustExecute(t, ex, j.Adds("b"))
	release()
	coretest.OnLoop(t, ex, func() {})
	coretest.OnLoop(t, ex, func() {})
	j.Want(t, "tail tasks", "a b timer tail next")
}

func TestTailTasksKeepTheirOrder(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	for _, name := range []string{"a", "b", "c"} {
		mustTail(t, ex, j.Adds(name))
	}
	release()
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	j.Want(t, "tail tasks", "a b c")
}

// A tail task that a tail task adds runs in the next turn: tasks and timers still run.
func TestG13ATailTaskThatResubmitsItselfStarvesNothing(t *testing.T) {
	ex := coretest.NewExecutor(t)
	stop := make(chan struct{})
	var again func()
	again = func() {
		select {
		case <-stop:
		default:
			_ = ex.ExecuteAfterIteration(again)
		}
	}
	mustTail(t, ex, again)
	coretest.OnLoop(t, ex, func() {})
	coretest.Await(t, "a timer (G13)", mustSchedule(t, ex, 0, func() {}).Done())
	close(stop)
}

// A task that resubmits itself: timers, tail tasks, hooks and the close still happen.
func TestG13ATaskThatResubmitsItselfStarvesNothing(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var again func()
	again = func() { _ = ex.Execute(again) }
	for range 3 {
		coretest.MustExecute(t, ex, again)
	}
	coretest.Await(t, "a timer (G13)", mustSchedule(t, ex, 0, func() {}).Done())
	tail, hook := make(chan struct{}), make(chan struct{})
	mustTail(t, ex, func() { close(tail) })
	coretest.Await(t, "a tail task (G13)", tail)
	mustHook(t, ex, func() { close(hook) })
	coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
	coretest.Await(t, "a hook (G6, G13)", hook)
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
}

// They are delayed by no more than a bounded batch: exactly the bound of a turn.
func TestG13ADueTimerWaitsForABoundedBatchOnly(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	ran, ranAtTimer := 0, -1
	for range 1000 {
		coretest.MustExecute(t, ex, func() { ran++ })
	}
	timer := mustSchedule(t, ex, 0, func() { ranAtTimer = ran })
	release()
	coretest.Await(t, "the timer", timer.Done())
	coretest.OnLoop(t, ex, func() {})
	if ranAtTimer < 0 || ranAtTimer > 128 {
		t.Errorf("G13: %d of 1000 queued tasks ran before a due timer, want two turns' at most", ranAtTimer)
	}
}
