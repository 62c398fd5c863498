package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var (
	errBrokenClock  = errors.New("the clock is broken")
	errNoGoroutines = errors.New("no goroutine left")
)

// breakableClock is the system's clock, until it breaks.
type breakableClock struct{ broken atomic.Bool }

func (c *breakableClock) Now() time.Time {
	if c.broken.Load() {
		panic(errBrokenClock)
	}
	return time.Now()
}
func (c *breakableClock) AfterFunc(d time.Duration, f func()) Alarm { return time.AfterFunc(d, f) }

// logLines calls a function for each line of a log.
type logLines struct {
	written func(line string) // nil: none
}

func (*logLines) Enabled(context.Context, slog.Level) bool { return true }
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *logLines) WithGroup(string) slog.Handler          { return l }

func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	if l.written != nil {
		l.written(r.Message)
	}
	return nil
}

// contextEnd is a way in which an executor ends, with the cause of its Context.
type contextEnd struct {
	name    string
	refuses bool // the spawner
	begin   func(ex EventExecutor, c *breakableClock) error
	cause   error
}

func endGracefully(ex EventExecutor, quiet, timeout time.Duration) error {
	_, err := ex.ShutdownGracefully(quiet, timeout)
	return err
}

func beginSleep(ex EventExecutor) error {
	err := ex.Execute(func() { time.Sleep(time.Hour) })
	synctest.Wait()
	return err
}

var contextEnds = []contextEnd{
	{"Shutdown", false, func(ex EventExecutor, _ *breakableClock) error { ex.Shutdown(); return nil }, ErrShutdown},
	{"a quiet period", false, func(ex EventExecutor, _ *breakableClock) error {
		return endGracefully(ex, time.Second, time.Hour)
	}, ErrShutdown},
	{"a timeout", false, func(ex EventExecutor, _ *breakableClock) error {
		return errors.Join(beginSleep(ex), endGracefully(ex, 0, time.Second))
	}, ErrShutdownTimeout},
	{"a timeout of zero", false, func(ex EventExecutor, _ *breakableClock) error {
		return errors.Join(beginSleep(ex), endGracefully(ex, 0, 0))
	}, ErrShutdownTimeout},
	{"Shutdown in a quiet period", false, func(ex EventExecutor, _ *breakableClock) error {
		err := endGracefully(ex, time.Second, time.Hour)
		ex.Shutdown()
		return err
	}, ErrShutdown},
	{"a broken clock", false, func(ex EventExecutor, c *breakableClock) error {
		return ex.Execute(func() { c.broken.Store(true) }) // the loop reads the clock at the end of each body
	}, errBrokenClock},
	{"a refused start", true, func(ex EventExecutor, _ *breakableClock) error {
		return endGracefully(ex, time.Second, time.Hour)
	}, errNoGoroutines},
}

// TestPropG11ContextsEndInOrder: however an executor, a pool or a group ends, its ShutdownContext ends before
// its Context does, with ErrShutdown, and Context ends before Done, with the reason of later refusals. Context
// does not wait for the logger, which may be slow.
func TestPropG11ContextsEndInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"executor", "pool", "pool of one worker", "group"}).Draw(rt, "kind")
		asked := rapid.Bool().Draw(rt, "ShutdownContext is called before")
		for _, end := range contextEnds {
			var wrong []string
			synctest.Test(t, func(t *testing.T) { wrong = runContextSpec(t, kind, end, asked) })
			if len(wrong) > 0 {
				rt.Fatalf("G11: %s that ends by %s: %q", kind, end.name, wrong)
			}
		}
	})
}

func runContextSpec(t *testing.T, kind string, end contextEnd, asked bool) (wrong []string) {
	clock := &breakableClock{}
	opts := []Option{WithClock(clock), WithSpawner(func(loop func()) error {
		if end.refuses {
			return errNoGoroutines
		}
		go loop()
		return nil
	})}
	lines := &logLines{}
	opts = append(opts, WithLogger(slog.New(lines)))
	ex, cancel, members := openForContexts(t, kind, opts)
	var mu sync.Mutex
	blame := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, fmt.Sprintf(format, args...))
	}
	check := func(when string, ctx context.Context, cause error) {
		if got := context.Cause(ctx); ctx.Err() == nil || !errors.Is(got, cause) {
			blame("%s: the context ended with %v, want %v", when, got, cause)
		}
	}
	begun := ex.ShutdownContext // a context that is made after the begin has ended
	if asked {
		ctx := ex.ShutdownContext()
		begun = func() context.Context { return ctx } // no call that would end it
		if ctx.Err() != nil {
			blame("ShutdownContext has ended before the begin")
		}
	}
	endContext := *cancel
	*cancel = func(cause error) {
		check("ShutdownContext at the end of Context", begun(), ErrShutdown)
		endContext(cause)
	}
	if kind != "group" { // the other members of a group may be open
		lines.written = func(line string) { check("Context at the line "+line, ex.Context(), end.cause) }
	}
	ex.Termination().OnDone(func(Report, error) { check("Context at Done", ex.Context(), end.cause) })
	for _, m := range members {
		if asked && begun().Err() != nil {
			blame("ShutdownContext has ended before the last member begins to")
		}
		if err := end.begin(m, clock); err != nil {
			blame("the end of a member: %v", err)
		}
	}
	synctest.Wait() // what begins to end by itself has begun
	if state := ex.State(); state >= StateShuttingDown {
		check(fmt.Sprintf("ShutdownContext in state %v", state), begun(), ErrShutdown)
	}
	<-ex.Termination().Done()
	synctest.Wait()
	check("Context after Done", ex.Context(), end.cause)
	check("ShutdownContext after Done", begun(), ErrShutdown)
	var refusal *RejectedError
	if err := ex.Execute(func() {}); !errors.As(err, &refusal) || !errors.Is(refusal.Reason, end.cause) {
		blame("a task is refused with %v, want %v", err, end.cause)
	}
	return wrong
}

// openForContexts returns an executor of the kind, the function that ends its Context, and what has to end.
func openForContexts(t *testing.T, kind string, opts []Option) (EventExecutor, *context.CancelCauseFunc, []EventExecutor) {
	t.Helper()
	switch kind {
	case "pool", "pool of one worker":
		size := 2
		if kind != "pool" {
			size = 1
		}
		p, err := NewPool(size, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return p, &p.cancel, []EventExecutor{p}
	case "group":
		g, err := NewExecutorGroup(3, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return g, &g.cancel, g.members
	}
	e, err := NewExecutor(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e, &e.cancel, []EventExecutor{e}
}
