package core_test

import (
	"runtime"
	"slices"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// takesAndFails is an executor that core did not make. Execute starts the function, and fails while it runs.
type takesAndFails struct {
	core.EventExecutor
	how     string
	reached chan struct{} // a listener runs
	over    chan struct{} // the function has returned
}

func (x *takesAndFails) InEventLoop() bool { return false }

func (x *takesAndFails) Execute(f func()) error {
	go func() {
		f()
		close(x.over)
	}()
	<-x.reached
	switch x.how {
	case "panics":
		panic(x.how)
	case "exits":
		runtime.Goexit()
	}
	return errFuture
}

// TestPropG9ExecuteFailsBesideItsFunction: an executor that core did not make starts the function that it gets, and then
// panics, ends the goroutine or returns an error. The listeners are called once each, in order, and never two at a time (G9).
func TestPropG9ExecuteFailsBesideItsFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listeners := rapid.IntRange(1, 5).Draw(t, "listeners")
		running := rapid.IntRange(0, listeners-1).Draw(t, "the one that runs as Execute fails")
		x := &takesAndFails{how: rapid.SampledFrom([]string{"panics", "exits", "refuses"}).Draw(t, "how"), reached: make(chan struct{}), over: make(chan struct{})}
		promise, failed := core.NewPromise[int](x), make(chan struct{})
		var called []int
		for i := range listeners {
			promise.Future().OnDone(func(int, error) {
				if i == running {
					close(x.reached)
					<-failed
				}
				called = append(called, i)
			})
		}
		go func() {
			defer close(failed)
			defer func() { _ = recover() }()
			promise.TrySuccess(1)
		}()
		<-x.over
		if !slices.Equal(called, firstNumbers(listeners)) {
			t.Fatalf("G9: Execute %s as listener %d runs, and the listeners %v were called, want 0 to %d in order", x.how, running, called, listeners-1)
		}
	})
}
