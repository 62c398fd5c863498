package tracked

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// TestEachFailureIsLoggedOrHandled: an error, a panic and a Goexit are logged at Error with the
// name of the function; a handler receives them in place of the logger.
func TestEachFailureIsLoggedOrHandled(t *testing.T) {
	bad := errors.New("bad")
	for _, handled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			got := map[string]error{}
			opts := []Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
			if handled {
				opts = append(opts, WithErrorHandler(func(name string, err error) { got[name] = err }))
			}
			g := NewGroup(opts...)
			for name, f := range map[string]func(){"panics": func() { panic(bad) }, "exits": runtime.Goexit, "fails": func() {}} {
				coretest.Must(t, g.Go(name, func(context.Context) error { f(); return bad }))
				synctest.Wait()
			}
			if err := g.Close(); err == nil || err.Error() != g.Err().Error() || g.Termination().Err().Error() != err.Error() {
				t.Errorf("Close: %v, Err: %v, Termination: %v, want the same error", err, g.Err(), g.Termination().Err())
			}
			for _, name := range []string{"panics", "exits", "fails"} {
				if line := "level=ERROR msg=\"tracked: function failed\" function=" + name; strings.Contains(log.String(), line) == handled {
					t.Errorf("with a handler %v the log is\n%s", handled, &log)
				}
			}
			if !handled {
				return
			}
			var panicked *core.PanicError
			if !errors.As(got["panics"], &panicked) || panicked.Value != any(bad) || got["exits"] != core.ErrGoexit || got["fails"] != bad {
				t.Errorf("the handler got %v, want a *core.PanicError, ErrGoexit and the error itself", got)
			}
		})
	}
}

// TestErrorHandlerEndsTheGroup: the handler runs on the goroutine of the function, which still
// counts as running, and may begin the shutdown.
func TestErrorHandlerEndsTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		var g *Group
		var ofHandler, ofFunction int64
		var running []string
		g = NewGroup(WithErrorHandler(func(name string, err error) {
			if err != bad {
				return
			}
			ofHandler = goid.Get()
			for _, f := range g.Functions() {
				running = append(running, f.Name)
			}
			g.Shutdown()
		}))
		coretest.Must(t, g.Go("consumer", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }))
		coretest.Must(t, g.Go("mailer", func(context.Context) error { ofFunction = goid.Get(); return bad }))
		coretest.WantErr(t, "the error of the group", g.AwaitTermination(t.Context()), bad)
		coretest.Want(t, "goroutine of the handler", ofHandler, ofFunction)
		if slices.Sort(running); !slices.Equal(running, []string{"consumer", "mailer"}) {
			t.Errorf("in the handler %v run, want both functions", running)
		}
	})
}

// TestNamesOfFailures: an error of a function without a name is the error of the group as it is.
func TestNamesOfFailures(t *testing.T) {
	bad := errors.New("bad")
	for name, want := range map[string]string{"": "bad", "mailer": "tracked: mailer: bad"} {
		g := NewGroup(WithLogger(quiet()))
		coretest.Must(t, g.Go(name, func(context.Context) error { return bad }))
		coretest.WantText(t, "Close", g.Close(), want)
		coretest.WantErr(t, "Err", g.Err(), bad)
	}
}
