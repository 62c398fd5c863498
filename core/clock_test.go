package core_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
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

// advance moves the clock, and calls the functions that are due, each on its own goroutine.
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
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	timer := mustSchedule(t, ex, time.Hour, func() {})
	if got, want := timer.Deadline(), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("Deadline: got %v, want %v", got, want)
	}
	clock.awaitAlarm(start.Add(time.Hour))
	clock.advance(time.Hour - 1)
	coretest.OnLoop(t, ex, func() {})
	coretest.OnLoop(t, ex, func() {}) // a turn and its timers lie between the two
	select {
	case <-timer.Done():
		t.Error("G7: the timer ran early")
	default:
	}
	clock.advance(1)
	coretest.Await(t, "the timer", timer.Done())

	coretest.MustShutdownGracefully(t, ex, time.Minute, time.Hour)
	clock.advance(time.Minute - 1)
	parks := int64(0)
	coretest.OnLoop(t, ex, func() { parks = ex.Stats().Parks }) // before the end, by the clock: accepted
	for ex.Stats().Parks == parks {                             // the end of the task has been noted
		runtime.Gosched()
	}
	clock.awaitAlarm(start.Add(time.Hour + 2*time.Minute - 1))
	clock.advance(time.Minute)
	if report := coretest.AwaitDone(t, ex); report.TimedOut || report.Elapsed != 2*time.Minute-1 {
		t.Errorf("G10: report %+v, want the end of the quiet period on the clock", report)
	}
	if n := clock.armed(); n != 0 {
		t.Errorf("G24: %d alarms are pending after done, want 0", n)
	}
}

func TestG11TheDeadlineIsOnTheClock(t *testing.T) {
	clock := newManualClock()
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	release := occupy(t, ex)
	coretest.MustShutdownGracefully(t, ex, time.Minute, time.Hour)
	clock.advance(time.Hour - 1)
	coretest.MustExecute(t, ex, func() {})
	clock.advance(1)
	coretest.Await(t, "the close", ex.Context().Done())
	release()
	if report := coretest.AwaitDone(t, ex); !report.TimedOut || report.Elapsed != time.Hour {
		t.Errorf("G11: timed out %v after %v, want true, 1h", report.TimedOut, report.Elapsed)
	}
}

// The executor never calls a Clock while it holds a lock: a clock that calls the executor
// would deadlock.
func TestClockIsCalledWithoutLocks(t *testing.T) {
	clock := newManualClock()
	ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithMaxPendingTasks(16),
		core.WithRejectedHandler(core.BackOff(1, time.Second)), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
	clock.mu.Lock()
	clock.onNow = func() { _, _ = ex.Stats(), ex.State() }
	clock.mu.Unlock()
	for _, schedule := range []func(time.Duration, time.Duration, func()) (*core.Timer, error){ex.ScheduleAtFixedRate, ex.ScheduleWithFixedDelay} {
		if _, err := schedule(0, time.Hour, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	coretest.OnLoop(t, ex, func() {})
	coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
	coretest.OnLoop(t, ex, func() {})
	clock.advance(time.Minute)
	_ = ex.Termination().Report()
	coretest.AwaitDone(t, ex)
}

// A clock that panics on the loop is the loop's failure: it ends the executor
// with that error.
func TestG15AClockThatPanicsEndsTheExecutor(t *testing.T) {
	if !crashes(t) {
		return
	}
	errClock := errors.New("time is out of joint")
	clock := newManualClock()
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	ran := false
	coretest.MustExecute(t, ex, func() {
		_, _ = ex.Schedule(0, func() {})
		clock.onNow = func() { panic(errClock) }
	})
	if err := ex.Execute(func() { ran = true }); err != nil {
		ran = true // refused: the loop was faster
	}
	coretest.AwaitDone(t, ex)
	if err := ex.Termination().Err(); !errors.Is(err, errClock) || !ran {
		t.Errorf("G15: Err %v, ran %v; want the clock's panic, true", err, ran)
	}
}

// askedPoller tells each deadline that the loop sleeps until.
type askedPoller struct {
	core.Poller
	asked chan core.Deadline
}

func (p askedPoller) Wait(until core.Deadline) error {
	p.asked <- until
	return p.Poller.Wait(until)
}

// A deadline that falls on the zero Time is a moment like others: the loop does not
// take it for "never", nor does it sleep past it.
func TestG12ADeadlineAtTheZeroTime(t *testing.T) {
	clock := newManualClock()
	clock.now = time.Time{}.Add(-5 * time.Second)
	p := askedPoller{core.NewParkPoller(clock), make(chan core.Deadline, 100)}
	ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithPoller(p))
	var timer *core.Timer
	coretest.OnLoop(t, ex, func() { // the first sleep after it has the timer
		for len(p.asked) > 0 {
			<-p.asked
		}
		timer = mustSchedule(t, ex, 5*time.Second, func() {})
	})
	if until := <-p.asked; until.IsZero() || until.After(time.Time{}) {
		t.Fatalf("G12: the loop sleeps until %v with a timer that is due at the zero Time; want a deadline that is not after it, and not zero, which is never", until)
	}
	clock.awaitAlarm(time.Time{})
	clock.advance(5 * time.Second)
	coretest.Await(t, "a timer that is due at the zero Time (G7, G12)", timer.Done())
}

// Nor if the clock stands at it, and more are due than a turn runs.
func TestG12AClockThatStandsAtTheZeroTime(t *testing.T) {
	clock := newManualClock()
	clock.now = time.Time{}
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	var last *core.Timer
	coretest.OnLoop(t, ex, func() {
		for range 200 {
			last, _ = ex.Schedule(0, func() {})
		}
	})
	coretest.Await(t, "200 timers that are due at the zero Time (G7, G12)", last.Done())
}

// The same for the drain deadline of a channel: the zero Time would mean none.
func TestG23ADrainDeadlineAtTheZeroTime(t *testing.T) {
	clock := newManualClock()
	clock.now = time.Time{}.Add(-5 * time.Second)
	m := pollertest.NewModel(clock)
	l := loopOn(t, m, core.WithClock(clock), core.WithDrain(core.DrainChannels))
	told := make(chan core.Deadline, 1)
	ch := &fakeChannel{drain: func(until core.Deadline) { told <- until }}
	reg := mustRegisterChannel(t, l, m.Open().FD(), ch)
	coretest.MustShutdownGracefully(t, l, 0, 5*time.Second)
	if until := <-told; until.IsZero() || until.After(time.Time{}) {
		t.Errorf("G23: Drain got the deadline %v, but the timeout passes at the zero Time; want a deadline no later than that", until)
	}
	reg.End(core.ChannelEnd{Kind: core.EndDrained})
}

// heldUpClock is the system's clock, and delays one caller between its reading and the use of
// it.
type heldUpClock struct{ hold atomic.Pointer[func()] }

func (c *heldUpClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

func (c *heldUpClock) Now() time.Time {
	now := time.Now()
	if hold := c.hold.Swap(nil); hold != nil {
		(*hold)()
	}
	return now
}

// If a caller is delayed after it has read the clock, the quiet period still begins no
// earlier than the end of a body that ended meanwhile.
func TestG10ACallerDelayedAfterReadingTheClock(t *testing.T) {
	for kind, give := range map[string]func(ex *core.Executor, body func()) error{
		"task":             func(ex *core.Executor, body func()) error { return ex.Execute(body) },
		"task that panics": func(ex *core.Executor, body func()) error { return ex.Execute(func() { body(); panic("boom") }) },
		"task that exits":  func(ex *core.Executor, body func()) error { return ex.Execute(func() { body(); goexit() }) },
		"tail task":        func(ex *core.Executor, body func()) error { return ex.ExecuteAfterIteration(body) },
		"timer":            func(ex *core.Executor, body func()) error { _, err := ex.Schedule(0, body); return err },
		"submitted function": func(ex *core.Executor, body func()) error {
			core.Submit(ex, func() (int, error) { body(); return 0, nil })
			return nil
		},
	} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				clock := &heldUpClock{}
				ex := coretest.NewExecutor(t, core.WithClock(clock))
				coretest.MustExecute(t, ex, func() {})
				synctest.Wait()
				var end time.Time
				hold := func() {
					coretest.Must(t, give(ex, func() { time.Sleep(900 * time.Millisecond); end = time.Now() }))
					time.Sleep(950 * time.Millisecond)
				}
				clock.hold.Store(&hold)
				coretest.MustShutdownGracefully(t, ex, time.Second, time.Hour)
				if got := elapsedAtClose(t, ex, end); got != time.Second {
					t.Errorf("G10: closed %v after the end of the last body, want 1s", got)
				}
			})
		})
	}
}
