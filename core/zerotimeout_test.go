package core_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// A graceful call with timeout 0 closes because of the timeout if a body runs: the executor is
// not drained then, whatever kind of body it is and whatever goroutine calls.
func TestG11AZeroTimeoutWhileABodyRuns(t *testing.T) {
	for kind, give := range map[string]func(t *testing.T, l *core.EventLoop, m *pollertest.Model, body func()){
		"task": func(t *testing.T, l *core.EventLoop, _ *pollertest.Model, body func()) {
			coretest.MustExecute(t, l, body)
		},
		"tail task": func(t *testing.T, l *core.EventLoop, _ *pollertest.Model, body func()) {
			mustTail(t, &l.Executor, body)
		},
		"timer": func(t *testing.T, l *core.EventLoop, _ *pollertest.Model, body func()) { mustSchedule(t, l, 0, body) },
		"listener": func(_ *testing.T, l *core.EventLoop, _ *pollertest.Model, body func()) {
			core.Submit(l, func() (int, error) { return 0, nil }).OnDone(func(int, error) { body() })
		},
		"readiness handler": func(t *testing.T, l *core.EventLoop, m *pollertest.Model, body func()) {
			d := m.Open()
			mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { body() })
			coretest.Must(t, d.Input())
		},
	} {
		for _, from := range []string{"outside", "inside"} {
			t.Run(kind+" "+from, func(t *testing.T) {
				l, m := modelLoop(t)
				called := make(chan struct{})
				shutdown := func() {
					coretest.MustShutdownGracefully(t, l, 0, 0)
					if cause := context.Cause(l.Context()); cause != core.ErrShutdownTimeout {
						t.Errorf("G11: cause %v with a %s running, want ErrShutdownTimeout", cause, kind)
					}
					close(called)
				}
				begun := make(chan struct{})
				give(t, l, m, func() {
					close(begun)
					if from == "inside" {
						shutdown()
					}
					<-called
				})
				<-begun
				if from == "outside" {
					shutdown()
				}
				report := coretest.AwaitDone(t, l)
				if !report.TimedOut || !strings.Contains(report.Running, "a "+kind+" was running") {
					t.Errorf("G11: TimedOut %v, Running %q; want true, a %s", report.TimedOut, report.Running, kind)
				}
			})
		}
	}
}

// If nothing is queued or running it is drained.
func TestG10AZeroTimeoutWhileNothingRuns(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) core.EventExecutor{
		"executor": func(t *testing.T) core.EventExecutor { return coretest.NewExecutor(t) },
		"pool":     func(t *testing.T) core.EventExecutor { return coretest.NewPool(t, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ex := open(t)
				mustSchedule(t, ex, 0, func() {})
				synctest.Wait()
				coretest.MustShutdownGracefully(t, ex, 0, 0)
				report := coretest.AwaitDone(t, ex)
				if cause := context.Cause(ex.Context()); report.TimedOut || report.Running != "" || cause != core.ErrShutdown {
					t.Errorf("G10: TimedOut %v, Running %q, cause %v; want false, nothing, ErrShutdown", report.TimedOut, report.Running, cause)
				}
			})
		})
	}
}
