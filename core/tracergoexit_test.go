package core_test

import (
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// failingTracer panics at every event that failsAt selects.
func failingTracer(failsAt func(core.Event) bool) core.Option {
	return core.WithTracer(tracerFunc(func(ev core.Event) {
		if failsAt(ev) {
			panic("the tracer")
		}
	}))
}

// withExitingLogger ends each goroutine that logs a message.
func withExitingLogger() core.Option {
	return core.WithLogger(slog.New(exitingHandler{slog.NewTextHandler(io.Discard, nil), new(atomic.Int32)}))
}

// G3, G9, G20: accepted work runs, ends and is counted even if the tracer panics at the begin or the end
// of every body, and the logger of that panic ends the goroutine of the loop.
func TestG3WorkRunsBesideATracerAndALoggerThatFail(t *testing.T) {
	for name, fails := range map[string]func(core.Event) bool{
		"at the begin": func(ev core.Event) bool { return ev.Kind == core.EventBegin },
		"at the end":   func(ev core.Event) bool { return ev.Kind == core.EventEnd },
		"at both":      func(ev core.Event) bool { return ev.Kind == core.EventBegin || ev.Kind == core.EventEnd },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) { checkWorkBesideFailures(t, failingTracer(fails)) })
		})
	}
}

// checkWorkBesideFailures gives a loop work of every kind, and judges how it ended.
func checkWorkBesideFailures(t *testing.T, tracer core.Option) {
	l, m := modelLoop(t, tracer, withExitingLogger())
	var j coretest.Journal
	coretest.Must(t, l.Execute(j.Adds("task")))
	coretest.Must(t, l.ExecuteLazy(j.Adds("lazy")))
	future := core.Submit(l, func() (int, error) { j.Add("submitted"); return 7, nil })
	future.OnDone(func(v int, err error) { j.Add("listener") })
	synctest.Wait() // the loop runs beside this goroutine, and must not find the tail before the future
	mustTail(t, &l.Executor, j.Adds("tail"))
	synctest.Wait()
	j.Want(t, "G3, G4", "task lazy submitted listener tail")
	if v, err := future.Wait(neverEnds); v != 7 || err != nil {
		t.Errorf("G9: the future has %d, %v, want 7, nil", v, err)
	}
	timer := mustSchedule(t, l, time.Second, j.Adds("timer"))
	descriptor := m.Open()
	mustRegister(t, l, descriptor.FD(), core.Readable, func(core.Readiness) { j.Add("ready"); coretest.Must(t, descriptor.Drain()) })
	mustHook(t, &l.Executor, j.Adds("hook"))
	time.Sleep(time.Minute)
	coretest.Must(t, descriptor.Input())
	synctest.Wait()
	coretest.WantErr(t, "G9: the end of the timer", timer.Err(), nil)
	l.Shutdown()
	report := coretest.AwaitDone(t, l)
	j.Want(t, "G3, G6, G22", "task lazy submitted listener tail timer ready hook")
	checkConserved(t, l.Stats())
	if report.Ran != 4 || report.Accepted != 4 || report.TimersRun != 1 || report.HooksRun != 1 || report.Panicked != 0 {
		t.Errorf("G20: the report is %+v, want 4 tasks, a timer and a hook that ran, and no panic", report)
	}
}

// The body that runs although its begin could not be traced may itself end abruptly.
func TestG14AnAbruptBodyBesideATracerAndALoggerThatFail(t *testing.T) {
	for name, bad := range badEnds {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var log panicLog
				ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle), withExitingLogger(),
					failingTracer(func(ev core.Event) bool { return ev.Kind == core.EventBegin }))
				begun := 0
				coretest.MustExecute(t, ex, func() { begun++; bad.body() })
				coretest.MustExecute(t, ex, func() { begun++ })
				ex.Shutdown()
				report := coretest.AwaitDone(t, ex)
				if begun != 2 || report.Ran != 2 || report.Panicked != bad.panicked || int64(len(log.all())) != bad.panicked {
					t.Errorf("G14: %d bodies began, %d panics were handled, and the report is %+v; want 2, and %d", begun, len(log.all()), report, bad.panicked)
				}
			})
		})
	}
}
