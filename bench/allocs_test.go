package bench

import (
	"testing"
	"time"

	"eventide/core"
)

func TestExecuteDoesNotAllocate(t *testing.T) {
	for _, open := range []func() (Executor, error){NewCore, NewCoreBounded} {
		x, err := open()
		if err != nil {
			t.Fatal(err)
		}
		allocs, err := ExecuteAllocs(x)
		if err != nil {
			t.Fatal(err)
		}
		if allocs != 0 {
			t.Errorf("Execute of an existing func: got %v allocations, want 0", allocs)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// wrapping is an executor that allocates: a closure for every task, or only for
// one in allocBatch.
type wrapping struct {
	Executor
	every, calls int
}

func (w *wrapping) Execute(task func()) error {
	if w.calls++; w.calls%w.every == 0 {
		return w.Executor.Execute(func() { task() })
	}
	return w.Executor.Execute(task)
}

func TestExecuteAllocsSeesOneClosure(t *testing.T) {
	for _, every := range []int{1, allocBatch} {
		x, err := NewCore()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ExecuteAllocs(&wrapping{Executor: x, every: every})
		if err != nil {
			t.Fatal(err)
		}
		if want := 1 / float64(every); got != want {
			t.Errorf("a closure in every %d calls: got %v allocations per call, want %v", every, got, want)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestScheduleAllocatesOnce(t *testing.T) {
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	allocs, err := ScheduleAllocs(ex)
	if err != nil {
		t.Fatal(err)
	}
	if allocs > 1 {
		t.Errorf("Schedule of an existing func and Cancel: got %v allocations, want at most 1", allocs)
	}
	if err := ex.Close(); err != nil {
		t.Error(err)
	}
}

// wrappingSchedule allocates a closure for every timer.
type wrappingSchedule struct{ core.EventExecutor }

func (w wrappingSchedule) Schedule(delay time.Duration, task func()) (*core.Timer, error) {
	return w.EventExecutor.Schedule(delay, func() { task() })
}

func TestScheduleAllocsSeesOneClosure(t *testing.T) {
	ex, err := core.NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ScheduleAllocs(ex)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := ScheduleAllocs(wrappingSchedule{ex})
	if err != nil {
		t.Fatal(err)
	}
	if wrapped != plain+1 {
		t.Errorf("with one closure more: got %v allocations, want %v", wrapped, plain+1)
	}
	if err := ex.Close(); err != nil {
		t.Error(err)
	}
}
