package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A nil option is ignored, and an option with a nil argument sets the default, even after
// another value.
func TestNilOptionsAreDefaults(t *testing.T) {
	out := coretest.DefaultLog(t)
	unexpected := func(what string) { t.Errorf("%s is in use after nil", what) }
	mine := []core.Option{
		core.WithLogger(slog.New(slog.DiscardHandler)),
		core.WithPanicHandler(func(*core.PanicError) { unexpected("the panic handler") }),
		core.WithSpawner(func(func()) error { unexpected("the spawner"); return errors.New("mine") }),
		core.WithGoroutineStart(func(string) { unexpected("the function of WithGoroutineStart") }),
		core.WithTracer(tracerFunc(func(core.Event) { unexpected("the tracer") })),
		core.WithClock(shownClock{show: func(now time.Time) time.Time { unexpected("the clock"); return now }}),
		core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
			unexpected("the rejected-handler")
			return 0, false
		}),
	}
	nils := []core.Option{
		nil, core.WithLogger(nil), core.WithPanicHandler(nil), core.WithSpawner(nil), core.WithGoroutineStart(nil), core.WithTracer(nil),
		core.WithClock(nil), core.WithRejectedHandler(nil), core.WithPoller(nil), core.WithMaxPendingTasks(1), core.WithTimerJitter(1, nil),
	}
	opts := append(mine, nils...)
	for name, construct := range map[string]func() (core.EventExecutor, error){
		"NewExecutor":      func() (core.EventExecutor, error) { return core.NewExecutor(opts...) },
		"NewExecutorGroup": func() (core.EventExecutor, error) { return core.NewExecutorGroup(1, opts...) },
		"NewPool":          func() (core.EventExecutor, error) { return core.NewPool(1, opts...) },
	} {
		ex, err := construct()
		if err != nil {
			t.Errorf("%s: %v, want no error", name, err)
			continue
		}
		held, release := make(chan struct{}), make(chan struct{})
		coretest.MustExecute(t, ex, func() { close(held); <-release; panic("boom of " + name) })
		<-held
		for range 16 {
			coretest.MustExecute(t, ex, func() {})
		}
		if err := ex.Execute(func() {}); !errors.Is(err, core.ErrQueueFull) {
			t.Errorf("%s: a full queue answers %v, want ErrQueueFull", name, err)
		}
		_, err = ex.Schedule(0, func() {})
		coretest.Must(t, err)
		close(release)
		coretest.Must(t, ex.Close())
		if !strings.Contains(out.String(), "boom of "+name) {
			t.Errorf("%s: slog.Default got %q, want the panic", name, out.String())
		}
	}
}

// tracerFunc is a tracer that is a function.
type tracerFunc func(core.Event)

func (f tracerFunc) Trace(ev core.Event) { f(ev) }

// BackOff has a meaning for every number.
func TestBackOffOfNothing(t *testing.T) {
	full := &core.RejectedError{Reason: core.ErrQueueFull}
	for _, tt := range []struct {
		retries, attempt int
		pause            time.Duration
		want             bool
	}{{0, 1, time.Second, false}, {-1, 1, time.Second, false}, {2, 2, 0, true}, {2, 3, 0, false}, {1, 1, -1, true}} {
		if pause, retry := core.BackOff(tt.retries, tt.pause)(tt.attempt, full); retry != tt.want || pause != tt.pause {
			t.Errorf("BackOff(%d, %v) at attempt %d: got %v, %v, want %v, %v", tt.retries, tt.pause, tt.attempt, pause, retry, tt.pause, tt.want)
		}
	}
}

// badCall is a call with a bad argument; on a group, if it has the method.
type badCall struct {
	name string
	call func(ex core.EventExecutor) error
	want string
}

func badCalls() []badCall {
	var noCtx context.Context
	f := func() (int, error) { return 0, nil }
	tail := func(ex core.EventExecutor, task func()) error { return childOf(ex).ExecuteAfterIteration(task) }
	timer := func(_ *core.Timer, err error) error { return err }
	term := func(_ *core.Termination, err error) error { return err }
	return []badCall{
		{"Execute", func(ex core.EventExecutor) error { return ex.Execute(nil) },
			"core: Execute: task is nil, want a function"},
		{"ExecuteLazy", func(ex core.EventExecutor) error { return ex.ExecuteLazy(nil) },
			"core: ExecuteLazy: task is nil, want a function"},
		{"TryExecute", func(ex core.EventExecutor) error { return ex.(interface{ TryExecute(func()) error }).TryExecute(nil) },
			"core: TryExecute: task is nil, want a function"},
		{"ExecuteAfterIteration", func(ex core.EventExecutor) error { return tail(ex, nil) },
			"core: ExecuteAfterIteration: task is nil, want a function"},
		{"AddShutdownHook", func(ex core.EventExecutor) error {
			_, err := ex.(interface {
				AddShutdownHook(func()) (func() bool, error)
			}).AddShutdownHook(nil)
			return err
		},
			"core: AddShutdownHook: hook is nil, want a function"},
		{"Schedule", func(ex core.EventExecutor) error { return timer(ex.Schedule(1, nil)) },
			"core: Schedule: task is nil, want a function"},
		{"fixed rate, nil", func(ex core.EventExecutor) error { return timer(ex.ScheduleAtFixedRate(1, 1, nil)) },
			"core: ScheduleAtFixedRate: task is nil, want a function"},
		{"fixed rate, initial", func(ex core.EventExecutor) error { return timer(ex.ScheduleAtFixedRate(-1, 1, func() {})) },
			"core: ScheduleAtFixedRate: initial is -1ns, want 0 or more"},
		{"fixed rate, period", func(ex core.EventExecutor) error { return timer(ex.ScheduleAtFixedRate(0, 0, func() {})) },
			"core: ScheduleAtFixedRate: period is 0s, want more than 0"},
		{"fixed delay, nil", func(ex core.EventExecutor) error { return timer(ex.ScheduleWithFixedDelay(1, 1, nil)) },
			"core: ScheduleWithFixedDelay: task is nil, want a function"},
		{"fixed delay, initial", func(ex core.EventExecutor) error {
			return timer(ex.ScheduleWithFixedDelay(math.MinInt64, 1, func() {}))
		}, "core: ScheduleWithFixedDelay: initial is -2562047h47m16.854775808s, want 0 or more"},
		{"fixed delay, delay", func(ex core.EventExecutor) error {
			return timer(ex.ScheduleWithFixedDelay(0, -time.Second, func() {}))
		}, "core: ScheduleWithFixedDelay: delay is -1s, want more than 0"},
		{"quiet", func(ex core.EventExecutor) error { return term(ex.ShutdownGracefully(-1, 0)) },
			"core: ShutdownGracefully: quiet is -1ns, want 0 or more"},
		{"timeout", func(ex core.EventExecutor) error { return term(ex.ShutdownGracefully(0, -1)) },
			"core: ShutdownGracefully: timeout is -1ns, want at least quiet, which is 0s"},
		{"timeout < quiet", func(ex core.EventExecutor) error { return term(ex.ShutdownGracefully(2*time.Second, time.Second)) },
			"core: ShutdownGracefully: timeout is 1s, want at least quiet, which is 2s"},
		{"AwaitTermination", func(ex core.EventExecutor) error { return ex.AwaitTermination(noCtx) },
			"core: Wait: ctx is nil, want a context"},
		{"Termination.Wait", func(ex core.EventExecutor) error { _, err := ex.Termination().Wait(noCtx); return err },
			"core: Wait: ctx is nil, want a context"},
		{"Future.Wait", func(core.EventExecutor) error {
			_, err := core.NewPromise[int](nil).Future().Wait(noCtx)
			return err
		}, "core: Wait: ctx is nil, want a context"},
		{"Submit", func(ex core.EventExecutor) error { _, err := core.Submit[int](ex, nil).Wait(neverEnds); return err },
			"core: Submit: f is nil, want a function"},
		{"Submit, no executor", func(core.EventExecutor) error { _, err := core.Submit(nil, f).Wait(neverEnds); return err },
			"core: Submit: ex is nil, want an executor"},
		{"InvokeAll, ctx", func(ex core.EventExecutor) error { _, err := core.InvokeAll(noCtx, ex, f); return err },
			"core: InvokeAll: ctx is nil, want a context"},
		{"InvokeAll, ex", func(core.EventExecutor) error { _, err := core.InvokeAll(neverEnds, nil, f); return err },
			"core: InvokeAll: ex is nil, want an executor"},
		{"InvokeAll, f", func(ex core.EventExecutor) error { _, err := core.InvokeAll(neverEnds, ex, f, nil); return err },
			"core: InvokeAll: function 1 of 2 is nil, want a function"},
		{"InvokeAny, ctx", func(ex core.EventExecutor) error { _, err := core.InvokeAny(noCtx, ex, f); return err },
			"core: InvokeAny: ctx is nil, want a context"},
		{"InvokeAny, ex", func(core.EventExecutor) error { _, err := core.InvokeAny(neverEnds, nil, f); return err },
			"core: InvokeAny: ex is nil, want an executor"},
		{"InvokeAny, f", func(ex core.EventExecutor) error { _, err := core.InvokeAny(neverEnds, ex, nil, f); return err },
			"core: InvokeAny: function 0 of 2 is nil, want a function"},
		{"InvokeAny, none", func(ex core.EventExecutor) error { _, err := core.InvokeAny[int](neverEnds, ex); return err },
			"core: InvokeAny: got 0 functions, want at least 1"},
	}
}

// A refused call changes nothing, in any state: the statistics are the same, and
// an executor that was not started is not started.
func TestBadCallsChangeNothing(t *testing.T) {
	states := map[core.State]func(ex *core.Executor){
		core.StateNotStarted: func(*core.Executor) {},
		core.StateStarted:    func(ex *core.Executor) { occupy(t, ex) },
		core.StateShuttingDown: func(ex *core.Executor) {
			occupy(t, ex)
			coretest.MustShutdownGracefully(t, ex, time.Hour, 2*time.Hour)
		},
		core.StateShutdown:   func(ex *core.Executor) { occupy(t, ex); ex.Shutdown() },
		core.StateTerminated: func(ex *core.Executor) { ex.Shutdown(); coretest.AwaitDone(t, ex) },
	}
	for state, prepare := range states {
		ex := coretest.NewExecutor(t)
		prepare(ex)
		coretest.Want(t, "the state of the executor", ex.State(), state)
		badCallsChangeNothing(t, ex)
	}
}

func TestBadCallsOnAGroupChangeNothing(t *testing.T) {
	g := coretest.NewExecutorGroup(t, 2)
	badCallsChangeNothing(t, g, "TryExecute", "ExecuteAfterIteration", "AddShutdownHook") // a group does not have them
}

func TestBadCallsOnAPoolChangeNothing(t *testing.T) {
	states := map[core.State]func(p *core.Pool){
		core.StateNotStarted:   func(*core.Pool) {},
		core.StateStarted:      func(p *core.Pool) { occupy(t, p) },
		core.StateShuttingDown: func(p *core.Pool) { occupy(t, p); coretest.MustShutdownGracefully(t, p, time.Hour, 2*time.Hour) },
		core.StateShutdown:     func(p *core.Pool) { occupy(t, p); p.Shutdown() },
		core.StateTerminated:   func(p *core.Pool) { p.Shutdown(); coretest.AwaitDone(t, p) },
	}
	for state, prepare := range states {
		p := coretest.NewPool(t, 1) // its worker is occupied, so that nothing else changes the statistics
		prepare(p)
		coretest.Want(t, "the state of the pool", p.State(), state)
		badCallsChangeNothing(t, p, "ExecuteAfterIteration") // a pool has no iterations
	}
}

// badCallsChangeNothing makes each bad call of ex but those that ex does not have.
func badCallsChangeNothing(t *testing.T, ex interface {
	core.EventExecutor
	Stats() core.Stats
}, missing ...string) {
	t.Helper()
	before := ex.Stats()
	for _, tt := range badCalls() {
		if slices.Contains(missing, tt.name) {
			continue
		}
		err := tt.call(ex)
		if fmt.Sprint(err) != tt.want || errors.Is(err, core.ErrRejected) {
			t.Errorf("%v, %s: got %q, want %q, not ErrRejected", before.State, tt.name, err, tt.want)
		}
		if after := ex.Stats(); after != before {
			t.Errorf("%v, %s: stats were %+v and are %+v, want no change", before.State, tt.name, before, after)
		}
	}
}

// A nil listener is ignored: there is no result that could report it.
func TestNilListenersAreIgnored(t *testing.T) {
	ex := coretest.NewExecutor(t)
	ex.Termination().OnDone(nil)
	promise, behind := core.NewPromise[int](ex), 0
	promise.Future().OnDone(nil)
	promise.Future().OnDone(func(int, error) { behind++ })
	promise.TrySuccess(1)
	coretest.Want(t, "calls of the listener behind the nil one", behind, 1)
	if s := ex.State(); s != core.StateNotStarted {
		t.Errorf("state %v, want NotStarted", s)
	}
	heard := make(chan struct{})
	ex.Termination().OnDone(func(core.Report, error) { close(heard) })
	ex.Shutdown()
	coretest.Await(t, "a listener behind the nil one", heard)
	coretest.Want(t, "panics of listeners", ex.Stats().Panicked, 0)
}

func TestNamesOfValuesOutOfRange(t *testing.T) {
	for got, want := range map[string]string{
		core.State(-1).String():       "State(-1)",
		core.State(9).String():        "State(9)",
		core.StateShutdown.String():   "Shutdown",
		core.EventKind(200).String():  "?",
		core.EventPark.String():       "Park",
		core.Op(200).String():         "Op(200)",
		core.OpShutdown.String():      "shutdown",
		core.Body(200).String():       "Body(200)",
		core.BodyTail.String():        "tail",
		core.Outcome(200).String():    "Outcome(200)",
		core.OutcomeSkipped.String():  "skipped",
		core.OpCancelTimer.String():   "cancel",
		core.BodyListener.String():    "listener",
		core.EventDone.String():       "Done",
		core.OutcomeExited.String():   "exited",
		core.StateNotStarted.String(): "NotStarted",
	} {
		if got != want {
			t.Errorf("String: got %q, want %q", got, want)
		}
	}
}
