package watch_test

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"
)

func TestStallIsReportedOnceWithItsStackAndOnceAtItsEnd(t *testing.T) {
	for _, kind := range []string{"executor", "pool"} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var ex core.EventExecutor = coretest.NewExecutor(t, core.WithName("orders"))
				if kind == "pool" {
					ex = coretest.NewPool(t, 2, core.WithName("orders"))
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

// Short bodies that follow each other without a pause are not a stall.
func TestBusyIsNotStalled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex, pool := coretest.NewExecutor(t), coretest.NewPool(t, 1)
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
		pool := coretest.NewPool(t, 3)
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

// A Watcher without options logs stalls to slog.Default.
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
// did not run either. Here a function of OnWait keeps the watcher from running for a minute.
func TestTimeWithoutTheWatcherDoesNotCount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log stallLog
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{OnStall: log.add}
		var once sync.Once
		w.OnWait(func(string, time.Duration) { once.Do(func() { time.Sleep(time.Minute) }) })
		stop := run(t, w, ex)
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(60 * time.Millisecond) }) // ends at 110 ms, with a sample for OnWait
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
