package coretest

import (
	"log/slog"
	"testing"
	"time"

	"eventide/core"
)

// EndWithTest returns ex, which a constructor returned with err, and shuts ex down when the test
// ends. The cleanup returns when ex has terminated. It fails the test if err is not nil.
func EndWithTest[E Terminating](t testing.TB, ex E, err error) E {
	t.Helper()
	if err != nil {
		t.Fatalf("constructor: %v", err)
	}
	t.Cleanup(func() {
		ex.Shutdown()
		AwaitDone(t, ex)
	})
	return ex
}

// NewExecutor returns an executor that is terminated when the test ends.
func NewExecutor(t testing.TB, opts ...core.Option) *core.Executor {
	t.Helper()
	ex, err := core.NewExecutor(opts...)
	return EndWithTest(t, ex, err)
}

// NewExecutorGroup returns a group of n executors that is terminated when the test ends.
func NewExecutorGroup(t testing.TB, n int, opts ...core.Option) *core.Group {
	t.Helper()
	g, err := core.NewExecutorGroup(n, opts...)
	return EndWithTest(t, g, err)
}

// NewGroup returns a group of n event loops that is terminated when the test ends. It logs only
// if opts set a logger: a test of a transport checks the transport's logger.
func NewGroup(t testing.TB, n int, opts ...core.Option) *core.Group {
	t.Helper()
	g, err := core.NewGroup(n, append([]core.Option{core.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	return EndWithTest(t, g, err)
}

// NewPool returns a pool of size workers that is terminated when the test ends.
func NewPool(t testing.TB, size int, opts ...core.Option) *core.Pool {
	t.Helper()
	p, err := core.NewPool(size, opts...)
	return EndWithTest(t, p, err)
}

// MustExecute calls ex.Execute(task), and fails the test if ex refuses.
func MustExecute(t testing.TB, ex core.EventExecutor, task func()) {
	t.Helper()
	if err := ex.Execute(task); err != nil {
		t.Fatalf("Execute: %v", err)
	}
}

// OnLoop runs f as a task of ex, and returns when f has returned.
func OnLoop(t testing.TB, ex core.EventExecutor, f func()) {
	t.Helper()
	done := make(chan struct{})
	MustExecute(t, ex, func() { defer close(done); f() })
	Await(t, "a task", done)
}

// MustShutdownGracefully begins a graceful shutdown of ex, or fails the test.
func MustShutdownGracefully(t testing.TB, ex interface {
	ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error)
}, quiet, timeout time.Duration) *core.Termination {
	t.Helper()
	term, err := ex.ShutdownGracefully(quiet, timeout)
	if err != nil {
		t.Fatalf("ShutdownGracefully(%v, %v): %v", quiet, timeout, err)
	}
	return term
}
