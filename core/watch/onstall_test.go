package watch_test

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"github.com/petermattis/goid"
)

// TestOnStallIsCalledByRun: on its goroutine, which waits for it, and in place of the logger.
// Run starts no goroutine.
func TestOnStallIsCalledByRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log coretest.Log
		ofRun := make(chan int64, 1)
		var ofStall int64
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		w.OnStall = func(s watch.Stall) {
			ofStall = goid.Get()
			time.Sleep(time.Minute)
		}
		// OnWait is called by Run too: its goroutine is the one to compare with.
		w.OnWait(func(string, time.Duration) {
			select {
			case ofRun <- goid.Get():
			default:
			}
		})
		stop := run(t, w, ex)
		stacks := make([]byte, 1<<20)
		if stacks = stacks[:runtime.Stack(stacks, true)]; strings.Contains(string(stacks), "created by eventide/core/watch.") {
			t.Errorf("a goroutine of package watch runs:\n%s", stacks)
		}
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { time.Sleep(60 * time.Millisecond) }) // with a sample for OnWait
		time.Sleep(100 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { writesAFile(2 * time.Second) })
		time.Sleep(30 * time.Second)
		coretest.Want(t, "tasks of the last reading", w.Statuses()[0].Stats.Ran, 1) // OnStall holds Run up
		time.Sleep(2 * time.Minute)
		coretest.Want(t, "tasks of the last reading", w.Statuses()[0].Stats.Ran, 2)
		stop()
		coretest.Want(t, "goroutine of OnStall", ofStall, <-ofRun)
		coretest.Want(t, "log", log.String(), "")
	})
}

// TestLimitBelowInterval: a body is reported if it has run for one interval between two readings.
func TestLimitBelowInterval(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var log stallLog
		ex := coretest.NewExecutor(t)
		w := &watch.Watcher{Limit: time.Millisecond, OnStall: log.add}
		stop := run(t, w, ex)
		time.Sleep(150 * time.Millisecond)
		coretest.OnLoop(t, ex, func() { time.Sleep(60 * time.Millisecond) }) // 150 to 210 ms: one reading
		if log.all() != nil {
			t.Errorf("got %v, want nothing after one reading", log.all())
		}
		time.Sleep(50 * time.Millisecond)
		coretest.MustExecute(t, ex, func() { writesAFile(145 * time.Millisecond) }) // 260 to 405 ms: two
		time.Sleep(300 * time.Millisecond)
		if all := log.all(); len(all) != 2 || all[0].For != 100*time.Millisecond || !all[1].Over {
			t.Errorf("got %v, want a stall of 100ms and its end", all)
		}
		stop()
	})
}

// TestStallAsText: one line, and the stack if there is one.
func TestStallAsText(t *testing.T) {
	for want, s := range map[string]watch.Stall{
		"orders: a task ended after 3s":                                 {Name: "orders", Body: core.BodyTask, For: 3 * time.Second, Over: true},
		"orders: a timer has been running for 2s:\ngoroutine 7 [sleep]": {Name: "orders", Body: core.BodyTimer, For: 2 * time.Second, Stack: "goroutine 7 [sleep]"},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestNumbersThatAKindDoesNotHave are 0, and functions have the name that they were given.
func TestNumbersThatAKindDoesNotHave(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g, w := quietGroup(), &watch.Watcher{}
		w.WatchFunctions("background", g)
		stop := run(t, w)
		for range 3 {
			coretest.Must(t, g.Execute(func() { time.Sleep(time.Second) }))
		}
		synctest.Wait()
		watch.Read(w)
		s := w.Statuses()[0]
		coretest.Want(t, "running", len(s.Running), 3)
		s.Running = nil
		if want := (watch.Status{Name: "background", Kind: watch.KindFunctions, Stats: core.Stats{State: core.StateStarted, Accepted: 3, Pending: 3}}); !equal(s, want) {
			t.Errorf("got %+v, want %+v", s, want)
		}
		g.Shutdown()
		coretest.AwaitDone(t, g)
		stop()
	})
}
