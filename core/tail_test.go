package core_test

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTailTasksRunAfterTheTasksOfTheirTurn(t *testing.T) {
	ex := newExecutor(t)
	release := occupy(t, ex)
	var j journal
	mustExecute(t, ex, func() {
		j.add("a")
		mustTail(t, ex, j.note("tail"))
	})
	mustExecute(t, ex, j.note("b"))
	release()
	onLoop(t, ex, func() {})
	onLoop(t, ex, func() {})
	j.want(t, "tail tasks", "a b tail")
}

// The tail task that wakes the loop comes after the task that lay there before.
func TestATailTaskRunsAfterATaskThatWasQueuedBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := newExecutor(t)
		onLoop(t, ex, func() {})
		synctest.Wait()
		var j journal
		if err := ex.ExecuteLazy(j.note("task")); err != nil {
			t.Fatal(err)
		}
		mustTail(t, ex, j.note("tail"))
		synctest.Wait()
		j.want(t, "ExecuteAfterIteration: at the end of a turn, after the turn's tasks", "task tail")
	})
}

func TestTailTasksKeepTheirOrder(t *testing.T) {
	ex := newExecutor(t)
	release := occupy(t, ex)
	var j journal
	for _, name := range []string{"a", "b", "c"} {
		mustTail(t, ex, j.note(name))
	}
	release()
	ex.Shutdown()
	awaitDone(t, ex)
	j.want(t, "tail tasks", "a b c")
}

// A tail task that adds one adds it to the next turn: tasks and timers go on.
func TestG13ATailTaskThatResubmitsItselfStarvesNobody(t *testing.T) {
	ex := newExecutor(t)
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
	onLoop(t, ex, func() {})
	await(t, "a timer (G13)", mustSchedule(t, ex, 0, func() {}).Done())
	close(stop)
}

// A task that resubmits itself: timers, tail tasks, hooks and the close go on.
func TestG13ATaskThatResubmitsItselfStarvesNobody(t *testing.T) {
	ex := newExecutor(t)
	var again func()
	again = func() { _ = ex.Execute(again) }
	for range 3 {
		mustExecute(t, ex, again)
	}
	await(t, "a timer (G13)", mustSchedule(t, ex, 0, func() {}).Done())
	tail, hook := make(chan struct{}), make(chan struct{})
	mustTail(t, ex, func() { close(tail) })
	await(t, "a tail task (G13)", tail)
	mustHook(t, ex, func() { close(hook) })
	mustShutdownGracefully(t, ex, 0, time.Hour)
	await(t, "a hook (G6, G13)", hook)
	ex.Shutdown()
	awaitDone(t, ex)
}

// By no more than a bounded batch: exactly what a turn may run.
func TestG13ADueTimerWaitsForABoundedBatchOnly(t *testing.T) {
	ex := newExecutor(t)
	release := occupy(t, ex)
	ran, ranAtTimer := 0, -1
	for range 1000 {
		mustExecute(t, ex, func() { ran++ })
	}
	timer := mustSchedule(t, ex, 0, func() { ranAtTimer = ran })
	release()
	await(t, "the timer", timer.Done())
	onLoop(t, ex, func() {})
	if ranAtTimer < 0 || ranAtTimer > 128 {
		t.Errorf("G13: %d of 1000 queued tasks ran before a due timer, want two turns' at most", ranAtTimer)
	}
}
