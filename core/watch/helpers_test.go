package watch_test

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
	"eventide/core/watch"
)

// run runs w until the test ends, or until stop is called.
func run(t *testing.T, w *watch.Watcher, executors ...core.EventExecutor) (stop func()) {
	t.Helper()
	if err := w.Watch(executors...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			t.Errorf("Run: %v, want nil when its context ends", err)
		}
	}
	t.Cleanup(stop)
	synctest.Wait() // the first reading
	return stop
}

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		coretest.CheckLeaks(t)
		f(t)
	})
}

// stallLog collects the stalls that OnStall receives.
type stallLog struct {
	mu     sync.Mutex
	stalls []watch.Stall
}

func (l *stallLog) add(s watch.Stall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalls = append(l.stalls, s)
}

func (l *stallLog) all() []watch.Stall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.stalls)
}

//go:noinline
func writesAFile(d time.Duration) { time.Sleep(d) }

// equal compares the numbers of statuses.
func equal(a, b watch.Status) bool {
	a.Running, b.Running = nil, nil
	return reflect.DeepEqual(a, b)
}

func quietGroup() *tracked.Group {
	return tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))
}
