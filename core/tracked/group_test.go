package tracked

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// sleep is a function that takes d of virtual time.
func sleep(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// TestG3ZeroGroup: the zero Group works, runs each accepted function once, and refuses all
// after the close.
func TestG3ZeroGroup(t *testing.T) {
	var g Group
	var ran atomic.Int64
	coretest.Want(t, "state", g.State(), core.StateNotStarted)
	for range 100 {
		coretest.Must(t, g.Go("one", func(context.Context) error { ran.Add(1); return nil }))
	}
	coretest.Must(t, g.Execute(func() { ran.Add(1) }))
	coretest.Must(t, g.Close())
	coretest.Want(t, "G3: functions that ran", ran.Load(), 101)
	coretest.Want(t, "G15: state", g.State(), core.StateTerminated)
	var rejected *core.RejectedError
	for _, err := range []error{g.Go("late", sleep(0)), g.TryGo("late", sleep(0)), g.Execute(func() {})} {
		if !errors.As(err, &rejected) || !errors.Is(err, core.ErrShutdown) || rejected.State != core.StateTerminated {
			t.Errorf("G5: a call after the end: %v, want a refusal in state Terminated by ErrShutdown", err)
		}
	}
	coretest.Want(t, "report", g.Report().Plus(core.Report{}).Rejected, 0)
}

// TestG3NoneIsLost: many callers race the shutdown. The functions that ran are those whose
// call returned nil, and all have returned when Done is closed.
func TestG3NoneIsLost(t *testing.T) {
	for round := range 300 {
		var g Group
		var accepted, began, ended atomic.Int64
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for range 20 {
					err := g.Go("", func(context.Context) error {
						began.Add(1)
						runtime.Gosched()
						ended.Add(1)
						return nil
					})
					if err == nil {
						accepted.Add(1)
					} else if !errors.Is(err, core.ErrRejected) {
						t.Error(err)
					}
				}
			})
		}
		if round%2 == 0 {
			g.Shutdown()
		}
		coretest.Must(t, g.Close())
		at := ended.Load()
		callers.Wait()
		if at != accepted.Load() || began.Load() != at {
			t.Fatalf("G3: round %d: %d accepted, %d began, %d had ended at Done", round, accepted.Load(), began.Load(), at)
		}
		r := g.Report()
		coretest.Want(t, "G20: accepted", r.Accepted, accepted.Load())
		coretest.Want(t, "G20: ran", r.Ran, accepted.Load())
	}
}

// TestG14Failures: errors, panics and Goexit end one function. The first is Err and that of the
// Termination; each is handed to the handler, or logged.
func TestG14Failures(t *testing.T) {
	boom := errors.New("boom")
	failures := []struct {
		name string
		f    func(context.Context) error
		want string
	}{
		{"fails", func(context.Context) error { return boom }, "boom"},
		{"panics", func(context.Context) error { panic("p") }, "core: panic: p"},
		{"exits", func(context.Context) error { runtime.Goexit(); return nil }, core.ErrGoexit.Error()},
		{"wraps", func(context.Context) error { panic(boom) }, "core: panic: boom"},
	}
	for _, rude := range []bool{false, true} {
		var handled []string
		var g *Group
		var log bytes.Buffer
		g = NewGroup(WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithErrorHandler(func(name string, err error) {
			handled = append(handled, name+": "+err.Error())
			coretest.Want(t, "G18: Close from inside", g.AwaitTermination(context.Background()), core.ErrInEventLoop)
			if rude {
				panic("rude")
			}
		}))
		for _, c := range failures {
			done := make(chan struct{})
			coretest.Must(t, g.Go(c.name, func(ctx context.Context) error { defer close(done); return c.f(ctx) }))
			<-done
			for len(g.Functions()) > 0 {
				runtime.Gosched()
			}
		}
		coretest.Must(t, g.Go("fine", func(context.Context) error { return nil }))
		if err := g.Close(); !errors.Is(err, boom) || err.Error() != "tracked: fails: boom" {
			t.Errorf("Close: %v, want the first error", err)
		}
		for _, c := range failures {
			if !slices.Contains(handled, c.name+": "+c.want) {
				t.Errorf("the handler got %q, want %s: %s", handled, c.name, c.want)
			}
		}
		r := g.Report()
		coretest.Want(t, "panicked", r.Panicked, 2)
		coretest.Want(t, "G20: ran", r.Ran, 5)
		coretest.Want(t, "log of a handler that panics", strings.Contains(log.String(), "error handler panicked"), rude)
	}
}

// TestFailuresAreLoggedByDefault: without a handler each failure is logged; a nil logger is the default.
func TestFailuresAreLoggedByDefault(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	var none context.Context
	g := NewGroup(WithLogger(nil), WithErrorHandler(nil), WithContext(none))
	coretest.Must(t, g.Go("mailer", func(context.Context) error { return errors.New("no mail") }))
	coretest.Must(t, g.Go("printer", panics))
	if err := g.Close(); err == nil {
		t.Error("got nil, want the error")
	}
	if text := log.String(); !strings.Contains(text, "tracked.panics(") {
		t.Errorf("the log is %q, want the stack of the panic", text)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "mailer") || !strings.Contains(text, "no mail") {
		t.Errorf("the log is %q, want the failure", text)
	}
}

//go:noinline
func panics(context.Context) error { panic("no paper") }

// TestG18Inside: calls that would wait for the group from inside a function return at once.
func TestG18Inside(t *testing.T) {
	var g Group
	result := make(chan error, 2)
	coretest.Must(t, g.Go("self", func(context.Context) error {
		result <- g.AwaitTermination(context.Background())
		result <- g.Close()
		return nil
	}))
	coretest.Want(t, "AwaitTermination", <-result, core.ErrInEventLoop)
	coretest.Want(t, "Close", <-result, core.ErrInEventLoop)
	<-g.Termination().Done()
}

// TestLimit: no more functions run than the limit allows; Go waits in the order of its calls,
// TryGo does not, a raised limit lets them in, and the close refuses waiting calls.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		g.SetLimit(2)
		coretest.Must(t, g.Go("a", sleep(10*time.Second)))
		coretest.Must(t, g.Go("b", sleep(20*time.Second)))
		if err := g.TryGo("c", sleep(0)); !errors.Is(err, ErrLimit) || !errors.Is(err, core.ErrRejected) {
			t.Errorf("TryGo: %v, want ErrLimit", err)
		}
		start := time.Now()
		type entry struct {
			name string
			at   time.Duration
			err  error
		}
		entries := make(chan entry, 4)
		for _, name := range []string{"d", "e", "f", "g"} {
			go func() { err := g.Go(name, sleep(time.Hour)); entries <- entry{name, time.Since(start), err} }()
			synctest.Wait() // their order
		}
		coretest.Want(t, "the first", <-entries, entry{"d", 10 * time.Second, nil})
		coretest.Want(t, "the second", <-entries, entry{"e", 20 * time.Second, nil})
		coretest.Want(t, "running", len(g.Functions()), 2)
		g.SetLimit(3)
		coretest.Want(t, "the third", <-entries, entry{"f", 20 * time.Second, nil})
		g.SetLimit(1) // running functions continue
		_, err := g.ShutdownGracefully(0, time.Minute)
		coretest.Must(t, err)
		last := <-entries
		coretest.Want(t, "the fourth", last.at, 20*time.Second+time.Minute)
		if !errors.Is(last.err, core.ErrShutdownTimeout) {
			t.Errorf("G5: a call that waited for the limit: %v, want a refusal", last.err)
		}
		<-g.Termination().Done()
		coretest.Want(t, "G20: accepted", g.Report().Accepted, 5)
	})
}

// TestLimitZero: with a limit of 0 no function begins, and the shutdown does not wait for calls
// that the limit holds up.
func TestLimitZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		g.SetLimit(0)
		if err := g.TryGo("a", sleep(0)); !errors.Is(err, ErrLimit) {
			t.Errorf("TryGo: %v, want ErrLimit", err)
		}
		held := make(chan error, 1)
		go func() { held <- g.Go("b", sleep(0)) }()
		synctest.Wait()
		coretest.Want(t, "state", g.State(), core.StateNotStarted)
		coretest.Must(t, g.Close())
		if err := <-held; !errors.Is(err, core.ErrShutdown) {
			t.Errorf("Go: %v, want a refusal", err)
		}
	})
}

// TestFunctions: they are named, the oldest first.
func TestFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		text := ""
		if n := coretest.Allocated(func() { text = g.Running() }); text != "" || n > mostStacks/2 {
			t.Errorf("Running of no function is %q, and has allocated %d bytes, want no text and no dump of all stacks", text, n)
		}
		start := time.Now()
		for _, name := range []string{"first", "second"} {
			coretest.Must(t, g.Go(name, sleep(time.Minute)))
			time.Sleep(time.Second)
		}
		if got := g.Functions(); !slices.Equal(got, []Function{{"first", start}, {"second", start.Add(time.Second)}}) {
			t.Errorf("got %v", got)
		}
		if text := g.Running(); !strings.Contains(text, "first runs since") || !strings.Contains(text, "second runs since") {
			t.Errorf("got %s", text)
		}
		coretest.Must(t, g.Close())
	})
}

// TestBadInput: a mistake names the call, the value and what was expected, and changes nothing.
func TestBadInput(t *testing.T) {
	var g Group
	for want, call := range map[string]func() error{
		"tracked: Go: f is nil, want a function":                                         func() error { return g.Go("x", nil) },
		"tracked: TryGo: f is nil, want a function":                                      func() error { return g.TryGo("x", nil) },
		"tracked: Execute: f is nil, want a function":                                    func() error { return g.Execute(nil) },
		"tracked: ShutdownGracefully: quiet is -1ns, want 0 or more":                     func() error { _, err := g.ShutdownGracefully(-1, 0); return err },
		"tracked: ShutdownGracefully: timeout is 1ns, want at least quiet, which is 2ns": func() error { _, err := g.ShutdownGracefully(2, 1); return err },
	} {
		if err := call(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	coretest.Want(t, "state", g.State(), core.StateNotStarted)
	coretest.Must(t, g.Go("fine", sleep(0)))
	coretest.Must(t, g.Close())
}
