package tracked

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG10QuietPeriod: the close comes one quiet period after the call, or after the last
// function that was accepted in it.
func TestG10QuietPeriod(t *testing.T) {
	for name, c := range map[string]struct {
		before, during time.Duration // how long a function runs; the second begins 5 s after the call
		want           time.Duration
	}{
		"nothing runs":               {0, 0, 10 * time.Second},
		"one runs":                   {3 * time.Second, 0, 13 * time.Second},
		"one comes":                  {0, 2 * time.Second, 17 * time.Second},
		"one comes and runs past it": {0, 7 * time.Second, 22 * time.Second},
		"one comes while one runs":   {20 * time.Second, time.Second, 30 * time.Second},
		"one comes and takes longer": {6 * time.Second, 20 * time.Second, 35 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g Group
				if c.before > 0 {
					coretest.Must(t, g.Go("before", sleep(c.before)))
				}
				began := time.Now()
				term, err := g.ShutdownGracefully(10*time.Second, time.Hour)
				coretest.Must(t, err)
				time.Sleep(5 * time.Second)
				if c.during > 0 {
					coretest.Must(t, g.Go("during", sleep(c.during)))
				}
				<-term.Done()
				coretest.Want(t, "G10: the end", time.Since(began), c.want)
				r := g.Report()
				coretest.Want(t, "G11: timed out", r.TimedOut, false)
				coretest.Want(t, "elapsed", r.Elapsed, c.want)
			})
		})
	}
}

// TestG11Deadline: the timeout closes the group on time, while functions run; they are waited
// for, and the report names each, with its stack.
func TestG11Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := NewGroup(WithName("jobs"), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		coretest.Must(t, g.Go("slow", sleepsLong))
		time.Sleep(time.Second)
		coretest.Must(t, g.Go("slower", func(ctx context.Context) error {
			<-ctx.Done()
			coretest.Want(t, "cause", context.Cause(ctx), core.ErrShutdownTimeout)
			return nil
		}))
		term, err := g.ShutdownGracefully(0, time.Minute)
		coretest.Must(t, err)
		time.Sleep(time.Minute - 1)
		coretest.Must(t, g.TryGo("just in time", sleep(0)))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if err := g.Go("late", sleep(0)); !errors.Is(err, core.ErrShutdownTimeout) {
			t.Errorf("G11: a call at the deadline: %v, want ErrShutdownTimeout", err)
		}
		coretest.Want(t, "G1: state", g.State(), core.StateShutdown)
		coretest.Want(t, "G20: refused before the end", g.Report().Rejected, 1)
		<-term.Done()
		r, err := term.Wait(t.Context())
		coretest.Must(t, err)
		coretest.Want(t, "timed out", r.TimedOut, true)
		for _, want := range []string{"slow runs since", "sleepsLong", "slower runs since"} {
			if !strings.Contains(r.Running, want) {
				t.Errorf("the report lacks %q:\n%s", want, r.Running)
			}
		}
		if strings.Contains(r.Running, "just in time") {
			t.Errorf("the report names a function that had returned:\n%s", r.Running)
		}
		if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "group=jobs") {
			t.Errorf("the log: %s, want a warning", text)
		}
	})
}

//go:noinline
func sleepsLong(context.Context) error { time.Sleep(time.Hour); return nil }

// TestG11TieIsTheDeadlines: a quiet period that ends at the deadline is ended by the deadline,
// as in package core.
func TestG11TieIsTheDeadlines(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var g Group
			term, err := g.ShutdownGracefully(time.Second, time.Second)
			coretest.Must(t, err)
			<-term.Done()
			coretest.Want(t, "G11: timed out", g.Report().TimedOut, true)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup(WithLogger(quiet()))
		coretest.Must(t, g.Go("one", sleep(time.Second)))
		term, err := g.ShutdownGracefully(0, 0)
		coretest.Must(t, err)
		if err := g.Go("late", sleep(0)); !errors.Is(err, core.ErrShutdownTimeout) {
			t.Errorf("got %v, want ErrShutdownTimeout", err)
		}
		<-term.Done()
	})
}

// TestG16FirstShutdownCounts: a later graceful call changes nothing; Shutdown closes at once.
func TestG16FirstShutdownCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		coretest.Must(t, g.Go("one", sleep(time.Minute)))
		first, err := g.ShutdownGracefully(time.Second, 2*time.Hour)
		coretest.Must(t, err)
		second, err := g.ShutdownGracefully(time.Hour, time.Hour)
		coretest.Must(t, err)
		coretest.Want(t, "Termination", second, first)
		coretest.Want(t, "quiet", g.Report().Quiet, time.Second)
		g.Shutdown()
		if err := g.Go("late", sleep(0)); !errors.Is(err, core.ErrShutdown) {
			t.Errorf("G16: after Shutdown: %v, want ErrShutdown", err)
		}
		<-first.Done()
		coretest.Want(t, "timed out", g.Report().TimedOut, false)
		coretest.Want(t, "elapsed", g.Report().Elapsed, time.Minute)
	})
}

// TestContexts: one ends when the shutdown begins, the other at the close, and neither by the
// end of the context that gave the values.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		values, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, 7))
		g := NewGroup(WithContext(values), nil, WithContext(values))
		cancel()
		var begun, closed time.Duration
		start := time.Now()
		coretest.Must(t, g.Go("worker", func(ctx context.Context) error {
			coretest.Want(t, "value", ctx.Value(key{}), any(7))
			coretest.Want(t, "value", g.ShutdownContext().Value(key{}), any(7))
			<-g.ShutdownContext().Done()
			begun = time.Since(start)
			<-ctx.Done()
			closed = time.Since(start)
			return context.Cause(ctx)
		}))
		time.Sleep(time.Second)
		_, err := g.ShutdownGracefully(0, time.Minute)
		coretest.Must(t, err)
		<-g.Termination().Done()
		coretest.Want(t, "ShutdownContext", begun, time.Second)
		coretest.Want(t, "the function's context", closed, time.Second+time.Minute)
		coretest.Want(t, "cause", context.Cause(g.ShutdownContext()), core.ErrShutdown)
		if err := g.Err(); !errors.Is(err, core.ErrShutdownTimeout) || !strings.HasPrefix(err.Error(), "tracked: worker: ") {
			t.Errorf("Err: %v, want the worker's", err)
		}
	})
}

// TestShutdownAlone: Shutdown is a shutdown call too: both contexts end, and the report counts
// its time.
func TestShutdownAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		coretest.Want(t, "report of a group that nobody used", g.Report().Accepted, 0)
		coretest.Must(t, g.Go("a", func(ctx context.Context) error {
			<-g.ShutdownContext().Done()
			<-ctx.Done()
			coretest.Want(t, "cause", context.Cause(ctx), core.ErrShutdown)
			time.Sleep(time.Second)
			return nil
		}))
		<-g.Shutdown().Done()
		coretest.Want(t, "elapsed", g.Report().Elapsed, time.Second)
	})
}
