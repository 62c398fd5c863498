package core_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
)

// The rejected-handler runs on the goroutine of the call.
func TestRejectedHandlerRunsOnTheCaller(t *testing.T) {
	var at int64
	ex, release, _ := full(t, core.WithRejectedHandler(func(int, *core.RejectedError) (time.Duration, bool) {
		at = goid.Get()
		return 0, false
	}))
	coretest.WantErr(t, "Execute", ex.Execute(func() {}), core.ErrQueueFull)
	coretest.Want(t, "goroutine of the handler", at, goid.Get())
	release()
}

// Execute calls the spawner on its own goroutine. A shutdown call does not: it returns even if
// the spawner does not.
func TestSpawnerRunsOnTheCaller(t *testing.T) {
	onBothSpawners(t, func(t *testing.T, make func(spawner core.Option) core.EventExecutor) {
		var at int64
		ex := make(core.WithSpawner(func(loop func()) error { at = goid.Get(); return spawnIt(loop) }))
		coretest.MustExecute(t, ex, func() {})
		coretest.Want(t, "goroutine of the spawner", at, goid.Get())

		spawner := newSlow()
		idle := make(spawner.option())
		idle.Shutdown() // a call that waited would be a deadlock of the bubble
		<-spawner.asked
		spawner.decide <- spawnIt
		coretest.AwaitDone(t, idle)
	})
}

// onBothSpawners runs a test in a bubble with what makes executors, and pools.
func onBothSpawners(t *testing.T, f func(t *testing.T, make func(core.Option) core.EventExecutor)) {
	t.Helper()
	t.Run("executor", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			f(t, func(opt core.Option) core.EventExecutor { return coretest.NewExecutor(t, opt) })
		})
	})
	t.Run("pool", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			f(t, func(opt core.Option) core.EventExecutor { return coretest.NewPool(t, 1, opt) })
		})
	})
}

// A spawner that exits or panics in a shutdown: the end has its error.
func TestASpawnerThatExitsAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		leave func()
		want  error
	}{"exits": {runtime.Goexit, core.ErrGoexit}, "panics": {func() { panic(errSpawn) }, errSpawn}} {
		t.Run(name, func(t *testing.T) {
			onBothSpawners(t, func(t *testing.T, make func(core.Option) core.EventExecutor) {
				ex := make(core.WithSpawner(func(func()) error { c.leave(); return nil }))
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
				err := ex.Termination().Err()
				coretest.WantErr(t, "Err", err, c.want)
				if name == "panics" && !errors.As(err, new(*core.PanicError)) {
					t.Errorf("Err %v, want a *PanicError", err)
				}
			})
		})
	}
}

// askingClock calls a function in each call of Now.
type askingClock struct{ ask atomic.Pointer[func()] }

func (c *askingClock) AfterFunc(d time.Duration, f func()) core.Alarm { return time.AfterFunc(d, f) }

func (c *askingClock) Now() time.Time {
	if ask := c.ask.Load(); ask != nil {
		(*ask)()
	}
	return time.Now()
}

// Between two bodies the loop calls the clock: that is in the loop too.
func TestInEventLoopInTheClock(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, clock core.Clock) core.EventExecutor{
		"executor": func(t *testing.T, clock core.Clock) core.EventExecutor {
			return coretest.NewExecutor(t, core.WithClock(clock))
		},
		"pool": func(t *testing.T, clock core.Clock) core.EventExecutor {
			return coretest.NewPool(t, 1, core.WithClock(clock))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				clock := &askingClock{}
				ex := open(t, clock)
				var loop int64
				coretest.OnLoop(t, ex, func() { loop = goid.Get() })
				var inside, outside atomic.Int64 // calls on the loop, and elsewhere
				ask := func() {
					if here := goid.Get() == loop; here != ex.InEventLoop() {
						t.Errorf("InEventLoop in Now is %v on goroutine %d, and the loop's is %d", !here, goid.Get(), loop)
					} else if here {
						inside.Add(1)
					} else {
						outside.Add(1)
					}
				}
				synctest.Wait()
				clock.ask.Store(&ask)
				mustSchedule(t, ex, time.Second, func() {})
				time.Sleep(2 * time.Second)
				synctest.Wait()
				clock.ask.Store(nil)
				if inside.Load() == 0 || outside.Load() == 0 {
					t.Errorf("not exercised: %d calls of Now on the loop, %d elsewhere", inside.Load(), outside.Load())
				}
			})
		})
	}
}

// A panic of the clock reaches the caller of Schedule and ShutdownGracefully, and the call has no
// effect.
func TestClockThatPanicsInACall(t *testing.T) {
	for name, open := range map[string]func(clock core.Clock) core.EventExecutor{
		"executor": func(clock core.Clock) core.EventExecutor { return coretest.NewExecutor(t, core.WithClock(clock)) },
		"pool":     func(clock core.Clock) core.EventExecutor { return coretest.NewPool(t, 1, core.WithClock(clock)) },
	} {
		clock := newStopped()
		ex := open(clock)
		clock.broken.Store(true)
		for call, schedule := range map[string]func(){
			"Schedule":               func() { _, _ = ex.Schedule(time.Second, func() {}) },
			"ScheduleAtFixedRate":    func() { _, _ = ex.ScheduleAtFixedRate(0, time.Second, func() {}) },
			"ScheduleWithFixedDelay": func() { _, _ = ex.ScheduleWithFixedDelay(0, time.Second, func() {}) },
			"ShutdownGracefully":     func() { _, _ = ex.ShutdownGracefully(0, 0) }, // sets no alarm
		} {
			if v := panicked(schedule); v != errClock {
				t.Errorf("%s: %s panicked with %v, want the panic of the clock", name, call, v)
			}
		}
		clock.broken.Store(false)
		if s := ex.Stats(); s.TimersScheduled != 0 || s.State != core.StateNotStarted {
			t.Errorf("%s: %+v after calls that panicked, want nothing", name, s)
		}
	}
}

// alarmless is a clock whose AfterFunc panics until it is repaired.
type alarmless struct {
	*manualClock
	repaired atomic.Bool
}

func (c *alarmless) AfterFunc(d time.Duration, f func()) core.Alarm {
	if !c.repaired.Load() {
		panic(errClock)
	}
	return c.manualClock.AfterFunc(d, f)
}

// A panic of AfterFunc reaches the caller of ShutdownGracefully, and the call has no effect.
func TestClockThatCannotSetTheTimeout(t *testing.T) {
	for name, open := range map[string]func(clock core.Clock) core.EventExecutor{
		"executor": func(clock core.Clock) core.EventExecutor { return coretest.NewExecutor(t, core.WithClock(clock)) },
		"pool":     func(clock core.Clock) core.EventExecutor { return coretest.NewPool(t, 1, core.WithClock(clock)) },
	} {
		clock := &alarmless{manualClock: newManualClock()}
		ex := open(clock)
		ctx := ex.ShutdownContext()
		if v := panicked(func() { _, _ = ex.ShutdownGracefully(time.Minute, time.Hour) }); v != errClock {
			t.Errorf("%s: ShutdownGracefully panicked with %v, want the panic of the clock", name, v)
			continue
		}
		if r := ex.Termination().Report(); ex.State() != core.StateNotStarted || ctx.Err() != nil || r.Timeout != 0 {
			t.Errorf("%s: state %v, ShutdownContext %v, report %+v after a call that panicked, want nothing", name, ex.State(), ctx.Err(), r)
		}
		clock.repaired.Store(true)
		coretest.MustShutdownGracefully(t, ex, 0, 2*time.Hour)
		coretest.Want(t, name+": the timeout of the first call that had an effect", coretest.AwaitDone(t, ex).Timeout, 2*time.Hour)
	}
}

func TestNowIsOfTheClock(t *testing.T) {
	clock := newManualClock()
	ex := coretest.NewExecutor(t, core.WithClock(clock))
	coretest.Want(t, "Now", ex.Now(), clock.Now())
	clock.advance(time.Hour)
	coretest.Want(t, "Now, an hour later", ex.Now(), clock.Now())
	plain := coretest.NewExecutor(t)
	if before, now := time.Now(), plain.Now(); now.Before(before) || time.Since(now) < 0 {
		t.Errorf("Now without WithClock is %v, want the system's %v", now, before)
	}
}

// The Context of an executor that fails has the error as its cause.
func TestContextOfAnExecutorThatFails(t *testing.T) {
	f := &faulty{Poller: core.NewParkPoller(nil), wait: func() error { return errPoller }}
	ex := coretest.NewExecutor(t, core.WithPoller(f))
	coretest.MustExecute(t, ex, func() { f.broken.Store(true) })
	coretest.AwaitDone(t, ex)
	coretest.WantErr(t, "the cause of an executor's Context", context.Cause(ex.Context()), errPoller)

	clock := newStopped()
	pool := coretest.NewPool(t, 1, core.WithClock(clock))
	coretest.MustExecute(t, pool, func() { clock.broken.Store(true) })
	coretest.AwaitDone(t, pool)
	coretest.WantErr(t, "the cause of a pool's Context", context.Cause(pool.Context()), errClock)
}

// The names and the Termination of executors, pools and groups. None of the calls starts one.
func TestNamesAndTerminationsOfEach(t *testing.T) {
	var spawned spawnLog
	pool, other := coretest.NewPool(t, 1, core.WithName("bakery"), spawned.plan()), coretest.NewPool(t, 1)
	coretest.Want(t, "Name", pool.Name(), "bakery")
	coretest.Want(t, "String", pool.String(), "bakery (NotStarted)")
	if third := coretest.NewPool(t, 1); other.Name() == "" || other.Name() == third.Name() {
		t.Errorf("generated names are %q and %q, want two", other.Name(), third.Name())
	}
	for name, ex := range map[string]core.EventExecutor{
		"executor": coretest.NewExecutor(t, spawned.plan()), "pool": pool, "group": coretest.NewExecutorGroup(t, 2, spawned.plan()),
	} {
		term := ex.Termination()
		if ex.ShutdownContext() != ex.ShutdownContext() || ex.Context() != ex.Context() || ex.Termination() != term {
			t.Errorf("%s: a second call returned another context, or another Termination", name)
		}
		if s := ex.Stats(); s.Workers != 0 || s.Busy != 0 {
			t.Errorf("%s: %d workers, %d busy; want none", name, s.Workers, s.Busy)
		}
		if err := ex.Termination().Err(); err != nil {
			t.Errorf("%s: Err before Done is %v, want nil", name, err)
		}
	}
	coretest.Want(t, "calls of the spawner", spawned.asked.Load(), 0)
}

// Before Done Err is nil, in a body too; Wait returns the report so far when its context ends;
// a listener that is added after Done is called before OnDone returns.
func TestErrBeforeDone(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		release := make(chan struct{})
		coretest.MustExecute(t, ex, func() {})
		coretest.MustExecute(t, ex, func() {
			coretest.WantErr(t, "Err in a body", ex.Termination().Err(), nil)
			<-release
		})
		synctest.Wait()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(neverEnds)
		cancel(why)
		report, err := ex.Termination().Wait(ctx)
		coretest.WantErr(t, "Wait", err, why)
		if report.Accepted != 2 || report.Ran != 1 {
			t.Errorf("Wait: the report so far is %+v, want 2 accepted, 1 ran", report)
		}
		close(release)
		coretest.Must(t, ex.Close())
		var called int64
		ex.Termination().OnDone(func(core.Report, error) { called = goid.Get() })
		coretest.Want(t, "goroutine of a listener added after Done", called, goid.Get())
	})
}

// Elapsed of a report is 0 before the shutdown call, and then the time since.
func TestReportElapsedInProgress(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		coretest.MustExecute(t, ex, func() { time.Sleep(10 * time.Second) })
		time.Sleep(time.Second)
		coretest.Want(t, "Elapsed before the call", ex.Termination().Report().Elapsed, 0)
		coretest.MustShutdownGracefully(t, ex, 0, time.Hour)
		time.Sleep(2 * time.Second)
		coretest.Want(t, "Elapsed in progress", ex.Termination().Report().Elapsed, 2*time.Second)
		coretest.Want(t, "Elapsed at the end", coretest.AwaitDone(t, ex).Elapsed, 9*time.Second)
	})
}

// Timers and hooks that are refused are in neither count of refusals.
func TestRefusedTimersAreNotCounted(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	ex.Shutdown()
	for range 2 { // before and after Done
		_, err := ex.Schedule(0, func() {})
		coretest.WantErr(t, "Schedule", err, core.ErrShutdown)
		_, err = ex.AddShutdownHook(func() {})
		coretest.WantErr(t, "AddShutdownHook", err, core.ErrShutdown)
		release()
		coretest.AwaitDone(t, ex)
	}
	if s, r := ex.Stats().Rejected, ex.Termination().Report().Rejected; s != 0 || r != 0 {
		t.Errorf("Stats counts %d refusals, the report %d; want 0", s, r)
	}
}

// Options of event loops are accepted, and change nothing.
func TestOptionsOfLoopsOnAnExecutor(t *testing.T) {
	for name, opt := range map[string]core.Option{
		"WithDrain": core.WithDrain(core.CloseChannels), "WithIORatio": core.WithIORatio(1), "WithSpin": core.WithSpin(0),
		"WithBlockingEpoll": core.WithBlockingEpoll(),
	} {
		ex, err := core.NewExecutor(opt)
		if err != nil {
			t.Errorf("%s: %v, want no error", name, err)
			continue
		}
		ran := false
		coretest.MustExecute(t, ex, func() { ran = true })
		coretest.Must(t, ex.Close())
		coretest.Want(t, name+": ran", ran, true)
		coretest.Want(t, name+": rebuilds and registrations", ex.Stats().Rebuilds+ex.Stats().Registrations, 0)
	}
}

// Two options without a source have two sources.
func TestJitterWithoutASource(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var deadlines [2][8]time.Time
		for i := range deadlines {
			ex := coretest.NewExecutor(t, core.WithTimerJitter(time.Hour, nil))
			for k := range deadlines[i] {
				deadlines[i][k] = mustSchedule(t, ex, time.Hour, func() {}).Deadline()
			}
		}
		if deadlines[0] == deadlines[1] {
			t.Errorf("two sources gave the same 8 delays of up to an hour: %v", deadlines[0])
		}
	})
}

// Callers that wait for a slow start of a pool share its outcome.
func TestPoolSubmittersShareASlowStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner := newSlow()
		pool := coretest.NewPool(t, 1, spawner.option())
		var refused atomic.Int64
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				if err := pool.Execute(func() {}); errors.Is(err, errSpawn) {
					refused.Add(1)
				}
			})
		}
		<-spawner.asked
		synctest.Wait()
		spawner.decide <- refuseIt
		callers.Wait()
		coretest.Want(t, "callers that got the error of the one start", refused.Load(), 3)
		go func() { <-spawner.asked; spawner.decide <- spawnIt }() // for the end
	})
}
