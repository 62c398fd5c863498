package core_test

import (
	"runtime"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG10ABodyThatEndsAsTheShutdownIsPublished: a body may end after the shutdown call has read the system's clock, and before
// the state has moved. The quiet period does not begin before its end either.
func TestG10ABodyThatEndsAsTheShutdownIsPublished(t *testing.T) {
	const quiet, late = 40 * time.Millisecond, 20 * time.Millisecond
	begun, called, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	tracer := tracerFunc(func(e core.Event) {
		switch {
		case e.Kind == core.EventEnd:
			close(ended)
		case e.Kind == core.EventState && e.To == core.StateShuttingDown:
			close(called)
			<-ended
			for range 1000 { // meanwhile the loop counts the body
				runtime.Gosched()
			}
		}
	})
	ex := coretest.NewExecutor(t, core.WithTracer(tracer))
	var end time.Time
	coretest.MustExecute(t, ex, func() {
		close(begun)
		<-called
		for began := time.Now(); time.Since(began) < late; {
		}
		end = time.Now()
	})
	<-begun
	coretest.MustShutdownGracefully(t, ex, quiet, time.Hour)
	coretest.AwaitDone(t, ex)
	if got := time.Since(end); got < quiet {
		t.Errorf("G10: the executor has terminated %v after the end of its last body, want %v or more", got, quiet)
	}
}
