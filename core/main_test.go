package core_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if ownProcess() {
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // many tests make bodies panic
	goleak.VerifyTestMain(m)
}

// ownProcess is the life of a process that a test has started to have it to itself from
// the beginning. It returns false in any other.
var ownProcess = func() (ran bool) { return false }

// hangGuard turns a hang into a failure that says what was waited for. It is no
// measure of speed, and in a bubble it is virtual.
const hangGuard = time.Minute

// newExecutor returns an executor that has terminated when the test ends.
func newExecutor(t testing.TB, opts ...core.Option) *core.Executor {
	t.Helper()
	ex, err := core.NewExecutor(opts...)
	if err != nil {
		t.Fatalf("NewExecutor: %v", err)
	}
	t.Cleanup(func() {
		ex.Shutdown()
		awaitDone(t, ex)
	})
	return ex
}

// awaitDone waits for the termination of ex and returns its sealed report.
func awaitDone(t testing.TB, ex core.EventExecutor) core.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	report, err := ex.Termination().Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("G15: the executor never terminated; state %v, stats %+v", ex.State(), ex.Stats())
	}
	return report
}

// await waits for done to be closed.
func await(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	guard := time.NewTimer(hangGuard)
	defer guard.Stop()
	select {
	case <-done:
	case <-guard.C:
		t.Fatalf("waited for %s in vain", what)
	}
}

func mustExecute(t testing.TB, ex core.EventExecutor, task func()) {
	t.Helper()
	if err := ex.Execute(task); err != nil {
		t.Fatalf("Execute: %v", err)
	}
}

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

func mustShutdownGracefully(t testing.TB, ex core.EventExecutor, quiet, timeout time.Duration) {
	t.Helper()
	if _, err := ex.ShutdownGracefully(quiet, timeout); err != nil {
		t.Fatalf("ShutdownGracefully(%v, %v): %v", quiet, timeout, err)
	}
}

// occupy returns when the loop is inside a task, which ends when release is
// called, or at the end of the test.
func occupy(t testing.TB, ex *core.Executor) (release func()) {
	t.Helper()
	began, gate := make(chan struct{}), make(chan struct{})
	mustExecute(t, ex, func() { close(began); <-gate })
	await(t, "the occupying task", began)
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

// onLoop runs f as a task and waits for its end.
func onLoop(t testing.TB, ex core.EventExecutor, f func()) {
	t.Helper()
	done := make(chan struct{})
	mustExecute(t, ex, func() { defer close(done); f() })
	await(t, "a task", done)
}

// journal is what happened, in order; any goroutine may write.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// note returns a body that writes line.
func (j *journal) note(line string) func() { return func() { j.add(line) } }

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, " ")
}

// want fails the test unless exactly the words of want were written.
func (j *journal) want(t testing.TB, guarantee, want string) {
	t.Helper()
	if got := j.String(); got != want {
		t.Errorf("%s: got order %q, want %q", guarantee, got, want)
	}
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
