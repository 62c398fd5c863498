package core

import (
	"slices"
	"testing"
	"testing/synctest"

	"eventide/core/internal/tasks"
)

// TestGatherOnlyForOthers: the loop waits for producers after a batch that other goroutines let grow and that
// did not fill its segment, and not after a short one or one of its own tasks.
func TestGatherOnlyForOthers(t *testing.T) {
	for _, tt := range []struct {
		what    string
		tasks   int
		call    func(e *Executor) func(func()) error
		inside  bool
		gathers bool
	}{
		{"Execute", gatherFrom, executes, false, true},
		{"Execute of a short batch", gatherFrom - 1, executes, false, false},
		{"Execute of almost a segment", tasks.SegmentSize - 1, executes, false, true},
		{"Execute of a segment", tasks.SegmentSize, executes, false, false},
		{"Execute in the loop", 100, executes, true, false},
		{"Submit", gatherFrom, submits, false, true},
		{"Submit in the loop", 100, submits, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, err := NewExecutor()
			must(t, err)
			defer func() { e.Shutdown(); <-e.Termination().Done() }()
			held := make(chan struct{})
			var gathers []bool
			look := func() { gathers = append(gathers, e.gathers) }
			fill := func() {
				for range tt.tasks - 1 {
					must(t, tt.call(e)(func() {}))
				}
				must(t, tt.call(e)(look))
			}
			must(t, e.Execute(func() {
				if tt.inside {
					fill()
				}
				<-held
			}))
			synctest.Wait()
			if !tt.inside {
				fill()
			}
			close(held)
			synctest.Wait()
			if e.mu.Lock(); !slices.Equal(gathers, []bool{tt.gathers}) || e.gathers || e.outside {
				t.Errorf("%s, %d tasks: gathers %v and then %v, %v, want %v and then false", tt.what, tt.tasks, gathers, e.gathers, e.outside, tt.gathers)
			}
			e.mu.Unlock()
		})
	}
}

func executes(e *Executor) func(func()) error { return e.Execute }

func submits(e *Executor) func(func()) error {
	return func(task func()) error {
		Submit(e, func() (struct{}, error) { task(); return struct{}{}, nil })
		return nil // a refused task is missed below
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
