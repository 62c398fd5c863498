package tracked_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// TestGettersBesideEveryCall: each method of a Group without arguments may be called from any
// goroutine at any time.
func TestGettersBesideEveryCall(t *testing.T) {
	g := tracked.NewGroup()
	coretest.CallGetters(t, g, []string{"Close", "Shutdown"}, func() {
		for i := range 300 {
			if err := g.Go("getter", func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			g.SetLimit(1 + i%3)
		}
		if _, err := g.ShutdownGracefully(0, time.Minute); err != nil {
			t.Error(err)
		}
		<-g.Termination().Done()
	})
}

// TestG14ErrBesideTheFirstFailure: goroutines that ask for the error while functions fail get nil at first, and then always the
// first failure.
func TestG14ErrBesideTheFirstFailure(t *testing.T) {
	for range 200 {
		g := tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))
		var askers sync.WaitGroup
		for range 3 {
			askers.Go(func() {
				var first error
				for first == nil {
					runtime.Gosched()
					first = g.Err()
				}
				if again := g.Err(); again.Error() != first.Error() {
					t.Errorf("G14: Err is %v, and was %v", again, first)
				}
			})
		}
		for _, name := range []string{"one", "two", "three"} {
			coretest.Must(t, g.Go(name, func(context.Context) error { return errors.New("planned") }))
		}
		askers.Wait()
		_ = g.Close() // the first failure
	}
}

// TestFirstCallsOfAZeroGroup: the first calls of a Group that no constructor made may be on two goroutines.
func TestFirstCallsOfAZeroGroup(t *testing.T) {
	first := map[string]func(*tracked.Group){
		"Err": func(g *tracked.Group) { _ = g.Err() }, "Functions": func(g *tracked.Group) { g.Functions() }, "ShutdownContext": func(g *tracked.Group) { g.ShutdownContext() },
		"Running": func(g *tracked.Group) { g.Running() }, "Report": func(g *tracked.Group) { g.Report() },
		"State": func(g *tracked.Group) { g.State() }, "Termination": func(g *tracked.Group) { g.Termination() },
		"SetLimit": func(g *tracked.Group) { g.SetLimit(1) }, "Shutdown": func(g *tracked.Group) { g.Shutdown() },
	}
	for name, call := range first {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				var g tracked.Group
				var calls sync.WaitGroup
				calls.Go(func() { call(&g) })
				for range 3 {
					runtime.Gosched() // the call may come first: nothing orders the next one after it
				}
				if err := g.Go("one", func(context.Context) error { return nil }); err != nil && name != "Shutdown" {
					t.Error(err)
				}
				calls.Wait()
				coretest.Must(t, g.Close())
			}
		})
	}
}
