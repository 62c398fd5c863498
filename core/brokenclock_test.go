package core_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

var errClock = errors.New("time is out of joint")

// stopped is a clock that panics for good once it is broken.
type stopped struct {
	*manualClock
	broken atomic.Bool
}

func newStopped() *stopped {
	c := &stopped{manualClock: newManualClock()}
	c.onNow = func() {
		if c.broken.Load() {
			panic(errClock)
		}
	}
	return c
}

// wantClock checks that ex has ended with the panic of the clock.
func wantClock(t *testing.T, ex core.EventExecutor) {
	t.Helper()
	coretest.AwaitDone(t, ex)
	if err := ex.Termination().Err(); !errors.Is(err, errClock) {
		t.Errorf("G15: Err %v, want the clock's panic", err)
	}
	checkConserved(t, ex.Stats())
}

// A loop that has failed because its clock panics does not call the clock again: accepted
// work runs, and the executor ends. Another call would fail again, and so on in an endless
// recursion.
func TestG15AClockThatGoesOnPanicking(t *testing.T) {
	if !crashes(t) { // a stack without end is the end of the process
		return
	}
	debug.SetMaxStack(1 << 20)
	inBubble(t, func(t *testing.T) { // in the quiet period
		clock := newStopped()
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		coretest.MustExecute(t, ex, func() {})
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
		synctest.Wait()
		clock.broken.Store(true)
		ran := false
		if err := ex.Execute(func() { ran = true }); err != nil {
			t.Errorf("G5: Execute: %v", err)
		}
		wantClock(t, ex)
		if !ran {
			t.Error("G3: an accepted task did not run")
		}
	})
	inBubble(t, func(t *testing.T) { // with events in hand
		clock := newStopped()
		m := pollertest.NewModel(nil)
		l := loopOn(t, m, core.WithClock(clock))
		d := m.Open()
		mustRegister(t, l, d.FD(), core.Readable, func(core.Readiness) { _ = d.Drain() })
		synctest.Wait()
		clock.broken.Store(true)
		coretest.Must(t, d.Input())
		wantClock(t, l)
	})
	inBubble(t, func(t *testing.T) { // with timers
		clock := newStopped()
		ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		timer := mustSchedule(t, ex, time.Hour, func() {})
		coretest.MustShutdownGracefully(t, ex, time.Second, 2*time.Hour)
		synctest.Wait()
		clock.broken.Store(true)
		coretest.MustExecute(t, ex, func() {})
		wantClock(t, ex)
		if err := timer.Err(); err != core.ErrCancelled {
			t.Errorf("G9: the timer ended with %v, want ErrCancelled", err)
		}
	})
}

// The alarm of a timeout goes off on a goroutine of its own: a clock that panics there
// would end the process, and the deadline would not hold.
func TestG11TheDeadlineNeedsNoClock(t *testing.T) {
	if !crashes(t) {
		return
	}
	inBubble(t, func(t *testing.T) {
		clock := newStopped()
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		release := occupy(t, ex)
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		clock.broken.Store(true)
		clock.advance(time.Hour)
		coretest.Await(t, "the close", ex.Context().Done())
		if cause := context.Cause(ex.Context()); cause != core.ErrShutdownTimeout {
			t.Errorf("G11: closed for %v, want ErrShutdownTimeout", cause)
		}
		if report := ex.Termination().Report(); !report.TimedOut {
			t.Errorf("G11: the report so far is %+v, want TimedOut", report)
		}
		release()
		if report := coretest.AwaitDone(t, ex); !report.TimedOut || report.Elapsed < 0 {
			t.Errorf("G11: report %+v, want TimedOut", report)
		}
	})
}

// Shutdown has no quiet period to measure. A graceful call has: its caller gets the panic,
// and nothing has changed.
func TestG15ShutdownNeedsNoClock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		clock := newStopped()
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		coretest.MustExecute(t, ex, func() {})
		synctest.Wait()
		clock.broken.Store(true)
		if v := panicked(func() { _, _ = ex.ShutdownGracefully(0, time.Hour) }); v != errClock {
			t.Errorf("ShutdownGracefully panicked with %v, want the clock's panic", v)
		}
		if s := ex.State(); s != core.StateStarted {
			t.Errorf("G15: state %v after a graceful call that panicked, want Started", s)
		}
		if v := panicked(func() { ex.Shutdown() }); v != nil {
			t.Errorf("G15: Shutdown panicked with %v", v)
		}
		coretest.AwaitDone(t, ex)
	})
}

// panicked returns the value with which call panics.
func panicked(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

// wild is the system's clock, whose alarms leave when they are to stop.
type wild struct {
	leave func()
	armed atomic.Bool
	onSet func() // before an alarm is set
}

func (c *wild) Now() time.Time { return time.Now() }

func (c *wild) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.onSet()
	return wildAlarm{time.AfterFunc(d, f), c}
}

type wildAlarm struct {
	*time.Timer
	clock *wild
}

func (a wildAlarm) Stop() bool {
	was := a.Timer.Stop()
	if a.clock.armed.Load() {
		a.clock.leave()
	}
	return was
}

// The alarm of the timeout is stopped when the loop has ended: only Termination.Err can then
// report a panic.
func TestG15AnAlarmThatDoesNotStop(t *testing.T) {
	if !crashes(t) {
		return
	}
	for _, c := range []struct {
		name  string
		leave func()
		want  error
	}{{"panic", func() { panic(errClock) }, errClock}, {"Goexit", runtime.Goexit, core.ErrGoexit}} {
		inBubble(t, func(t *testing.T) {
			clock := &wild{leave: c.leave, onSet: func() {}}
			ex := coretest.NewExecutor(t, core.WithClock(clock))
			coretest.MustExecute(t, ex, func() {})
			synctest.Wait()
			clock.armed.Store(true)
			coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
			coretest.AwaitDone(t, ex)
			if err := ex.Termination().Err(); !errors.Is(err, c.want) {
				t.Errorf("G15: %s: Err %v, want %v", c.name, err, c.want)
			}
		})
		inBubble(t, func(t *testing.T) { // that of a call that comes second: nothing depends on it
			clock := &wild{leave: c.leave}
			ex := coretest.NewExecutor(t, core.WithClock(clock))
			release := occupy(t, ex)
			clock.onSet = func() {
				clock.onSet = func() {}
				coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
				clock.armed.Store(true)
			}
			over := make(chan any, 1)
			go func() {
				defer func() { over <- recover() }()
				coretest.MustShutdownGracefully(t, ex, 0, time.Minute)
			}()
			if v := <-over; v != nil {
				t.Errorf("G15: %s: ShutdownGracefully panicked with %v", c.name, v)
			}
			clock.armed.Store(false)
			release()
			if report := coretest.AwaitDone(t, ex); report.Timeout != time.Hour {
				t.Errorf("G16: %s: timeout %v, want that of the first call, 1h", c.name, report.Timeout)
			}
		})
	}
}

// A clock that panics when the end of a timer's run is counted ends the executor. The
// timer ends too, though it is in no queue at that moment.
func TestG9ATimerWhoseClockPanicsEnds(t *testing.T) {
	for name, c := range map[string]struct {
		schedule func(ex *core.Executor, body func()) (*core.Timer, error)
		want     error
	}{
		"fixed delay": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(0, time.Hour, body)
		}, core.ErrCancelled},
		"fixed delay, exits": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(0, time.Hour, func() { body(); goexit() })
		}, core.ErrGoexit},
		"one shot, in a shutdown": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.Schedule(0, func() { _, _ = ex.ShutdownGracefully(time.Second, time.Hour); body() })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newManualClock()
			ex := coretest.NewExecutor(t, core.WithClock(clock))
			gate := make(chan struct{})
			coretest.MustExecute(t, ex, func() { <-gate })
			timer, err := c.schedule(ex, func() {
				clock.onNow = func() { clock.onNow = func() {}; panic(errClock) } // once
			})
			coretest.Must(t, err)
			close(gate)
			coretest.AwaitDone(t, ex)
			if err := ex.Termination().Err(); !errors.Is(err, errClock) {
				t.Errorf("G15: Err %v, want the clock's panic", err)
			}
			select {
			case <-timer.Done():
				if err := timer.Err(); err != c.want {
					t.Errorf("G9: the timer ended with %v, want %v", err, c.want)
				}
			default:
				t.Errorf("G9: the timer has not ended when Done is closed")
			}
			if s := ex.Stats(); s.Timers != 0 || s.TimersRun != 1 {
				t.Errorf("G20: %d timers left, %d runs; want 0, 1", s.Timers, s.TimersRun)
			}
			checkConserved(t, ex.Stats())
		})
	}
}

// patient is a handler that takes an hour for the message of a timeout, and counts it then.
type patient struct{ logged *atomic.Int64 }

func (h patient) Enabled(context.Context, slog.Level) bool { return true }
func (h patient) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h patient) WithGroup(string) slog.Handler            { return h }

func (h patient) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "timeout") {
		time.Sleep(time.Hour)
		h.logged.Add(1)
	}
	return nil
}

// The timeout is logged before Done, even if the alarm that has fired could not be stopped: a
// process that ends at Done would lose the line.
func TestG24TheTimeoutIsLoggedBeforeDone(t *testing.T) {
	if !crashes(t) {
		return
	}
	for name, open := range map[string]func(t testing.TB, opts ...core.Option) core.EventExecutor{
		"executor": func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewExecutor(t, opts...) },
		"pool":     func(t testing.TB, opts ...core.Option) core.EventExecutor { return coretest.NewPool(t, 2, opts...) },
	} {
		inBubble(t, func(t *testing.T) {
			clock := &wild{leave: func() { panic(errClock) }, onSet: func() {}}
			logged := new(atomic.Int64)
			ex := open(t, core.WithClock(clock), core.WithLogger(slog.New(patient{logged})))
			coretest.MustExecute(t, ex, func() { <-ex.Context().Done() })
			coretest.MustShutdownGracefully(t, ex, 0, time.Minute)
			clock.armed.Store(true)
			coretest.AwaitDoneWithin(t, ex, 24*time.Hour)
			if n := logged.Load(); n != 1 {
				t.Errorf("G24: %s: %d timeouts were logged before Done, want 1", name, n)
			}
		})
	}
}
