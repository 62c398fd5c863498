package core

import (
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core/internal/tasks"
)

// gathering makes the sleeping loop of e take batches without a sleep in between, and returns for how many
// steps it gathers after each. fill submits the tasks of one batch; the last one is last.
func gathering(t *testing.T, e *Executor, batches int, fill func(last func())) (steps []int) {
	t.Helper()
	runs, goOn := make(chan struct{}), make(chan struct{})
	wait := func() { runs <- struct{}{}; <-goOn }
	must(t, e.Execute(func() { e.alone = false; wait() }))
	for range batches {
		<-runs
		fill(func() { steps = append(steps, e.gathers); wait() })
		goOn <- struct{}{}
	}
	<-runs
	goOn <- struct{}{}
	synctest.Wait()
	return steps
}

// TestGatherOnlyForOthers: the loop gathers after the third batch since its last sleep that other goroutines
// let grow and that did not fill its segment, for a time that is bounded for each task.
func TestGatherOnlyForOthers(t *testing.T) {
	execute := func(t *testing.T, e *Executor, task func()) { must(t, e.Execute(task)) }
	submit := func(t *testing.T, e *Executor, task func()) {
		Submit(e, func() (struct{}, error) { task(); return struct{}{}, nil })
	}
	tail := func(t *testing.T, e *Executor, task func()) { must(t, e.ExecuteAfterIteration(task)) }
	for _, tt := range []struct {
		what   string
		n      int
		limit  int
		call   func(t *testing.T, e *Executor, task func())
		inLoop bool
		want   int // steps
	}{
		{"the shortest batch", gatherFrom, unbounded, execute, false, gatherFrom * taskSteps},
		{"a shorter batch", gatherFrom - 1, unbounded, execute, false, 0},
		{"a longer batch", 40, unbounded, execute, false, 40 * taskSteps},
		{"almost a segment", tasks.SegmentSize - 1, unbounded, execute, false, gatherSteps},
		{"a segment", tasks.SegmentSize, unbounded, execute, false, 0},
		{"futures", gatherFrom, unbounded, submit, false, gatherFrom * taskSteps},
		{"a bounded queue", 100, 1000, execute, false, 0},
		{"tail tasks, and a task", 128, unbounded, tail, false, 0},
		{"tasks of the loop", 100, unbounded, execute, true, 0},
		{"futures of the loop", 100, unbounded, submit, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, err := NewExecutor(WithMaxPendingTasks(tt.limit))
			must(t, err)
			defer func() { e.Shutdown(); <-e.Termination().Done() }()
			fill := func(last func()) {
				for range tt.n - 1 {
					tt.call(t, e, func() {})
				}
				execute(t, e, last)
			}
			want := []int{0, 0, tt.want, tt.want}
			for _, since := range []string{"the start", "a sleep"} {
				got := gathering(t, e, len(want), func(last func()) {
					if tt.inLoop {
						execute(t, e, func() { fill(last) })
					} else {
						fill(last)
					}
				})
				if !slices.Equal(got, want) {
					t.Errorf("%s: since %s the loop gathers for %v steps after batches of %d tasks, want %v", tt.what, since, got, tt.n, want)
				}
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
