package process

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// probe returns the code and the text that a handler answers.
func probe(h http.Handler) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Code, strings.TrimSpace(w.Body.String())
}

func wantProbe(t *testing.T, h http.Handler, code int, text string) {
	t.Helper()
	if gotCode, got := probe(h); gotCode != code || !strings.HasPrefix(got, text) {
		t.Errorf("the probe answers %d %q, want %d %q", gotCode, got, code, text)
	}
}

// TestReadiness: not ready before Ready, ready until the exit begins, and then never again.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Health{}
		wantProbe(t, h.Readiness(), 503, "not ready: starting")
		wantProbe(t, h.Liveness(), 200, "alive")
		serve := make(chan struct{})
		tr := launch(t, t.Context(), Plan{Health: h, PreDrain: time.Second, Start: func(ctx context.Context) error {
			<-serve
			inner, cancel := context.WithCancel(ctx)
			defer cancel()
			for range 2 {
				if err := Ready(inner); err != nil {
					t.Error(err)
				}
			}
			<-ctx.Done()
			return Ready(ctx)
		}})
		wantProbe(t, h.Readiness(), 503, "not ready: starting")
		close(serve)
		synctest.Wait()
		wantProbe(t, h.Readiness(), 200, "ready")
		tr.signals <- os.Interrupt
		synctest.Wait()
		wantProbe(t, h.Readiness(), 503, "not ready: the exit has begun: process: signal: interrupt")
		tr.wantCode(0)
		wantProbe(t, h.Readiness(), 503, "not ready: the exit has begun")
	})
}

// TestLateReadyDoesNotUndoTheExit: a Ready that found the exit not begun may set the state after
// the begin.
func TestLateReadyDoesNotUndoTheExit(t *testing.T) {
	h := &Health{}
	h.set(exiting, errors.New("stopped"))
	h.set(ready, nil)
	wantProbe(t, h.Readiness(), 503, "not ready: the exit has begun: stopped")
}

// TestReadinessWithoutStart: such a plan is ready at once; one that ends at once never is.
func TestReadinessWithoutStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Health{}
		tr := launch(t, t.Context(), Plan{Health: h})
		wantProbe(t, h.Readiness(), 200, "ready")
		tr.signals <- os.Interrupt
		tr.wantCode(0)

		h = &Health{}
		ended, end := context.WithCancel(t.Context())
		end()
		launch(t, ended, Plan{Health: h}).wantCode(0)
		wantProbe(t, h.Readiness(), 503, "not ready: the exit has begun")
	})
}

func TestReadyRefuses(t *testing.T) {
	var none context.Context
	for want, ctx := range map[string]context.Context{
		"process: Ready: ctx is nil":                                 none,
		"process: Ready: ctx is not the context of Plan.Start, want": t.Context(),
	} {
		if err := Ready(ctx); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	err := Plan{Health: &Health{StuckAfter: -1}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "Health.StuckAfter is -1ns, want 0 or more") {
		t.Errorf("got %v", err)
	}
}

// TestLiveness: an executor whose tasks wait behind a body that does not return is named; one
// that has nothing to do, or makes progress, is alive. A probe submits nothing.
func TestLiveness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Health{StuckAfter: 10 * time.Second}
		engine, err := core.NewExecutor()
		if err != nil {
			t.Fatal(err)
		}
		group, err := core.NewExecutorGroup(2)
		if err != nil {
			t.Fatal(err)
		}
		tr := launch(t, t.Context(), Plan{Health: h, Steps: []Step{
			{Name: "engine", Executor: engine}, {Name: "group", Executor: group},
			{Name: "close", Run: func(context.Context) error { return nil }},
		}})
		alive := func(want string) {
			t.Helper()
			if want == "" {
				wantProbe(t, h.Liveness(), 200, "alive")
				return
			}
			wantProbe(t, h.Liveness(), 503, "stuck: "+want)
		}
		alive("")
		time.Sleep(time.Minute)
		alive("") // it has nothing to do

		gate := make(chan struct{})
		children := []core.EventExecutor{group.Next(), group.Next()}
		for _, ex := range append([]core.EventExecutor{engine}, children[1]) {
			if err := ex.Execute(func() { <-gate }); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		alive("") // the first look
		time.Sleep(10*time.Second - 1)
		alive("")
		time.Sleep(time.Nanosecond)
		alive("engine, group[1]")
		if n := engine.Termination().Report().Accepted; n != 1 {
			t.Errorf("G10: %d tasks accepted, want none of the probe's", n)
		}
		close(gate)
		synctest.Wait()
		alive("")
		for range 5 { // slow, but it makes progress
			if err := engine.Execute(func() { time.Sleep(8 * time.Second) }); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			alive("")
			time.Sleep(8 * time.Second)
		}
		tr.signals <- os.Interrupt
		tr.wantCode(0)
	})
}

// TestLivenessOfAPool: a pool is stuck while tasks wait for a worker. A long task beside a free worker keeps nothing waiting, nor
// do two of them that use every worker.
func TestLivenessOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Health{StuckAfter: time.Second}
		pool, err := core.NewPool(2)
		coretest.Must(t, err)
		gate := make(chan struct{})
		tr := launch(t, t.Context(), Plan{Health: h, Steps: []Step{{Name: "pool", Executor: pool}}})
		for range 2 {
			coretest.Must(t, pool.Execute(held(gate)))
			synctest.Wait()
			wantProbe(t, h.Liveness(), 200, "alive")
			coretest.Pass(time.Minute)
			wantProbe(t, h.Liveness(), 200, "alive")
		}
		coretest.Must(t, pool.Execute(func() {}))
		wantProbe(t, h.Liveness(), 200, "alive")
		coretest.Pass(time.Second - 1)
		wantProbe(t, h.Liveness(), 200, "alive")
		coretest.Pass(time.Nanosecond)
		wantProbe(t, h.Liveness(), 503, "stuck: pool")
		close(gate)
		synctest.Wait()
		wantProbe(t, h.Liveness(), 200, "alive")
		tr.signals <- os.Interrupt
		tr.wantCode(0)
	})
}

// TestLivenessOfALazyTask: a loop sleeps while a lazy task waits, as it should.
func TestLivenessOfALazyTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.OnLoop(t, ex, func() {})
		coretest.Must(t, ex.ExecuteLazy(func() {}))
		wantAliveForAMinute(t, ex)
	})
}

// TestLivenessOfATrackedGroup: functions that run as long as the program keep nothing waiting.
func TestLivenessOfATrackedGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := tracked.NewGroup()
		coretest.Must(t, jobs.Go("consumer", func(context.Context) error { <-jobs.ShutdownContext().Done(); return nil }))
		wantAliveForAMinute(t, jobs)
	})
}

// wantAliveForAMinute runs a plan of ex, which makes no progress.
func wantAliveForAMinute(t *testing.T, ex Executor) {
	t.Helper()
	h := &Health{StuckAfter: time.Second}
	tr := launch(t, t.Context(), Plan{Health: h, Steps: []Step{{Name: "idle", Executor: ex}}})
	wantProbe(t, h.Liveness(), 200, "alive")
	coretest.Pass(time.Minute)
	wantProbe(t, h.Liveness(), 200, "alive")
	tr.signals <- os.Interrupt
	tr.wantCode(0)
}

// onlyExecutor hides the other methods of an executor.
type onlyExecutor struct{ Executor }

// TestLivenessOfAnotherExecutor: an executor without Stats is stuck if no task has ended, the running one included.
func TestLivenessOfAnotherExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, gate := &Health{StuckAfter: time.Second}, make(chan struct{})
		pool, err := core.NewPool(2)
		coretest.Must(t, err)
		tr := launch(t, t.Context(), Plan{Health: h, Steps: []Step{{Name: "other", Executor: onlyExecutor{pool}}}})
		coretest.Must(t, pool.Execute(held(gate)))
		wantProbe(t, h.Liveness(), 200, "alive")
		coretest.Pass(time.Second)
		wantProbe(t, h.Liveness(), 503, "stuck: other")
		close(gate)
		tr.signals <- os.Interrupt
		tr.wantCode(0)
	})
}

// TestDefaultStuckAfter: without a StuckAfter an executor is stuck after 30 s.
func TestDefaultStuckAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Health{}
		ex, gate := coretest.NewExecutor(t), make(chan struct{})
		tr := launch(t, t.Context(), Plan{Health: h, Steps: []Step{{Name: "engine", Executor: ex}}})
		coretest.MustExecute(t, ex, held(gate))
		wantProbe(t, h.Liveness(), 200, "alive")
		time.Sleep(30*time.Second - 1)
		wantProbe(t, h.Liveness(), 200, "alive")
		time.Sleep(time.Nanosecond)
		wantProbe(t, h.Liveness(), 503, "stuck: engine")
		close(gate)
		tr.signals <- os.Interrupt
		tr.wantCode(0)
	})
}

// TestProbeWhileRunBegins: a probe may come while Run begins, and sees the executors of the plan from then on.
func TestProbeWhileRunBegins(t *testing.T) {
	h := &Health{StuckAfter: 1}
	ex, gate := coretest.NewExecutor(t), make(chan struct{})
	coretest.MustExecute(t, ex, held(gate))
	plan := Plan{Health: h, Steps: []Step{{Name: "engine", Executor: ex}},
		Start: func(context.Context) error { <-gate; return nil }}
	code := make(chan int, 1)
	go func() { code <- runWith(t.Context(), plan, noSignals).Code }()
	// Only the lock of h orders the begin of Run before the probe: the race detector sees if the begin does not hold it.
	coretest.Until(t, "a probe to name the executor", func() bool {
		answer, _ := probe(h.Liveness())
		return answer == http.StatusServiceUnavailable
	})
	close(gate)
	coretest.Want(t, "exit code", <-code, CodeClean)
}

// TestProbesAreTextThatNobodyStores: each answer of a probe is plain text, and no cache may store it.
func TestProbesAreTextThatNobodyStores(t *testing.T) {
	h := &Health{}
	h.set(exiting, errors.New("<b>stopped</b>"))
	for _, handler := range []http.Handler{h.Readiness(), h.Liveness()} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		header := w.Result().Header
		coretest.Want(t, "Content-Type", header.Get("Content-Type"), "text/plain; charset=utf-8")
		coretest.Want(t, "Cache-Control", header.Get("Cache-Control"), "no-store")
	}
}
