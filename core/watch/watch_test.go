package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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

func newPool(t *testing.T, size int, opts ...core.Option) *core.Pool {
	t.Helper()
	pool, err := core.NewPool(size, opts...)
	return coretest.EndWithTest(t, pool, err)
}

// stallLog remembers stalls.
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

func TestStallIsReportedOnceWithItsStackAndOnceAtItsEnd(t *testing.T) {
	for _, kind := range []string{"executor", "pool"} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var ex core.EventExecutor = coretest.NewExecutor(t, core.WithName("orders"))
				if kind == "pool" {
					ex = newPool(t, 2, core.WithName("orders"))
				}
				var log stallLog
				w := &watch.Watcher{OnStall: log.add}
				stop := run(t, w, ex)
				time.Sleep(150 * time.Millisecond)
				coretest.MustExecute(t, ex, func() { writesAFile(3 * time.Second) }) // seen first at 200 ms
				time.Sleep(1020 * time.Millisecond)
				if log.all() != nil {
					t.Fatalf("after 1.02s: %v, want nothing yet", log.all())
				}
				time.Sleep(1870 * time.Millisecond) // the last reading is that at 3 s
				if len(log.all()) != 1 {
					t.Fatalf("after 2.89s: %v, want one stall", log.all())
				}
				got := log.all()[0]
				if got.Name != "orders" || got.Body != core.BodyTask || got.For != time.Second || got.Over {
					t.Errorf("got %+v, want a task of orders, for 1s", got)
				}
				if !strings.Contains(got.Stack, "watch_test.writesAFile") || strings.Contains(got.Stack, "(*Watcher).Run") {
					t.Errorf("the stack is %q, want that of the body alone", got.Stack)
				}
				if s := w.Statuses()[0]; s.Stalls != 1 || s.Longest() != 2800*time.Millisecond {
					t.Errorf("got %+v, want one stall and a body of 2.8s", s)
				}
				time.Sleep(time.Second)
				if len(log.all()) != 2 || !log.all()[1].Over || log.all()[1].For != 3*time.Second || log.all()[1].Stack != "" {
					t.Errorf("got %+v, want the end after 3s", log.all()[1:])
				}
				stop()
			})
		})
	}
}

// Bodies that follow each other are not one long body.
func TestBusyIsNotStalled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex, pool := coretest.NewExecutor(t), newPool(t, 1)
		var log stallLog
		w := &watch.Watcher{OnStall: log.add}
		stop := run(t, w, ex, pool)
		for range 10 {
			coretest.MustExecute(t, ex, func() { time.Sleep(900 * time.Millisecond) })
			coretest.MustExecute(t, pool, func() { time.Sleep(900 * time.Millisecond) })
		}
		_, err := ex.ScheduleAtFixedRate(0, 900*time.Millisecond, func() { time.Sleep(900 * time.Millisecond) })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(17950 * time.Millisecond)
		if log.all() != nil {
			t.Errorf("got %v, want no stall", log.all())
		}
		s := w.Statuses()
		if s[0].Busy != 1 || s[0].RecentLag < 8*time.Second || s[1].Busy > 0.9 || s[1].Lag.Sum == 0 {
			t.Errorf("got %+v, want the executor busy all the time, and late", s)
		}
		stop()
	})
}

func TestEachStalledBodyOfAPoolIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		pool := newPool(t, 3)
		var log stallLog
		stop := run(t, &watch.Watcher{OnStall: log.add, Limit: 300 * time.Millisecond}, pool)
		for range 2 {
			coretest.MustExecute(t, pool, func() { writesAFile(time.Second) })
		}
		time.Sleep(2 * time.Second)
		over := func(s watch.Stall) bool { return s.Over }
		if len(log.all()) != 4 || slices.ContainsFunc(log.all()[:2], over) || !over(log.all()[2]) || !over(log.all()[3]) {
			t.Errorf("got %v, want two stalls and their ends", log.all())
		}
		stop()
	})
}

// A stall is heard without any option.
func TestStallsAreLoggedByDefault(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		log := coretest.DefaultLog(t)
		ex := coretest.NewExecutor(t, core.WithName("orders"))
		stop := run(t, &watch.Watcher{}, ex)
		coretest.MustExecute(t, ex, func() { writesAFile(2 * time.Second) })
		time.Sleep(3 * time.Second)
		for _, part := range []string{"level=WARN", `msg="body is stalled"`, "executor=orders", "body=task", "for=1s", "writesAFile"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log is %q, want %q in it", log.String(), part)
			}
		}
		stop()
	})
}

func TestLoggerOfStalls(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log coretest.Log
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { writesAFile(2 * time.Second) })
		time.Sleep(3 * time.Second)
		if want := `level=INFO msg="stalled body has ended"`; !strings.Contains(log.String(), want) || !strings.Contains(log.String(), "for=2s") {
			t.Errorf("the log is %q, want %q after 2s", log.String(), want)
		}
		stop()
	})
}

// A process that was stopped, or that got no processor, has no stalled bodies: the watcher
// did not run either. Here something keeps the watcher from running.
func TestTimeWithoutTheWatcherDoesNotCount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log stallLog
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{OnStall: log.add}
		var once sync.Once
		w.OnWait(func(string, time.Duration) { once.Do(func() { time.Sleep(time.Minute) }) })
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(60 * time.Millisecond) }) // its end, at 110 ms, is the sample
		time.Sleep(100 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(time.Minute + 500*time.Millisecond) })
		time.Sleep(2 * time.Minute)
		if all := log.all(); len(all) != 0 {
			t.Errorf("got %v, want nothing: the watcher has seen it for 0.5s", all)
		}
		stop()
	})
}

func TestNegativeLimitReportsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log stallLog
		ex := coretest.NewExecutor(t)
		stop := run(t, &watch.Watcher{Limit: -1, OnStall: log.add}, ex)
		coretest.MustExecute(t, ex, func() { writesAFile(time.Hour) })
		time.Sleep(2 * time.Hour)
		if log.all() != nil {
			t.Errorf("got %v, want nothing", log.all())
		}
		stop()
	})
}

func TestPanicOfOnStallIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		log := coretest.DefaultLog(t)
		ex := coretest.NewExecutor(t)
		stop := run(t, &watch.Watcher{OnStall: func(watch.Stall) { panic("no pager") }}, ex)
		coretest.MustExecute(t, ex, func() { writesAFile(2 * time.Second) })
		time.Sleep(3 * time.Second)
		if strings.Count(log.String(), "no pager") != 2 {
			t.Errorf("the log is %q, want both panics", log.String())
		}
		stop()
	})
}

// G10, G17: watching starts nothing and prolongs nothing, and what has ended is dropped.
func TestG10WatchingKeepsNothingAwake(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		lazy := coretest.NewExecutor(t, core.WithName("lazy"))
		ex := coretest.NewExecutor(t, core.WithName("ex"))
		pool := newPool(t, 2, core.WithName("pool"))
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

// Two runs of one Watcher, one after the other, and not at once.
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

func TestEqualNamesAreToldApart(t *testing.T) {
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
		for _, bad := range []core.EventExecutor{nil, plain{ex}} {
			if err := w.Watch(ex, bad); err == nil || !strings.Contains(err.Error(), "executor 1: it is") {
				t.Errorf("Watch(%T): %v, want an error about it", bad, err)
			}
		}
		if s := w.Statuses(); len(s) != 0 {
			t.Errorf("watched: %v, want nothing after a refusal", s)
		}
	})
}

func TestOnWaitReceivesEachSample(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, core.WithName("orders"))
		w := &watch.Watcher{}
		heard := make(chan string, 100)
		w.OnWait(nil)
		ignore := w.OnWait(func(name string, wait time.Duration) { heard <- fmt.Sprint(name, " ", wait) })
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(70 * time.Millisecond) }) // until 120 ms: 20 ms after a reading
		time.Sleep(200 * time.Millisecond)
		if n, first := len(heard), <-heard; n != 1 || first != "orders 20ms" {
			t.Errorf("heard %d waits, first %q, want one of 20ms", n, first)
		}
		lag := w.Statuses()[0].Lag
		i := slices.Index(watch.LagBounds(), 25*time.Millisecond)
		if lag.Count != 1 || lag.Sum != 20*time.Millisecond || lag.Buckets[i] != 1 || lag.Buckets[i-1] != 0 {
			t.Errorf("lag %+v, want one wait of 20ms", lag)
		}
		ignore()
		coretest.OnLoop(t, ex, func() { time.Sleep(time.Second) })
		time.Sleep(time.Second)
		if n := len(heard); n != 0 {
			t.Errorf("heard %d waits after the stop, want none", n)
		}
		stop()
	})
}

func TestOldestIsTheAgeOfATaskThatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Limit: -1}
		stop := run(t, w, ex)
		coretest.MustExecute(t, ex, func() { time.Sleep(time.Minute) })
		coretest.MustExecute(t, ex, func() {})
		time.Sleep(50*time.Second + 50*time.Millisecond)
		if s := w.Statuses()[0]; s.Oldest < 49*time.Second || s.Oldest > 50*time.Second {
			t.Errorf("the oldest task has waited for %v, want 50s", s.Oldest)
		}
		time.Sleep(time.Minute)
		if s := w.Statuses()[0]; s.Oldest != 0 || s.RecentLag < 59*time.Second && s.RecentLag != 0 {
			t.Errorf("got %+v, want nothing waiting", s)
		}
		stop()
	})
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

func TestStringIsJSON(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := &watch.Watcher{}
		if got := w.String(); got != "{}" {
			t.Errorf("an empty watcher is %s, want {}", got)
		}
		ex, pool := coretest.NewExecutor(t, core.WithName("orders")), newPool(t, 1, core.WithName("files"))
		stop := run(t, w, ex, pool)
		coretest.OnLoop(t, ex, func() { time.Sleep(250 * time.Millisecond) })
		time.Sleep(150 * time.Millisecond)
		var got map[string]map[string]float64
		if err := json.Unmarshal([]byte(w.String()), &got); err != nil {
			t.Fatal(err)
		}
		one := got["orders"]
		if len(got) != 2 || one["tasks.ran"] != 1 || one["busy.time"] != 0.25 || one["lag.count"] != 2 || one["state"] != 1 {
			t.Errorf("got %v", got)
		}
		if _, ok := one["workers"]; ok || len(got["files"]) == 0 {
			t.Errorf("got %v, want workers of the pool alone", got)
		}
		stop()
	})
}

// Names must be fit for OpenTelemetry and Prometheus, and each is used once.
func TestMetricNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(watch.Metrics(), watch.LagMetric()) {
		if seen[m.Name] || strings.Trim(m.Name, "abcdefghijklmnopqrstuvwxyz.") != "" || m.Help == "" {
			t.Errorf("bad name or help: %+v", m)
		}
		seen[m.Name] = true
		has := 0
		for kind := watch.KindExecutor; kind <= watch.KindListener; kind++ {
			if _, ok := m.Value(watch.Status{Kind: kind}); ok {
				has++
			}
		}
		if has == 0 {
			t.Errorf("no kind has %s", m.Name)
		}
	}
}
