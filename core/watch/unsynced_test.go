package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
	"eventide/core/watch"
)

// calledWatcher is a Watcher with what its calls share.
type calledWatcher struct {
	*watch.Watcher
	first, second *core.Executor // only the first is watched
	functions     *tracked.Group
	stop          func()
}

// newCalledWatcher returns a Watcher that another goroutine runs for some time, unless the time is 0. A new one watches nothing.
func newCalledWatcher(t *testing.T, state string, runs time.Duration) calledWatcher {
	w := calledWatcher{
		Watcher: &watch.Watcher{Interval: 3*coretest.Step + 1, Limit: 1, OnStall: func(watch.Stall) { coretest.TakeStep() }},
		first:   coretest.NewExecutor(t, core.WithName("a")), second: coretest.NewExecutor(t, core.WithName("a")),
		functions: tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler))),
	}
	if state != "new" {
		coretest.Must(t, w.Watch(w.first))
	}
	w.stop = w.OnWait(func(string, time.Duration) { coretest.TakeStep() })
	w.OnWait(func(string, time.Duration) { coretest.TakeStep() })
	coretest.MustExecute(t, w.first, func() { coretest.Pass(8 * coretest.Step) })
	if runs > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), runs)
		t.Cleanup(cancel)
		go func() { _ = w.Run(ctx) }()
		synctest.Wait()
	}
	return w
}

// watcherCalls are the calls. Each makes one call only: a second one would be synchronised with the first of another goroutine.
var watcherCalls = []struct {
	name string
	call func(w calledWatcher)
}{
	{"Watch", func(w calledWatcher) { _ = w.Watch(w.second) }},
	{"WatchFunctions", func(w calledWatcher) { w.WatchFunctions("a", w.functions) }},
	{"OnWait", func(w calledWatcher) { w.OnWait(func(string, time.Duration) { coretest.TakeStep() }) }},
	{"stop", func(w calledWatcher) { w.stop() }},
	{"Statuses", func(w calledWatcher) { w.Statuses() }},
	{"String", func(w calledWatcher) { _ = w.String() }},
	{"Run", func(w calledWatcher) {
		ctx, cancel := context.WithTimeout(context.Background(), 3*coretest.Step)
		defer cancel()
		_ = w.Run(ctx)
	}},
	{"Run that ends at once", func(w calledWatcher) {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = w.Run(ended)
	}},
	{"Shutdown of an executor", func(w calledWatcher) { w.first.Shutdown() }},
}

// TestWatcherCallsNeedNoSynchronisation: the methods of a Watcher may be called from any goroutine, also while it runs, before and
// after. For each pair of calls, one goroutine makes the first, and others make the second, each after another part of the work that
// the first has caused. Virtual time orders the calls, and nothing else does, so the race detector sees each access that the Watcher
// does not guard: the test needs the detector, and no two goroutines that really run at once.
func TestWatcherCallsNeedNoSynchronisation(t *testing.T) {
	for _, state := range []struct {
		name string
		runs time.Duration
	}{{"new", 0}, {"idle", 0}, {"running", time.Minute}, {"ending", 4 * coretest.Step}} {
		for _, first := range watcherCalls {
			t.Run(state.name+"/"+first.name, func(t *testing.T) {
				for _, second := range watcherCalls {
					coretest.InNamedBubble(t, fmt.Sprintf("S17: %s beside %s of a Watcher that is %s", second.name, first.name, state.name), func(t *testing.T) {
						w := newCalledWatcher(t, state.name, state.runs)
						coretest.CallBeside(8, func() { first.call(w) }, func(int) { second.call(w) })
						w.functions.Shutdown()
						coretest.AwaitDone(t, w.functions)
					})
				}
			})
		}
	}
}
