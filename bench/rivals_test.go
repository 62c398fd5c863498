package bench

import (
	"errors"
	"fmt"
	"testing"
)

// conserves has producers submit tasks, closes x, and returns an error unless each
// task has run once (G3) and each producer's in order (G4).
func conserves(x Executor, producers, tasks int) error {
	ran := make([][]int, producers) // touched by tasks, and read after Close
	refused := make(chan error, producers)
	for p := range producers {
		go func() {
			for i := range tasks {
				if err := x.Execute(func() { ran[p] = append(ran[p], i) }); err != nil {
					refused <- err
					return
				}
			}
			refused <- nil
		}()
	}
	var err error
	for range producers {
		err = errors.Join(err, <-refused)
	}
	if err := errors.Join(err, x.Close()); err != nil {
		return err
	}
	for p, got := range ran {
		if len(got) != tasks {
			return fmt.Errorf("G3: of producer %d, %d tasks ran, want %d", p, len(got), tasks)
		}
		for i, task := range got {
			if task != i {
				return fmt.Errorf("G4: of producer %d, task %d ran in place %d", p, task, i)
			}
		}
	}
	return nil
}

func TestEveryExecutorRunsEverything(t *testing.T) {
	for _, impl := range withBare() {
		for _, producers := range []int{1, 8} {
			t.Run(fmt.Sprintf("impl=%s/producers=%d", impl.impl, producers), func(t *testing.T) {
				x, err := impl.open()
				if err != nil {
					t.Fatal(err)
				}
				if err := conserves(x, producers, 10_000); err != nil { // a bare queue has fewer slots than eight times that
					t.Error(err)
				}
			})
		}
	}
}

// faulty does the wrong thing with task number n.
type faulty struct {
	Executor
	n     int
	wrong func(f *faulty, task func()) error
	calls int
	held  func() // to be run after the next one
}

func (f *faulty) Execute(task func()) error {
	if f.calls++; f.calls == f.n {
		return f.wrong(f, task)
	}
	err := f.Executor.Execute(task)
	if f.held != nil {
		err = errors.Join(err, f.Executor.Execute(f.held))
		f.held = nil
	}
	return err
}

// TestConservesSeesFaults plants one bad task in a hundred.
func TestConservesSeesFaults(t *testing.T) {
	for _, fault := range []struct {
		name  string
		wrong func(f *faulty, task func()) error
		want  string
	}{
		{
			"a task is lost",
			func(*faulty, func()) error { return nil },
			"G3: of producer 0, 99 tasks ran, want 100",
		}, {
			"a task runs twice",
			func(f *faulty, task func()) error { return f.Executor.Execute(func() { task(); task() }) },
			"G3: of producer 0, 101 tasks ran, want 100",
		}, {
			"a task is overtaken",
			func(f *faulty, task func()) error { f.held = task; return nil },
			"G4: of producer 0, task 50 ran in place 49",
		}, {
			"a task is refused",
			func(*faulty, func()) error { return errClosed },
			errClosed.Error(),
		},
	} {
		t.Run(fault.name, func(t *testing.T) {
			x, err := NewMutex()
			if err != nil {
				t.Fatal(err)
			}
			err = conserves(&faulty{Executor: x, n: 50, wrong: fault.wrong}, 1, 100)
			if err == nil || err.Error() != fault.want {
				t.Errorf("got %v, want %q", err, fault.want)
			}
		})
	}
}

func TestMutexRefusesAfterClose(t *testing.T) {
	x, err := NewMutex()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Execute(func() { t.Error("a refused task ran") }); err != errClosed {
		t.Errorf("Execute after Close: got %v, want %v", err, errClosed)
	}
}
