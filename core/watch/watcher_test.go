package watch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
	"eventide/core/watch"
)

// A Watcher does not start executors, does not prolong quiet periods, and drops executors that
// have terminated (G10, G17).
func TestG10WatchingKeepsNothingAwake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		lazy := coretest.NewExecutor(t, core.WithName("lazy"))
		ex := coretest.NewExecutor(t, core.WithName("ex"))
		pool := coretest.NewPool(t, 2, core.WithName("pool"))
		group := coretest.NewExecutorGroup(t, 2, core.WithName("group"))
		w := &watch.Watcher{Interval: time.Millisecond}
		stop := run(t, w, lazy, ex, pool, group)
		var names []string
		for _, s := range w.Statuses() {
			names = append(names, s.Name)
		}
		if want := []string{"lazy", "ex", "pool", "group-0", "group-1"}; !slices.Equal(names, want) {
			t.Errorf("watched: %v, want %v", names, want)
		}
		for _, one := range []core.EventExecutor{ex, pool, group} {
			coretest.OnLoop(t, one, func() {})
			time.Sleep(10 * time.Millisecond)
			began := time.Now()
			term := coretest.MustShutdownGracefully(t, one, time.Second, time.Minute)
			<-term.Done()
			if took := time.Since(began); took != time.Second {
				t.Errorf("G10: %T: the quiet period of 1s took %v", one, took)
			}
		}
		time.Sleep(10 * time.Millisecond)
		s := w.Statuses()
		if len(s) != 1 || s[0].Name != "lazy" || s[0].Stats.State != core.StateNotStarted {
			t.Errorf("still watched: %+v, want the executor that was never used, not started", s)
		}
		stop()
	})
}

// A Watcher may run again after Run has returned, and not twice at once.
func TestRunAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{}
		stop := run(t, w, ex)
		if err := w.Run(t.Context()); err == nil {
			t.Error("a second Run at once returned nil, want an error")
		}
		stop()
		coretest.OnLoop(t, ex, func() { time.Sleep(time.Second) })
		if s := w.Statuses(); s[0].Stats.Ran != 0 {
			t.Errorf("after Run: %+v, want what the last reading has found", s)
		}
		stop = run(t, w)
		coretest.OnLoop(t, ex, func() { time.Sleep(time.Second) })
		time.Sleep(150 * time.Millisecond)
		if s := w.Statuses(); s[0].Stats.Ran != 2 || s[0].BusyTime != time.Second {
			t.Errorf("in the second Run: %+v, want two tasks, and 1s busy", s)
		}
		stop()
	})
}

// TestRunRefusesANilContext: the call does not count as a Run.
func TestRunRefusesANilContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{}
		coretest.Must(t, w.Watch(ex))
		var none context.Context
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait() // the loop counts the task after the task has answered
		coretest.WantText(t, "Run(nil)", w.Run(none), "watch: Run: ctx is nil, want a context")
		coretest.Want(t, "tasks in the Status after Run(nil)", w.Statuses()[0].Stats.Ran, 0)
		run(t, w)()
		coretest.Want(t, "tasks in the Status after Run", w.Statuses()[0].Stats.Ran, 1)
	})
}

func TestEqualNamesGetNumbers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := &watch.Watcher{}
		for range 3 {
			if err := w.Watch(coretest.NewExecutor(t, core.WithName("orders"))); err != nil {
				t.Fatal(err)
			}
		}
		var names []string
		for _, s := range w.Statuses() {
			names = append(names, s.Name)
		}
		if want := []string{"orders", "orders#2", "orders#3"}; !slices.Equal(names, want) {
			t.Errorf("names %v, want %v", names, want)
		}
	})
}

// plain has the methods of an executor and no meter.
type plain struct{ core.EventExecutor }

func TestWatchRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{}
		for _, row := range []struct {
			bad  core.EventExecutor
			want string
		}{
			{nil, "it is nil, want an executor"},
			{(*core.Executor)(nil), "it is a nil *core.Executor, want an executor"},
			{(*core.EventLoop)(nil), "it is a nil *core.EventLoop, want an executor"},
			{(*core.Pool)(nil), "it is a nil *core.Pool, want an executor"},
			{(*core.Group)(nil), "it is a nil *core.Group, want an executor"},
			{(*embedding)(nil), "it is a nil *watch_test.embedding, want an executor"},
			{plain{ex}, "it is a watch_test.plain, want a *core.Executor, *core.EventLoop, *core.Pool or *core.Group, or a type that embeds one"},
		} {
			coretest.WantText(t, fmt.Sprintf("Watch(%T)", row.bad), w.Watch(ex, row.bad), "watch: Watch: executor 1: "+row.want)
		}
		if s := w.Statuses(); len(s) != 0 {
			t.Errorf("watched: %v, want nothing after a refusal", s)
		}
	})
}

// TestWatchNil: a nil group or listener is logged at the call; before, a nil listener ended Run with
// a panic.
func TestWatchNil(t *testing.T) {
	var log bytes.Buffer
	w := &watch.Watcher{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	w.WatchFunctions("jobs", nil)
	w.WatchListener("http", nil)
	if s := w.Statuses(); len(s) != 0 {
		t.Errorf("watched: %v, want nothing", s)
	}
	for _, want := range []string{"level=ERROR", "WatchFunctions: the group is nil", "name=jobs", "WatchListener: the listener is nil", "name=http"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
}

func TestWatchFunctions(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log stallLog
		w := &watch.Watcher{OnStall: log.add}
		g := tracked.NewGroup(tracked.WithLogger(slog.New(slog.DiscardHandler)))
		w.WatchFunctions("background", g)
		stop := run(t, w)
		end := make(chan struct{})
		for _, name := range []string{"consumer", "mailer"} {
			if err := g.Go(name, func(context.Context) error { <-end; return errors.New("no more") }); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour + 50*time.Millisecond)
		s := w.Statuses()[0]
		if s.Kind != watch.KindFunctions || s.Stats.Pending != 2 || s.Longest() < time.Hour+time.Second || len(s.Running) != 2 || s.Running[0].Body != "consumer" {
			t.Errorf("got %+v, want two functions, consumer first", s)
		}
		if log.all() != nil {
			t.Errorf("got %v, want no stall: functions may run for long", log.all())
		}
		close(end)
		g.Shutdown()
		coretest.AwaitDone(t, g)
		time.Sleep(time.Second)
		if s := w.Statuses(); len(s) != 0 {
			t.Errorf("got %+v after the end of the group, want nothing", s)
		}
		stop()
	})
}
