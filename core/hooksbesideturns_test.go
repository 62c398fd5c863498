package core_test

import (
	"sync/atomic"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestG6HooksAddedBesideTurns: the turns of a loop that shuts down read the list of hooks while another goroutine adds some.
// Each hook runs once. The race detector sees a list that the two share without mu.
func TestG6HooksAddedBesideTurns(t *testing.T) {
	ex := coretest.NewExecutor(t)
	coretest.OnLoop(t, ex, func() {})
	coretest.MustShutdownGracefully(t, ex, time.Hour, time.Hour)
	const hooks = 500
	var ran atomic.Int64
	added := make(chan struct{})
	go func() {
		defer close(added)
		for range hooks {
			if _, err := ex.AddShutdownHook(func() { ran.Add(1) }); err != nil {
				t.Errorf("AddShutdownHook in the quiet period: %v", err)
			}
		}
	}()
	for over := false; !over; {
		coretest.OnLoop(t, ex, func() {})
		select {
		case <-added:
			over = true
		default:
		}
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if n := ran.Load(); n != hooks {
		t.Errorf("G6: hooks ran %d times, want %d", n, hooks)
	}
}
