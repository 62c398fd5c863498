package core

import (
	"runtime"
	"testing"
)

// Nothing is left in the tables of goroutines when everything has ended.
func TestG24TheGoroutineTablesAreEmptyAfterDone(t *testing.T) {
	e, err := NewExecutor()
	if err != nil {
		t.Fatal(err)
	}
	e.Termination().OnDone(func(Report, error) { runtime.Goexit() })
	if err := e.Execute(runtime.Goexit); err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	e.Termination().OnDone(func(Report, error) { close(heard) })
	e.Shutdown()
	<-heard
	for left := true; left; { // the goroutine of the listeners is unwinding
		left = false
		for _, table := range []interface {
			Range(func(k, v any) bool)
		}{&loops, &trampolines} {
			table.Range(func(_, v any) bool {
				mine, isLoop := v.(*Executor)
				_, isTrampoline := v.(*trampoline)
				left = left || isLoop && mine == e || isTrampoline
				return true
			})
		}
		runtime.Gosched()
	}
}
