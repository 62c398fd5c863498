package core_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// logged returns the text that f, in virtual time, makes slog.Default write at Warn or above.
func logged(t *testing.T, f func(t *testing.T)) string {
	t.Helper()
	var out coretest.Log
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
	defer slog.SetDefault(was)
	inBubble(t, func(t *testing.T) {
		f(t)
		synctest.Wait()
	})
	return out.String()
}

// Without a logger a failure that no call returns is logged to slog.Default, at Warn or Error.
func TestFailuresAreAudibleByDefault(t *testing.T) {
	errBroken := errors.New("broken")
	for name, tt := range map[string]struct {
		run  func(t *testing.T, opts ...core.Option)
		want []string
	}{
		"panic": {func(t *testing.T, opts ...core.Option) {
			coretest.MustExecute(t, coretest.NewExecutor(t, opts...), func() { panic("boom") })
		}, []string{"level=ERROR", "panic in a body", "boom"}},
		"panic in the panic handler": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, append(opts, core.WithPanicHandler(func(*core.PanicError) { panic("again") }))...)
			coretest.MustExecute(t, ex, func() { panic("boom") })
		}, []string{"level=ERROR", "panic in the panic handler", "again"}},
		"panic in a hook": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, opts...)
			_, err := ex.AddShutdownHook(func() { panic("hook") })
			coretest.Must(t, err)
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
		}, []string{"level=ERROR", "panic in a body", "hook"}},
		"panic in a hook of a pool": {func(t *testing.T, opts ...core.Option) {
			pool, err := core.NewPool(2, opts...)
			coretest.Must(t, err)
			_, err = pool.AddShutdownHook(func() { panic("hook") })
			coretest.Must(t, err)
			pool.Shutdown()
			coretest.AwaitDone(t, pool)
		}, []string{"level=ERROR", "panic in a body", "hook"}},
		"panic in a timer": {func(t *testing.T, opts ...core.Option) {
			_, err := coretest.NewExecutor(t, opts...).Schedule(time.Second, func() { panic("timer") })
			coretest.Must(t, err)
			time.Sleep(2 * time.Second)
		}, []string{"level=ERROR", "panic in a body", "timer"}},
		"panic in a submitted function": {func(t *testing.T, opts ...core.Option) {
			core.Submit(coretest.NewExecutor(t, opts...), func() (int, error) { panic("nobody waits") })
		}, []string{"level=ERROR", "panic in a body", "nobody waits"}},
		"panic in a listener": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, opts...)
			core.Submit(ex, func() (int, error) { return 0, nil }).OnDone(func(int, error) { panic("listener") })
		}, []string{"level=ERROR", "panic in a body", "listener"}},
		"panic in the tracer": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, append(opts, core.WithTracer(panickingTracer{}))...)
			coretest.MustExecute(t, ex, func() {})
		}, []string{"level=ERROR", "panic in the tracer"}},
		"panic in the function of WithGoroutineStart": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, append(opts, core.WithGoroutineStart(func(string) { panic("start") }))...)
			coretest.MustExecute(t, ex, func() {})
		}, []string{"level=ERROR", "panic in the function of WithGoroutineStart", "start"}},
		"timeout of a pool with a body that runs": {func(t *testing.T, opts ...core.Option) {
			pool, err := core.NewPool(2, opts...)
			coretest.Must(t, err)
			release := make(chan struct{})
			coretest.MustExecute(t, pool, func() { <-release })
			coretest.MustShutdownGracefully(t, pool, 0, time.Second)
			time.Sleep(2 * time.Second)
			close(release)
			coretest.AwaitDone(t, pool)
		}, []string{"level=WARN", "timeout of the graceful shutdown passed"}},
		"loop failure": {func(t *testing.T, opts ...core.Option) {
			f := &faulty{Poller: core.NewParkPoller(nil), wait: func() error { return errBroken }}
			ex := coretest.NewExecutor(t, append(opts, core.WithPoller(f))...)
			f.broken.Store(true)
			_ = ex.Execute(func() {})
			coretest.AwaitDone(t, ex)
		}, []string{"level=ERROR", "the loop failed", "broken"}},
		"poller that was rebuilt": {func(t *testing.T, opts ...core.Option) {
			m := pollertest.NewModel(nil)
			l := loopOn(t, m, opts...)
			coretest.OnLoop(t, l, func() {})
			synctest.Wait()
			m.Fail(pollertest.Wait, errBroken)
			coretest.OnLoop(t, l, func() {})
			synctest.Wait()
			coretest.Want(t, "rebuilds", l.Stats().Rebuilds, 1)
		}, []string{"level=WARN", "the poller was rebuilt", "broken"}},
		"close of the poller": {func(t *testing.T, opts ...core.Option) {
			f := &faulty{Poller: core.NewParkPoller(nil), close: func() error { return errBroken }}
			ex := coretest.NewExecutor(t, append(opts, core.WithPoller(f))...)
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
		}, []string{"level=ERROR", "did not end in order", "broken"}},
		"alarm of a worker that does not stop": {func(t *testing.T, opts ...core.Option) {
			clock := &wild{leave: func() { panic(errClock) }, onSet: func() {}}
			pool, err := core.NewPool(1, append(opts, core.WithClock(clock))...)
			coretest.Must(t, err)
			mustSchedule(t, pool, time.Hour, func() {})
			synctest.Wait() // the worker has set its alarm
			clock.armed.Store(true)
			pool.Shutdown()
			coretest.AwaitDone(t, pool)
		}, []string{"level=ERROR", "did not end in order", "out of joint"}},
		"start refused in a shutdown": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, append(opts, core.WithSpawner(func(func()) error { return errBroken }))...)
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
		}, []string{"level=ERROR", "could not be started", "broken"}},
		"timeout with a body that runs": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, opts...)
			release := occupy(t, ex)
			coretest.MustExecute(t, ex, func() {})
			coretest.MustShutdownGracefully(t, ex, 0, time.Second)
			time.Sleep(2 * time.Second)
			release()
			coretest.AwaitDone(t, ex)
		}, []string{"level=WARN", "timeout of the graceful shutdown passed", "a task was running", "pending=2"}},
		"timeout with a channel that is open": {func(t *testing.T, opts ...core.Option) {
			m := pollertest.NewModel(nil)
			l := loopOn(t, m, opts...)
			ch := &fakeChannel{}
			reg := mustRegisterChannel(t, l, m.Open().FD(), ch)
			coretest.MustShutdownGracefully(t, l, 0, time.Second)
			time.Sleep(2 * time.Second)
			reg.End(core.ChannelEnd{Kind: core.EndAborted})
			coretest.AwaitDone(t, l)
		}, []string{"level=WARN", "timeout of the graceful shutdown passed", "channels=1"}},
		"zero timeout with tasks": {func(t *testing.T, opts ...core.Option) {
			ex := coretest.NewExecutor(t, opts...)
			release := occupy(t, ex)
			coretest.MustShutdownGracefully(t, ex, 0, 0)
			release()
			coretest.AwaitDone(t, ex)
		}, []string{"level=WARN", "timeout of the graceful shutdown passed", "pending=1"}},
		"panic of a listener without an executor": {func(t *testing.T, _ ...core.Option) {
			term, end, err := core.NewTermination(func() error { return nil }, func() core.Report { return core.Report{} })
			coretest.Must(t, err)
			term.OnDone(func(core.Report, error) { panic("boom") })
			end(core.Report{}, nil)
		}, []string{"level=ERROR", "panic in a listener", "boom"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := logged(t, func(t *testing.T) { tt.run(t) })
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("G14, G15: slog.Default got %q, want %q in it", got, want)
				}
			}
			if name == "panic of a listener without an executor" {
				return // there is nobody to ask for silence
			}
			if got := logged(t, func(t *testing.T) { tt.run(t, core.WithLogger(slog.New(slog.DiscardHandler))) }); got != "" {
				t.Errorf("with a logger that discards, slog.Default got %q, want nothing", got)
			}
		})
	}
}

// An executor that ends in order logs nothing, even if the timeout cuts the quiet period short
// with nothing pending.
func TestAnOrderlyEndIsSilentByDefault(t *testing.T) {
	got := logged(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		coretest.MustExecute(t, ex, func() {})
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
		ex = coretest.NewExecutor(t)
		mustSchedule(t, ex, time.Hour, func() {})
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Second)
		time.Sleep(time.Second / 2)
		coretest.MustExecute(t, ex, func() {})
		if report := coretest.AwaitDone(t, ex); !report.TimedOut {
			t.Errorf("not exercised: %+v, want TimedOut", report)
		}
	})
	if got != "" {
		t.Errorf("slog.Default got %q, want nothing", got)
	}
}

// leaver is a handler that calls Goexit.
type leaver struct{ slog.Handler }

func (leaver) Enabled(context.Context, slog.Level) bool  { return true }
func (leaver) Handle(context.Context, slog.Record) error { runtime.Goexit(); return nil }
func (l leaver) WithAttrs([]slog.Attr) slog.Handler      { return l }
func (l leaver) WithGroup(string) slog.Handler           { return l }

// A logger that ends the goroutine at the log message of the end does not prevent Done.
func TestG15ALoggerThatExitsAtTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &faulty{Poller: core.NewParkPoller(nil), close: func() error { return errors.New("broken") }}
		ex := coretest.NewExecutor(t, core.WithPoller(f), core.WithLogger(slog.New(leaver{})))
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		if ex.Termination().Err() == nil {
			t.Error("G15: Err is nil, want that of the poller")
		}
		refused := coretest.NewExecutor(t, core.WithSpawner(func(func()) error { return errors.New("no goroutine") }), core.WithLogger(slog.New(leaver{})))
		go refused.Shutdown()
		coretest.AwaitDone(t, refused)
	})
}
