package core_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"eventide/core"
)

// manualClock stands still until the test moves it.
type manualClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms []*manualAlarm
	onNow  func() // called by Now and AfterFunc, without the clock's lock
}

type manualAlarm struct {
	clock *manualClock
	at    time.Time
	f     func()
	armed bool
}

func newManualClock() *manualClock {
	return &manualClock{now: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), onNow: func() {}}
}

func (c *manualClock) Now() time.Time {
	c.onNow()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.onNow()
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &manualAlarm{clock: c, at: c.now.Add(d), f: f, armed: true}
	c.alarms = append(c.alarms, a)
	return a
}

func (a *manualAlarm) Stop() bool {
	a.clock.onNow()
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	was := a.armed
	a.armed = false
	return was
}

func (a *manualAlarm) Reset(d time.Duration) bool {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	was := a.armed
	a.at, a.armed = a.clock.now.Add(d), true
	return was
}

// advance moves the clock, and calls what is due, each on its own goroutine.
func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for _, a := range c.alarms {
		if a.armed && !a.at.After(c.now) {
			a.armed = false
			go a.f()
		}
	}
}

// awaitAlarm waits until an alarm is pending that goes off by the instant. To advance
// between the moment at which the loop computes how long to sleep and that at which it sets
// the alarm would make it late.
func (c *manualClock) awaitAlarm(at time.Time) {
	pending := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.ContainsFunc(c.alarms, func(a *manualAlarm) bool { return a.armed && !a.at.After(at) })
	}
	for !pending() {
		runtime.Gosched()
	}
}

// armed returns how many alarms are pending.
func (c *manualClock) armed() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.alarms {
		if a.armed {
			n++
		}
	}
	return n
}

func TestClockIsTheOnlySourceOfTime(t *testing.T) {
	clock := newManualClock()
	start := clock.now
	ex := newExecutor(t, core.WithClock(clock))
	timer := mustSchedule(t, ex, time.Hour, func() {})
	if got, want := timer.Deadline(), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("Deadline: got %v, want %v", got, want)
	}
	clock.awaitAlarm(start.Add(time.Hour))
	clock.advance(time.Hour - 1)
	onLoop(t, ex, func() {})
	onLoop(t, ex, func() {}) // a turn and its timers lie between the two
	select {
	case <-timer.Done():
		t.Error("G7: the timer ran early")
	default:
	}
	clock.advance(1)
	await(t, "the timer", timer.Done())

	mustShutdownGracefully(t, ex, time.Minute, time.Hour)
	clock.advance(time.Minute - 1)
	parks := int64(0)
	onLoop(t, ex, func() { parks = ex.Stats().Parks }) // before the end, by the clock: accepted
	for ex.Stats().Parks == parks {                    // the end of the task has been noted
		runtime.Gosched()
	}
	clock.awaitAlarm(start.Add(time.Hour + 2*time.Minute - 1))
	clock.advance(time.Minute)
	if report := awaitDone(t, ex); report.TimedOut || report.Elapsed != 2*time.Minute-1 {
		t.Errorf("G10: report %+v, want the end of the quiet period on the clock", report)
	}
	if n := clock.armed(); n != 0 {
		t.Errorf("G24: %d alarms are pending after done, want 0", n)
	}
}

func TestG11TheDeadlineIsOnTheClock(t *testing.T) {
	clock := newManualClock()
	ex := newExecutor(t, core.WithClock(clock))
	release := occupy(t, ex)
	mustShutdownGracefully(t, ex, time.Minute, time.Hour)
	clock.advance(time.Hour - 1)
	mustExecute(t, ex, func() {})
	clock.advance(1)
	await(t, "the close", ex.Context().Done())
	release()
	if report := awaitDone(t, ex); !report.TimedOut || report.Elapsed != time.Hour {
		t.Errorf("G11: timed out %v after %v, want true, 1h", report.TimedOut, report.Elapsed)
	}
}

// The executor never calls a Clock while it holds a lock: one that asks the
// executor something would not come back.
func TestClockIsCalledWithoutLocks(t *testing.T) {
	clock := newManualClock()
	ex := newExecutor(t, core.WithClock(clock), core.WithMaxPendingTasks(16),
		core.WithRejectedHandler(core.BackOff(1, time.Second)), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
	clock.mu.Lock()
	clock.onNow = func() { _, _ = ex.Stats(), ex.State() }
	clock.mu.Unlock()
	for _, schedule := range []func(time.Duration, time.Duration, func()) (*core.Timer, error){ex.ScheduleAtFixedRate, ex.ScheduleWithFixedDelay} {
		if _, err := schedule(0, time.Hour, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	onLoop(t, ex, func() {})
	mustShutdownGracefully(t, ex, time.Second, time.Minute)
	onLoop(t, ex, func() {})
	clock.advance(time.Minute)
	_ = ex.Termination().Report()
	awaitDone(t, ex)
}

// A clock that panics on the loop is the loop's failure: it ends the executor
// with that error.
func TestG15AClockThatPanicsEndsTheExecutor(t *testing.T) {
	if !crashes(t) {
		return
	}
	errClock := errors.New("time is out of joint")
	clock := newManualClock()
	ex := newExecutor(t, core.WithClock(clock))
	ran := false
	mustExecute(t, ex, func() {
		_, _ = ex.Schedule(0, func() {})
		clock.onNow = func() { panic(errClock) }
	})
	if err := ex.Execute(func() { ran = true }); err != nil {
		ran = true // refused: the loop was faster
	}
	awaitDone(t, ex)
	if err := ex.Termination().Err(); !errors.Is(err, errClock) || !ran {
		t.Errorf("G15: Err %v, ran %v; want the clock's panic, true", err, ran)
	}
}
