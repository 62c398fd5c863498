package tracked

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG1States: a group has the states of an executor. Waiting for its end begins no shutdown,
// and the report is sealed at the end.
func TestG1States(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		coretest.Want(t, "before the first function", g.State(), core.StateNotStarted)
		coretest.Must(t, g.Go("one", sleep(time.Hour)))
		coretest.Want(t, "a function runs", g.State(), core.StateStarted)
		reason := errors.New("no more patience")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		coretest.WantErr(t, "AwaitTermination", g.AwaitTermination(ctx), reason)
		coretest.Want(t, "after a wait", g.State(), core.StateStarted)
		term, err := g.ShutdownGracefully(0, time.Minute)
		coretest.Must(t, err)
		coretest.Want(t, "Termination", g.Termination(), term)
		coretest.Want(t, "after the shutdown call", g.State(), core.StateShuttingDown)
		time.Sleep(time.Minute)
		synctest.Wait()
		coretest.Want(t, "after the timeout", g.State(), core.StateShutdown)
		<-term.Done()
		coretest.Want(t, "after the end", g.State(), core.StateTerminated)
		time.Sleep(time.Hour)
		coretest.Want(t, "the sealed Elapsed", g.Report().Elapsed, time.Hour)
	})
}

// TestCloseHasTheDefaults: Close is a graceful shutdown without a quiet period.
func TestCloseHasTheDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		coretest.Must(t, g.Go("one", sleep(core.DefaultShutdownTimeout-1)))
		coretest.Must(t, g.Close())
		r := g.Report()
		coretest.Want(t, "quiet", r.Quiet, 0)
		coretest.Want(t, "timeout", r.Timeout, core.DefaultShutdownTimeout)
		coretest.Want(t, "timed out", r.TimedOut, false)
	})
}

// TestLimitWhileFunctionsRun: a lower limit stops none of the running functions, and a negative
// one is none.
func TestLimitWhileFunctionsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		stopped := 0
		worker := func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				stopped++
			case <-time.After(time.Hour):
			}
			return nil
		}
		coretest.Must(t, g.Go("a", worker))
		coretest.Must(t, g.Go("b", worker))
		g.SetLimit(1)
		synctest.Wait()
		coretest.Want(t, "running", len(g.Functions()), 2)
		coretest.WantErr(t, "at the limit", g.TryGo("c", worker), ErrLimit)
		g.SetLimit(-2)
		for range 3 {
			coretest.Must(t, g.TryGo("c", worker))
		}
		time.Sleep(2 * time.Hour)
		coretest.Want(t, "functions that were stopped", stopped, 0)
		coretest.Must(t, g.Close())
	})
}

// TestRunningNamesEach: with its start time and its stack, and equal names as often as they run.
func TestRunningNamesEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		var began []string
		for range 2 {
			began = append(began, time.Now().Format(time.RFC3339Nano))
			coretest.Must(t, g.Go("worker", sleepsLong))
			time.Sleep(time.Second)
		}
		text := g.Running()
		for _, at := range began {
			if want := "worker runs since " + at; !strings.Contains(text, want) {
				t.Errorf("got no %q:\n%s", want, text)
			}
		}
		coretest.Want(t, "stacks", strings.Count(text, "tracked.sleepsLong("), 2)
		coretest.Must(t, g.Close())
	})
}

// TestRunningStaysShort: of many functions the oldest 100 are listed with their stacks, and the
// others are counted by name.
func TestRunningStaysShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		for i := range 350 {
			name := []string{"early", "a", "b", "", "b", "b", ""}[i/50]
			coretest.Must(t, g.Go(name, sleepsLong))
			time.Sleep(time.Nanosecond)
		}
		text := g.Running()
		coretest.Want(t, "listed", strings.Count(text, " runs since "), 100)
		coretest.Want(t, "early ones", strings.Count(text, "early runs since "), 50)
		want := "\nand 250 more: 150 of b, 100 of a function without a name\n"
		if !strings.HasSuffix(text, want) {
			t.Errorf("the text ends with %q, want %q", text[len(text)-100:], want)
		}
		for i := range 101 {
			coretest.Must(t, g.Go(fmt.Sprintf("n%03d", i), sleepsLong))
		}
		if want := ", 1 of n097, 3 other names\n"; !strings.HasSuffix(g.Running(), want) {
			t.Errorf("the text does not end with %q", want)
		}
		coretest.Must(t, g.Close())
	})
}

// TestCallsInsideAFunction: a function may call every method; none of them waits for it.
func TestCallsInsideAFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		var names []string
		nothing := func(context.Context) error { return nil }
		coretest.Must(t, g.Go("caller", func(context.Context) error {
			coretest.Must(t, g.Go("a", nothing))
			coretest.Must(t, g.TryGo("b", nothing))
			coretest.Must(t, g.Execute(func() {}))
			synctest.Wait()
			for _, f := range g.Functions() {
				names = append(names, f.Name)
			}
			coretest.Want(t, "Running", strings.Count(g.Running(), " runs since "), 1)
			coretest.Want(t, "ran", g.Report().Ran, 3)
			coretest.Want(t, "State", g.State(), core.StateStarted)
			coretest.Must(t, g.Err())
			g.SetLimit(1)
			coretest.WantErr(t, "TryGo", g.TryGo("c", nothing), ErrLimit)
			coretest.Must(t, g.ShutdownContext().Err())
			coretest.WantErr(t, "AwaitTermination", g.AwaitTermination(t.Context()), core.ErrInEventLoop)
			_, err := g.ShutdownGracefully(time.Second, time.Minute)
			coretest.Must(t, err)
			coretest.WantErr(t, "ShutdownContext", context.Cause(g.ShutdownContext()), core.ErrShutdown)
			coretest.WantErr(t, "Close", g.Close(), core.ErrInEventLoop)
			coretest.Want(t, "Shutdown", g.Shutdown(), g.Termination())
			return nil
		}))
		<-g.Termination().Done()
		if want := []string{"caller"}; !slices.Equal(names, want) {
			t.Errorf("running: %v, want %v", names, want)
		}
	})
}
