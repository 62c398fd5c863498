package core_test

import (
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	for _, ran := range ownProcesses {
		if ran() {
			return
		}
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // many tests make bodies panic
	goleak.VerifyTestMain(m)
}

// ownProcesses are the lives of processes that a test has started to have them to itself from
// the beginning. Each returns false in any other process.
var ownProcesses []func() (ran bool)

func mustHook(t testing.TB, ex *core.Executor, hook func()) (remove func() bool) {
	t.Helper()
	remove, err := ex.AddShutdownHook(hook)
	if err != nil {
		t.Fatalf("AddShutdownHook: %v", err)
	}
	return remove
}

func mustSchedule(t testing.TB, ex core.EventExecutor, delay time.Duration, task func()) *core.Timer {
	t.Helper()
	timer, err := ex.Schedule(delay, task)
	if err != nil {
		t.Fatalf("Schedule(%v): %v", delay, err)
	}
	return timer
}

// occupy returns when the loop is inside a task, which ends when release is
// called, or at the end of the test.
func occupy(t testing.TB, ex core.EventExecutor) (release func()) {
	t.Helper()
	began, gate := make(chan struct{}), make(chan struct{})
	coretest.MustExecute(t, ex, func() { close(began); <-gate })
	coretest.Await(t, "the occupying task", began)
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

// panicLog is a panic handler that remembers.
type panicLog struct {
	mu   sync.Mutex
	seen []*core.PanicError
}

func (p *panicLog) handle(err *core.PanicError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, err)
}

func (p *panicLog) all() []*core.PanicError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*core.PanicError(nil), p.seen...)
}

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// checkConserved is G20 at one instant.
func checkConserved(t testing.TB, s core.Stats) {
	t.Helper()
	if s.Pending < 0 || s.Accepted != s.Ran+s.Cancelled+int64(s.Pending) {
		t.Errorf("G20: accepted %d, want ran %d + cancelled %d + pending %d", s.Accepted, s.Ran, s.Cancelled, s.Pending)
	}
	if s.Timers < 0 || s.TimersScheduled != s.TimersEnded+s.TimersCancelled+int64(s.Timers) {
		t.Errorf("G20: timers scheduled %d, want ended %d + cancelled %d + waiting %d",
			s.TimersScheduled, s.TimersEnded, s.TimersCancelled, s.Timers)
	}
}
