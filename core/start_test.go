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
)

// spawnLog counts the calls of a spawner.
type spawnLog struct{ asked atomic.Int32 }

// plan returns a spawner whose n-th call, n from 1, runs the n-th of steps, and spawns after
// the last one.
func (l *spawnLog) plan(steps ...func(loop func()) error) core.Option {
	return core.WithSpawner(func(loop func()) error {
		n := int(l.asked.Add(1))
		if n <= len(steps) {
			return steps[n-1](loop)
		}
		return spawnIt(loop)
	})
}

func spawnIt(loop func()) error { go loop(); return nil }

var errSpawn = errors.New("no goroutine left")

func refuseIt(func()) error { return errSpawn }

// firstUses are the calls that start an executor.
var firstUses = map[string]func(ex *core.Executor) error{
	"Execute":               offers[0].with(func() {}),
	"ExecuteLazy":           offers[1].with(func() {}),
	"ExecuteAfterIteration": offers[2].with(func() {}),
	"Submit":                offers[3].with(func() {}),
	"Schedule":              func(ex *core.Executor) error { _, err := ex.Schedule(0, func() {}); return err },
	"ScheduleAtFixedRate": func(ex *core.Executor) error {
		_, err := ex.ScheduleAtFixedRate(0, time.Second, func() {})
		return err
	},
	"ScheduleWithFixedDelay": func(ex *core.Executor) error {
		_, err := ex.ScheduleWithFixedDelay(0, time.Second, func() {})
		return err
	},
	"AddShutdownHook": func(ex *core.Executor) error { _, err := ex.AddShutdownHook(func() {}); return err },
}

func (o offer) with(task func()) func(*core.Executor) error {
	return func(ex *core.Executor) error { return o.give(ex, task) }
}

func TestG17TheFirstAcceptedCallStartsTheLoopOnce(t *testing.T) {
	for name, use := range firstUses {
		var spawned spawnLog
		ex := coretest.NewExecutor(t, spawned.plan())
		for range 2 {
			if err := use(ex); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n, s := spawned.asked.Load(), ex.State(); n != 1 || s != core.StateStarted {
			t.Errorf("G17: after %s the spawner was called %d times, state %v; want 1, Started", name, n, s)
		}
	}
}

func TestG17QueriesDoNotStartTheLoop(t *testing.T) {
	var spawned spawnLog
	ex := coretest.NewExecutor(t, spawned.plan())
	p := core.NewPromise[int](ex)
	heard := false
	p.Future().OnDone(func(int, error) { heard = true })
	p.TrySuccess(1)
	_, _, _, _, _, _ = ex.State(), ex.Termination(), ex.Context(), ex.InEventLoop(), ex.Stats(), ex.Termination().Report()
	_ = ex.String() + ex.Name()
	if n, s := spawned.asked.Load(), ex.State(); n != 0 || s != core.StateNotStarted || !heard {
		t.Errorf("G17: the spawner was called %d times, state %v, listener called %v; want 0, NotStarted, true", n, s, heard)
	}
}

func TestG17ShutdownOfANeverStartedExecutor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		start := time.Now()
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		time.Sleep(500 * time.Millisecond)
		var j coretest.Journal
		mustHook(t, ex, j.Adds("hook"))
		coretest.MustExecute(t, ex, j.Adds("task"))
		if got, want := elapsedAtClose(t, ex, start), 1500*time.Millisecond; got != want {
			t.Errorf("G17: closed at %v, want %v: the quiet period is kept", got, want)
		}
		coretest.AwaitDone(t, ex)
		j.Want(t, "G17", "hook task")
	})
}

// Nothing is kept of a call that could not start the loop, and the next one
// tries again.
func TestG17ARefusedStartKeepsNothing(t *testing.T) {
	hows := map[string]struct {
		step func(loop func()) error
		is   func(error) bool
	}{
		"refuses": {refuseIt, func(err error) bool { return errors.Is(err, errSpawn) }},
		"panics": {func(func()) error { panic(errSpawn) }, func(err error) bool {
			var p *core.PanicError
			return errors.As(err, &p) && errors.Is(err, errSpawn)
		}},
		"runs the loop inline": {func(loop func()) error { loop(); return nil }, func(err error) bool { return err != nil }},
		"runs it, then refuses": {runAndRefuse, func(err error) bool {
			return errors.Is(err, errSpawn)
		}},
		"runs it inline and on a goroutine": {func(loop func()) error { loop(); go loop(); return nil }, func(err error) bool { return err != nil }},
	}
	for how, h := range hows {
		for name, use := range firstUses {
			var spawned spawnLog
			ex := coretest.NewExecutor(t, spawned.plan(h.step, h.step))
			for range 2 {
				err := use(ex)
				if !errors.Is(err, core.ErrRejected) || !h.is(err) {
					t.Errorf("G17: %s, spawner %s: got %v, want ErrRejected with the spawner's error", name, how, err)
				}
			}
			if s := ex.Stats(); s.State != core.StateNotStarted || s.Accepted != 0 || s.Timers != 0 || s.Hooks != 0 || s.TimersScheduled != 0 || s.Parks != 0 {
				t.Errorf("G17: %s, spawner %s: kept %+v, want nothing", name, how, s)
			}
			if err := use(ex); err != nil || ex.State() != core.StateStarted {
				t.Errorf("G17: %s, spawner %s, next call: got %v, state %v; want nil, Started", name, how, err, ex.State())
			}
		}
	}
}

// The caller's goroutine ends, but the executor is as if it had not been called.
func TestG17ASpawnerThatGoexits(t *testing.T) {
	var spawned spawnLog
	ex := coretest.NewExecutor(t, spawned.plan(func(func()) error { runtime.Goexit(); return nil }))
	var wg sync.WaitGroup
	wg.Go(func() { _ = ex.Execute(func() { t.Error("G3: it ran") }) })
	wg.Wait()
	if s := ex.Stats(); s.State != core.StateNotStarted || s.Accepted != 0 {
		t.Errorf("G17: kept %+v, want nothing", s)
	}
	coretest.OnLoop(t, ex, func() {})
}

func TestG17ARefusedStartInAShutdownTerminates(t *testing.T) {
	for _, e := range enders {
		var spawned spawnLog
		ex := coretest.NewExecutor(t, spawned.plan(refuseIt))
		heard := make(chan error, 1)
		ex.Termination().OnDone(func(_ core.Report, err error) { heard <- err })
		e.end(ex)
		if err := ex.AwaitTermination(neverEnds); err != errSpawn || ex.Termination().Err() != errSpawn {
			t.Errorf("G17: %s: AwaitTermination %v, Err %v; want the spawner's error", e.name, err, ex.Termination().Err())
		}
		if s := ex.State(); s != core.StateTerminated {
			t.Errorf("G17: %s: state %v, want Terminated", e.name, s)
		}
		if err := <-heard; err != errSpawn {
			t.Errorf("G17: %s: the listener got %v, want the spawner's error", e.name, err)
		}
		if err := context.Cause(ex.Context()); err == nil {
			t.Errorf("G15: %s: Context has not ended", e.name)
		}
		if err := ex.Execute(func() { t.Error("G3: it ran") }); !errors.Is(err, core.ErrRejected) {
			t.Errorf("G5: %s: Execute: got %v, want ErrRejected", e.name, err)
		}
		if n := spawned.asked.Load(); n != 1 {
			t.Errorf("G17: %s: the spawner was called %d times, want 1", e.name, n)
		}
	}
}

// runAndRefuse gives the loop every chance to begin before the refusal.
func runAndRefuse(loop func()) error {
	go loop()
	for range 100 {
		runtime.Gosched()
	}
	return errSpawn
}

// slow is a spawner that waits for the test: it sends on asked, and returns the error that it
// receives from decide.
type slow struct {
	asked  chan struct{}
	decide chan func(loop func()) error
}

func newSlow() slow { return slow{make(chan struct{}), make(chan func(func()) error)} }

func (s slow) option() core.Option {
	return core.WithSpawner(func(loop func()) error {
		s.asked <- struct{}{}
		return (<-s.decide)(loop)
	})
}

func TestG17SubmittersShareTheOutcomeOfASlowStart(t *testing.T) {
	for name, outcome := range map[string]func(func()) error{"accepts": spawnIt, "refuses": refuseIt} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				spawner := newSlow()
				ex := coretest.NewExecutor(t, core.WithSpawner(spawnIt), spawner.option())
				var ran, refused atomic.Int32
				for range 5 {
					go func() {
						err := ex.Execute(func() { ran.Add(1) })
						if err != nil && errors.Is(err, errSpawn) {
							refused.Add(1)
						}
					}()
				}
				<-spawner.asked
				synctest.Wait()
				if s := ex.State(); s != core.StateNotStarted || ran.Load() != 0 {
					t.Errorf("G1: state %v while the spawner decides, want NotStarted", s)
				}
				spawner.decide <- outcome
				synctest.Wait()
				want := [2]int32{5, 0}
				if name == "refuses" {
					want = [2]int32{0, 5}
				}
				if got := [2]int32{ran.Load(), refused.Load()}; got != want {
					t.Errorf("G17: ran and refused are %v, want %v: one start, shared by all", got, want)
				}
				if name == "refuses" { // for the shutdown at the end of the test
					go func() { <-spawner.asked; spawner.decide <- spawnIt }()
				}
			})
		})
	}
}

func TestG17AShutdownCallDoesNotWaitForASlowStart(t *testing.T) {
	for name, outcome := range map[string]func(func()) error{"accepts": spawnIt, "refuses": refuseIt} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				spawner := newSlow()
				ex := coretest.NewExecutor(t, spawner.option())
				executed := make(chan error, 1)
				ran := false
				go func() { executed <- ex.Execute(func() { ran = true }) }()
				<-spawner.asked
				coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute) // a hang here is a deadlock of the bubble
				if s := ex.State(); s != core.StateShuttingDown {
					t.Errorf("G17: state %v after the call, want ShuttingDown", s)
				}
				spawner.decide <- outcome
				err := <-executed
				coretest.AwaitDone(t, ex)
				if got := ex.Termination().Err(); name == "refuses" && (!errors.Is(err, errSpawn) || got != errSpawn || ran) {
					t.Errorf("G17: Execute got %v, Err %v, ran %v; want the spawner's error and no run", err, got, ran)
				} else if name == "accepts" && (err != nil || got != nil || !ran) {
					t.Errorf("G17: Execute got %v, Err %v, ran %v; want nil, nil, true", err, got, ran)
				}
			})
		})
	}
}

func TestG11TheDeadlinePassesDuringASlowStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spawner := newSlow()
		ex := coretest.NewExecutor(t, spawner.option())
		executed := make(chan error, 1)
		go func() { executed <- ex.Execute(func() { t.Error("G3: it ran") }) }()
		<-spawner.asked
		start := time.Now()
		coretest.MustShutdownGracefully(t, ex, time.Second, 2*time.Second)
		if got, want := elapsedAtClose(t, ex, start), 2*time.Second; got != want {
			t.Errorf("G11: closed at %v, want %v", got, want)
		}
		spawner.decide <- spawnIt
		if err := <-executed; !errors.Is(err, core.ErrShutdownTimeout) {
			t.Errorf("G5: Execute got %v, want ErrShutdownTimeout", err)
		}
		if report := coretest.AwaitDone(t, ex); !report.TimedOut {
			t.Error("G11: TimedOut is false, want true")
		}
	})
}
