package core_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// shownClock is the system's clock, shown through show: a clock that lags or rounds. Its
// alarms go off on time, and so before Now has reached the moment they were set to.
type shownClock struct {
	show func(time.Time) time.Time
}

func (c shownClock) Now() time.Time                                 { return c.show(time.Now()) }
func (c shownClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

// mostLag is how far any of shownClocks is behind.
const mostLag = 7 * time.Millisecond

// A lag that never changes is no lag: alarms and Now agree. shownClocks lag by more at
// one time than at another, and never go backwards.
var shownClocks = map[string]func() func(time.Time) time.Time{
	"lagging": lagging,
	"rounded": func() func(time.Time) time.Time {
		return func(now time.Time) time.Time { return now.Truncate(5 * time.Millisecond) }
	},
	"rounded by a hair": func() func(time.Time) time.Time {
		return func(now time.Time) time.Time { return now.Truncate(3) }
	},
	"cached": func() func(time.Time) time.Time {
		start := time.Now()
		return func(now time.Time) time.Time { return start.Add(now.Sub(start).Truncate(mostLag)) }
	},
}

// lagging is behind by up to mostLag, by another time at each call.
func lagging() func(time.Time) time.Time {
	var mu sync.Mutex
	var last time.Time
	rng := rand.New(rand.NewPCG(1, 2))
	return func(now time.Time) time.Time {
		mu.Lock()
		defer mu.Unlock()
		if now = now.Add(-time.Duration(rng.Int64N(int64(mostLag)))); now.After(last) {
			last = now
		}
		return last
	}
}

// onShownClocks runs f in virtual time for each of shownClocks.
func onShownClocks(t *testing.T, f func(t *testing.T, clock core.Clock)) {
	for name, show := range shownClocks {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				time.Sleep(1234567) // or a step of the clock would fall on each deadline
				f(t, shownClock{show()})
			})
		})
	}
}

// mostOvershoot bounds how late a body may run on one of shownClocks: by the lag, and the last
// pause between two readings of the clock, which is no longer than the wait before it.
const mostOvershoot = 2*mostLag + time.Millisecond

// A loop whose alarm has fired before its clock reaches the time reads the clock again without
// a wake-up, and no more often than necessary.
func TestG7G12TimersOnAClockThatLags(t *testing.T) {
	onShownClocks(t, func(t *testing.T, clock core.Clock) {
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		for i := range 100 {
			delay := 21*time.Millisecond + time.Duration(i)*time.Millisecond/7
			began, before := time.Now(), ex.Stats().Parks
			early := false
			var timer *core.Timer
			timer = mustSchedule(t, ex, delay, func() { early = clock.Now().Before(timer.Deadline()) })
			coretest.Await(t, "a timer on a clock that lags (G12)", timer.Done())
			if took := time.Since(began); early || took > delay+mostOvershoot {
				t.Errorf("G7: a timer of %v ran after %v, early by its own clock: %v; want no more than %v later, and never early", delay, took, early, mostOvershoot)
			}
			if parks := ex.Stats().Parks - before; parks > 16 {
				t.Errorf("G12: the loop slept %d times for one timer, want 16 or fewer: it is busy with its clock", parks)
			}
		}
	})
}

func TestG7G12APeriodicTimerOnAClockThatLags(t *testing.T) {
	onShownClocks(t, func(t *testing.T, clock core.Clock) {
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		runs, over := 0, make(chan struct{})
		var timer *core.Timer
		coretest.OnLoop(t, ex, func() { // the timer is known before it runs
			timer, _ = ex.ScheduleAtFixedRate(time.Millisecond, 3*time.Millisecond, func() {
				if runs++; runs == 200 {
					timer.Cancel()
					close(over)
				}
			})
		})
		coretest.Await(t, "200 runs of a periodic timer on a clock that lags (G12)", over)
	})
}

func TestG10G12TheQuietPeriodOnAClockThatLags(t *testing.T) {
	onShownClocks(t, func(t *testing.T, clock core.Clock) {
		ex := coretest.NewExecutor(t, core.WithClock(clock))
		coretest.MustExecute(t, ex, func() {})
		began := time.Now()
		coretest.MustShutdownGracefully(t, ex, 21*time.Millisecond, 3*time.Second)
		report := coretest.AwaitDone(t, ex)
		if took := time.Since(began); report.TimedOut || took > 21*time.Millisecond+mostOvershoot {
			t.Errorf("G10: a quiet period of 21ms took %v, timed out: %v; want no more than %v longer", took, report.TimedOut, mostOvershoot)
		}
	})
}

func TestG11G12TheTimeoutOnAClockThatLags(t *testing.T) {
	onShownClocks(t, func(t *testing.T, clock core.Clock) {
		ex := coretest.NewExecutor(t, core.WithClock(clock), core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		scheduled := time.Now()
		var ran time.Duration
		inTime := mustSchedule(t, ex, 41*time.Millisecond, func() { ran = time.Since(scheduled) })
		late := mustSchedule(t, ex, time.Hour, func() {})
		release := occupy(t, ex)
		began := time.Now()
		coretest.MustShutdownGracefully(t, ex, 20*time.Millisecond, 100*time.Millisecond)
		release()
		coretest.Await(t, "the close (G11)", ex.Context().Done())
		if took := time.Since(began); took > 100*time.Millisecond+mostOvershoot {
			t.Errorf("G11: closed after %v, want 100ms", took)
		}
		coretest.AwaitDone(t, ex)
		if inTime.Err() != nil || ran > 41*time.Millisecond+mostOvershoot {
			t.Errorf("G12: the timer before the timeout ran after %v and ended with %v; want 41ms and no more than %v later, nil", ran, inTime.Err(), mostOvershoot)
		}
		if err := late.Err(); err != core.ErrCancelled {
			t.Errorf("G9: the timer after the timeout ended with %v, want ErrCancelled", err)
		}
	})
}

// countedClock counts the delays of its alarms instead of waiting: an alarm fires at once, and
// the time moves by its delay. Now returns it rounded to 5 ms.
type countedClock struct {
	mu     sync.Mutex
	passed time.Duration
}

type countedAlarm struct {
	clock *countedClock
	f     func()
	armed *time.Duration // guarded by clock.mu; nil: not pending
}

const clockStep = 5 * time.Millisecond

func (c *countedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, 0).Add(c.passed.Truncate(clockStep))
}

func (c *countedClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	a := &countedAlarm{clock: c, f: f}
	a.Reset(d)
	return a
}

func (a *countedAlarm) Reset(d time.Duration) bool {
	was := a.Stop()
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.armed = &d
	go a.goOff(&d)
	return was
}

func (a *countedAlarm) Stop() bool {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	was := a.armed != nil
	a.armed = nil
	return was
}

func (a *countedAlarm) goOff(d *time.Duration) {
	a.clock.mu.Lock()
	mine := a.armed == d
	if mine {
		a.armed = nil
		a.clock.passed += *d
	}
	a.clock.mu.Unlock()
	if mine {
		a.f()
	}
}

// checkLateWaits waits for deadlines a hair after a step of a countedClock: each alarm
// leaves the clock almost a step behind.
func checkLateWaits(t *testing.T, clock *countedClock, p core.Poller) {
	t.Helper()
	for range 20 {
		until := clock.Now().Add(3*clockStep + 1)
		for n := 0; clock.Now().Before(until); n++ {
			if n == 64 {
				t.Fatalf("G12: Wait returned %d times and the clock is still %v before the deadline; want a pause between two returns", n, until.Sub(clock.Now()))
			}
			result := make(chan error, 1)
			go func() { result <- p.Wait(until) }()
			select {
			case err := <-result:
				coretest.Must(t, err)
			case <-time.After(coretest.HangGuard):
				t.Fatalf("G12: Wait number %d for one deadline sleeps without an alarm, with the clock %v before it", n+1, until.Sub(clock.Now()))
			}
		}
	}
	coretest.Must(t, p.Close())
}

func TestG12TheParkPollerOnAClockThatIsRounded(t *testing.T) {
	clock := &countedClock{}
	checkLateWaits(t, clock, core.NewParkPoller(clock))
}

// On a clock that was set back to before the executor was made, deadlines are negative. A shutdown
// still follows its policy for them (G8).
func TestG8AShutdownCancelsTimersOnAClockThatWasSetBack(t *testing.T) {
	for policy, want := range map[core.TimersAtShutdown]string{core.CancelTimers: "", core.RunDueTimers: "due"} {
		var back atomic.Int64
		onBoth(t, func(t *testing.T, ex core.EventExecutor) {
			back.Store(int64(time.Hour))
			defer back.Store(0)
			var j coretest.Journal
			gate := make(chan struct{})
			coretest.MustExecute(t, ex, func() { <-gate })
			mustSchedule(t, ex, time.Second, j.Adds("due"))
			mustSchedule(t, ex, time.Minute, j.Adds("late"))
			time.Sleep(time.Second)
			coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
			close(gate)
			report := coretest.AwaitDone(t, ex)
			j.Want(t, "G8", want)
			coretest.Want(t, "G8: TimersRun and TimersCancelled", report.TimersRun+report.TimersCancelled, 2)
		}, core.WithTimersAtShutdown(policy), core.WithClock(shownClock{func(now time.Time) time.Time { return now.Add(-time.Duration(back.Load())) }}))
	}
}

// On such a clock a park until a deadline before the executor was made is no park without a limit.
func TestG12AParkUntilATimeBeforeTheExecutorWasMade(t *testing.T) {
	var back atomic.Int64
	var r recorder
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		back.Store(int64(time.Hour))
		defer back.Store(0)
		mustSchedule(t, ex, time.Second, func() {})
		synctest.Wait()
		var parks []core.Event
		for _, ev := range r.all() {
			if ev.Kind == core.EventPark {
				parks = append(parks, ev)
			}
		}
		if last := parks[len(parks)-1]; last.Until != 0 || last.NextTimer != 0 {
			t.Errorf("G12: the loop parks until %v, with the next timer at %v; want 0 for both", last.Until, last.NextTimer)
		}
		coretest.MustShutdownGracefully(t, ex, 0, time.Second)
		coretest.AwaitDone(t, ex)
	}, core.WithTracer(&r), core.WithClock(shownClock{func(now time.Time) time.Time { return now.Add(-time.Duration(back.Load())) }}))
}
