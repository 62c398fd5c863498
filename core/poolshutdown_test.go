package core_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// Few goroutines and few tasks, for the tests under chosen schedules: each way in against each
// way out. Execute returned nil if and only if the task runs exactly once before Done.
func TestPoolG3SubmittersAgainstAShutdown(t *testing.T) {
	for name, shutdown := range map[string]func(p *core.Pool){
		"Shutdown": func(p *core.Pool) { p.Shutdown() },
		"graceful": func(p *core.Pool) { _, _ = p.ShutdownGracefully(0, time.Second) },
		"zero":     func(p *core.Pool) { _, _ = p.ShutdownGracefully(0, 0) },
		"quiet":    func(p *core.Pool) { _, _ = p.ShutdownGracefully(time.Millisecond, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			p, err := core.NewPool(2)
			coretest.Must(t, err)
			var accepted, ran atomic.Int64
			task := func() { ran.Add(1) }
			count := func(err error) {
				if err == nil {
					accepted.Add(1)
				}
			}
			var callers sync.WaitGroup
			callers.Go(func() { count(p.Execute(task)); count(p.Execute(task)) })
			callers.Go(func() {
				count(p.Execute(func() { ran.Add(1); count(p.Execute(task)) }))
			})
			callers.Go(func() { shutdown(p) })
			<-p.Termination().Done()
			atDone := ran.Load()
			callers.Wait()
			coretest.Want(t, "G3: ran at Done, of the accepted", atDone, accepted.Load())
			coretest.Want(t, "G3: ran at the end", ran.Load(), atDone)
			s := p.Stats()
			checkConserved(t, s)
			coretest.Want(t, "accepted + rejected", s.Accepted+s.Rejected, accepted.Load()+s.Rejected)
			coretest.Want(t, "workers after Done", s.Workers, 0)
		})
	}
}

// If a wake-up is lost, no worker runs a task, and the test does not end.
func TestPoolG12TasksBesideASleepingWorker(t *testing.T) {
	p, err := core.NewPool(2)
	coretest.Must(t, err)
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			over := make(chan struct{})
			coretest.Must(t, p.Execute(func() { close(over) }))
			<-over
		})
	}
	callers.Wait()
	coretest.Must(t, p.Close())
}

// The blocked task, the task behind it, and a resize that takes workers away and gives them back.
func TestPoolG12ABlockedTaskAgainstAResize(t *testing.T) {
	p, err := core.NewPool(2)
	coretest.Must(t, err)
	gate := make(chan struct{})
	var callers sync.WaitGroup
	callers.Go(func() { coretest.Must(t, p.Execute(func() { <-gate })) })
	callers.Go(func() { coretest.Must(t, p.Execute(func() { close(gate) })) })
	callers.Go(func() {
		coretest.Must(t, p.Resize(3))
		coretest.Must(t, p.Resize(2))
	})
	callers.Wait()
	<-gate
	coretest.Must(t, p.Close())
}

// A timer that a busy worker cannot keep, and tasks that take the worker that keeps it.
func TestPoolG12ATimerBesideTasks(t *testing.T) {
	p, err := core.NewPool(2)
	coretest.Must(t, err)
	over := make(chan struct{})
	var callers sync.WaitGroup
	callers.Go(func() { coretest.Must(t, p.Execute(func() { <-over })) })
	callers.Go(func() {
		_, err := p.Schedule(time.Millisecond, func() { close(over) })
		coretest.Must(t, err)
	})
	callers.Go(func() { coretest.Must(t, p.Execute(func() {})) })
	callers.Wait()
	<-over
	coretest.Must(t, p.Close())
}

func TestPoolG9AListenerAgainstTheEnd(t *testing.T) {
	p, err := core.NewPool(2)
	coretest.Must(t, err)
	heard := make(chan struct{})
	var callers sync.WaitGroup
	callers.Go(func() {
		core.Submit(p, func() (int, error) { return 1, nil }).OnDone(func(int, error) { close(heard) })
	})
	callers.Go(func() { p.Shutdown() })
	callers.Wait()
	<-heard
	<-p.Termination().Done()
}

func TestPoolG6HooksAgainstTasks(t *testing.T) {
	p, err := core.NewPool(2)
	coretest.Must(t, err)
	var early atomic.Int64
	var order coretest.Journal
	coretest.Must(t, p.Execute(func() { early.Add(1) }))
	for _, name := range []string{"first", "second"} {
		_, err := p.AddShutdownHook(func() {
			coretest.Want(t, "G6: earlier tasks that have ended when a hook begins", early.Load(), 1)
			order.Add(name)
		})
		coretest.Must(t, err)
	}
	var callers sync.WaitGroup
	callers.Go(func() { _, _ = p.ShutdownGracefully(0, time.Second) })
	callers.Go(func() { _ = p.Execute(func() {}) })
	callers.Wait()
	<-p.Termination().Done()
	order.Want(t, "G6: the order of hooks", "first second")
}

// Each body that runs when the timeout passes is named, with since when, and its stack.
func TestPoolG11TheReportNamesEachBody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 3, core.WithName("compressors"))
		a := block(t, p)
		time.Sleep(time.Second)
		b := block(t, p)
		term, err := p.ShutdownGracefully(0, 2*time.Second)
		coretest.Must(t, err)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		report := term.Report()
		coretest.Want(t, "timed out", report.TimedOut, true)
		for _, want := range []string{
			"compressors: a task has been running for 3s:\ngoroutine ", "compressors: a task has been running for 2s:\ngoroutine ",
		} {
			if !strings.Contains(report.Running, want) || strings.Count(report.Running, "core_test.block") < 2 {
				t.Errorf("G11: Running is %q, want %q and two stacks of block", report.Running, want)
			}
		}
		coretest.Want(t, "the cause of Context", context.Cause(p.Context()), core.ErrShutdownTimeout)
		a()
		b()
		report = coretest.AwaitDone(t, p)
		coretest.Want(t, "ran", report.Ran, 2)
		coretest.Want(t, "Running after the end", p.Running(), "")
	})
}

// A shutdown call without a timeout closes admission itself, and names what runs then.
func TestPoolG11AZeroTimeoutNamesEachBody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2, core.WithName("compressors"))
		a := block(t, p)
		time.Sleep(time.Second)
		term, err := p.ShutdownGracefully(0, 0)
		coretest.Must(t, err)
		report := term.Report()
		coretest.Want(t, "timed out", report.TimedOut, true)
		if !strings.HasPrefix(report.Running, "compressors: a task has been running for 1s:\ngoroutine ") || !strings.Contains(report.Running, "core_test.block") {
			t.Errorf("G11: Running is %q, want the task with its stack", report.Running)
		}
		a()
		coretest.Want(t, "Running after the end", coretest.AwaitDone(t, p).Running, report.Running)
	})
}

func TestPoolG10QuietIsOfTheWholePool(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		start := time.Now()
		term, err := p.ShutdownGracefully(time.Second, time.Minute)
		coretest.Must(t, err)
		time.Sleep(900 * time.Millisecond)
		coretest.MustExecute(t, p, func() { time.Sleep(5 * time.Second) })
		coretest.MustExecute(t, p, func() { time.Sleep(100 * time.Millisecond) })
		coretest.Want(t, "state while the longer one runs", stateAfter(p, 3*time.Second), core.StateShuttingDown)
		<-term.Done()
		coretest.Want(t, "from the call to the end", time.Since(start), 6900*time.Millisecond)
	})
}

// A listener on a worker is no task, and restarts no quiet period.
func TestPoolG10ListenersRestartNoQuietPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2)
		called := 0
		promise := core.NewPromise[int](p)
		promise.Future().OnDone(func(int, error) { called++ })
		start := time.Now()
		term, err := p.ShutdownGracefully(time.Second, time.Minute)
		coretest.Must(t, err)
		time.Sleep(900 * time.Millisecond)
		promise.TrySuccess(1)
		<-term.Done()
		coretest.Want(t, "from the call to the end", time.Since(start), time.Second)
		coretest.Want(t, "calls of the listener", called, 1)
	})
}

// The last events of a pool are, in this order: its pollers are closed, it is terminated, and Done.
func TestPoolG24TheLastEvents(t *testing.T) {
	var events coretest.Journal
	p := coretest.NewPool(t, 2, core.WithTracer(tracerFunc(func(e core.Event) { events.Add(e.Kind.String()) })))
	coretest.MustExecute(t, p, func() {})
	p.Shutdown()
	coretest.AwaitDone(t, p)
	all := events.All()
	want := []string{core.EventPollerClosed.String(), core.EventState.String(), core.EventDone.String()}
	if len(all) < 3 || !slices.Equal(all[len(all)-3:], want) {
		t.Errorf("the events end with %v, want %v", all, want)
	}
}

// stateAfter returns the state of p when d has passed.
func stateAfter(p *core.Pool, d time.Duration) core.State {
	time.Sleep(d)
	synctest.Wait()
	return p.State()
}

// A timer that is waited for keeps the quiet period from ending; without it the quiet period
// ends at once.
func TestPoolG10ACancelledTimerEndsTheQuietPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 2, core.WithTimersAtShutdown(core.RunTimersUntilTimeout))
		timer, err := p.Schedule(time.Hour, func() { t.Error("the cancelled timer ran") })
		coretest.Must(t, err)
		start := time.Now()
		term, err := p.ShutdownGracefully(time.Second, 2*time.Hour)
		coretest.Must(t, err)
		time.Sleep(time.Minute)
		coretest.Want(t, "cancelled", timer.Cancel(), true)
		<-term.Done()
		coretest.Want(t, "from the call to the end", time.Since(start), time.Minute)
	})
}

// A clock that panics ends the pool, and loses nothing that was accepted.
func TestPoolG15ABrokenClockEndsThePool(t *testing.T) {
	clock := newManualClock()
	p := coretest.NewPool(t, 2, core.WithClock(clock))
	a, b := block(t, p), block(t, p)
	var ran atomic.Int64
	for range 10 {
		coretest.MustExecute(t, p, func() { ran.Add(1) })
	}
	timer := mustSchedule(t, p, time.Hour, func() { ran.Add(100) })
	clock.mu.Lock()
	clock.onNow = func() { panic("no time") }
	clock.mu.Unlock()
	a()
	b()
	<-p.Termination().Done()
	if err := p.Termination().Err(); err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("G15: Err is %v, want the panic of the clock", err)
	}
	coretest.Want(t, "ran", ran.Load(), 10)
	coretest.WantErr(t, "the timer", timer.Err(), core.ErrCancelled)
	coretest.WantErr(t, "a task after the end", p.Execute(func() {}), core.ErrRejected)
}

// noAlarm is a clock whose AfterFunc does not return.
type noAlarm struct{ leave func() }

func (noAlarm) Now() time.Time { return time.Now() }

func (c noAlarm) AfterFunc(time.Duration, func()) core.Alarm {
	c.leave()
	return nil
}

// A clock that fails in the sleep of a worker ends the sleep: the worker does not wake itself.
func TestPoolG12AClockThatFailsInTheSleep(t *testing.T) {
	for name, c := range leaves {
		t.Run(name, func(t *testing.T) {
			var r recorder
			scheduled := make(chan struct{}) // the worker, if it began earlier, would sleep without the timer, and be woken for it
			later := core.WithSpawner(func(run func()) error {
				go func() { <-scheduled; run() }()
				return nil
			})
			p := coretest.NewPool(t, 1, core.WithClock(noAlarm{c.leave}), core.WithTracer(&r), later)
			timer := mustSchedule(t, p, time.Hour, func() {})
			close(scheduled)
			<-p.Termination().Done()
			if err := p.Termination().Err(); !errors.Is(err, c.want) {
				t.Errorf("G15: Err is %v, want %v", err, c.want)
			}
			coretest.WantErr(t, "the timer", timer.Err(), core.ErrCancelled)
			if sleeps := sleepsWithEnds(t, &r); sleeps == 0 {
				t.Error("the worker has not slept")
			}
			coretest.Want(t, "G12: wake-ups", p.Stats().Wakes, 0)
		})
	}
}

// G6: a hook waits for the tasks accepted before the call, those that run included, and for the
// hook before it, though a worker is free.
func TestPoolG6HooksWaitForRunningTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := coretest.NewPool(t, 3)
		release := block(t, p)
		var order coretest.Journal
		gate := make(chan struct{})
		for _, hook := range []func(){func() { order.Add("first"); <-gate; order.Add("first ends") }, order.Adds("second")} {
			_, err := p.AddShutdownHook(hook)
			coretest.Must(t, err)
		}
		_, err := p.ShutdownGracefully(0, time.Hour)
		coretest.Must(t, err)
		synctest.Wait()
		order.Want(t, "G6: hooks beside an earlier task", "")
		release()
		synctest.Wait()
		order.Want(t, "G6: hooks beside the first one", "first")
		coretest.MustExecute(t, p, order.Adds("later task")) // held up by nobody
		synctest.Wait()
		close(gate)
		coretest.AwaitDone(t, p)
		order.Want(t, "G6: all", "first later task first ends second")
	})
}
