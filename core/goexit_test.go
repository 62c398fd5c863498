package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func goexit() { runtime.Goexit() }

func panics() { panic("boom") }

// deferredPanic calls Goexit and panics while the goroutine unwinds.
func deferredPanic() {
	defer panic("boom")
	runtime.Goexit()
}

// badEnds are the ways in which a body may end that is not a return.
var badEnds = map[string]struct {
	body     func()
	panicked int64
}{
	"panic":                 {panics, 1},
	"Goexit":                {goexit, 0},
	"Goexit, then panic":    {deferredPanic, 1},
	"panic, then Goexit":    {func() { defer goexit(); panics() }, 0},
	"panic with nil":        {func() { panic(error(nil)) }, 1},
	"recovered, then panic": {func() { defer panics(); defer func() { _ = recover() }(); panics() }, 1},
}

// handOvers are the possible behaviours of a spawner at a hand-over after a Goexit.
var handOvers = map[string]func(loop func()) error{
	"accepted":            spawnIt,
	"refused":             refuseIt,
	"panicked":            func(func()) error { panic("spawner") },
	"run inline":          func(loop func()) error { loop(); return nil },
	"run and refused":     func(loop func()) error { go loop(); return errSpawn },
	"run twice, accepted": func(loop func()) error { go loop(); go loop(); return nil },
}

// withHandOver spawns the first time and does step from then on.
func withHandOver(step func(loop func()) error) core.Option {
	var asked atomic.Int32
	return core.WithSpawner(func(loop func()) error {
		if asked.Add(1) == 1 {
			return spawnIt(loop)
		}
		return step(loop)
	})
}

func TestG14BadEndsOfEveryKindOfBodyStayInside(t *testing.T) {
	kinds := map[string]func(ex *core.Executor, body func()) error{
		"task":      func(ex *core.Executor, body func()) error { return ex.Execute(body) },
		"lazy task": func(ex *core.Executor, body func()) error { return ex.ExecuteLazy(body) },
		"tail task": func(ex *core.Executor, body func()) error { return ex.ExecuteAfterIteration(body) },
		"submit": func(ex *core.Executor, body func()) error {
			core.Submit(ex, func() (int, error) { body(); return 0, nil })
			return nil
		},
		"timer": func(ex *core.Executor, body func()) error { _, err := ex.Schedule(0, body); return err },
		"periodic timer": func(ex *core.Executor, body func()) error {
			_, err := ex.ScheduleWithFixedDelay(0, 1, body)
			return err
		},
		"hook": func(ex *core.Executor, body func()) error { _, err := ex.AddShutdownHook(body); return err },
		"listener": func(ex *core.Executor, body func()) error {
			core.Submit(ex, func() (int, error) { return 0, nil }).OnDone(func(int, error) { body() })
			return nil
		},
	}
	for kind, give := range kinds {
		for end, bad := range badEnds {
			for how, step := range handOvers {
				t.Run(kind+"/"+end+"/"+how, func(t *testing.T) {
					checkContained(t, withHandOver(step), give, bad.body, bad.panicked)
				})
			}
		}
	}
}

// checkContained puts a body with a bad end between two tasks and two hooks.
func checkContained(t *testing.T, spawner core.Option, give func(*core.Executor, func()) error, body func(), panicked int64) {
	var log panicLog
	ex := coretest.NewExecutor(t, spawner, core.WithPanicHandler(log.handle), core.WithTimersAtShutdown(core.RunDueTimers))
	release := occupy(t, ex)
	var j coretest.Journal
	mustHook(t, ex, j.Adds("hook1"))
	coretest.MustExecute(t, ex, j.Adds("before"))
	if err := give(ex, body); err != nil {
		t.Fatal(err)
	}
	coretest.MustExecute(t, ex, func() {
		j.Add("after")
		if !ex.InEventLoop() {
			t.Error("G14: the owner id did not change before the next body")
		}
	})
	mustHook(t, ex, j.Adds("hook2"))
	ex.Shutdown()
	release()
	report := coretest.AwaitDone(t, ex)
	j.Want(t, "G14", "before after hook1 hook2")
	checkConserved(t, ex.Stats())
	if report.Ran != report.Accepted {
		t.Errorf("G14: accepted %d, ran %d; one that ended badly ran", report.Accepted, report.Ran)
	}
	if got := int64(len(log.all())); report.Panicked != panicked || got != panicked {
		t.Errorf("G14: %d panics counted, %d reported; want %d, %d", report.Panicked, got, panicked, panicked)
	}
}

func TestG14AFutureGetsThePanicOrErrGoexit(t *testing.T) {
	var log panicLog
	ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
	cause := errors.New("cause")
	_, err := core.Submit(ex, func() (int, error) { panic(cause) }).Wait(neverEnds)
	var p *core.PanicError
	if !errors.As(err, &p) || !errors.Is(err, cause) || !strings.Contains(string(p.Stack), "TestG14AFutureGetsThePanic") {
		t.Errorf("G14: got %v, want a *PanicError with its cause and stack", err)
	}
	timer := mustSchedule(t, ex, 0, goexit)
	if _, err := core.Submit(ex, func() (int, error) { goexit(); return 1, nil }).Wait(neverEnds); err != core.ErrGoexit {
		t.Errorf("G14: got %v, want ErrGoexit", err)
	}
	if coretest.Await(t, "the timer", timer.Done()); timer.Err() != core.ErrGoexit {
		t.Errorf("G14: timer: got %v, want ErrGoexit", timer.Err())
	}
	coretest.OnLoop(t, ex, func() {})
	if seen := log.all(); len(seen) != 1 || seen[0] != p {
		t.Errorf("G14: the panic handler got %v, want exactly the future's panic", seen)
	}
}

// A batch that a Goexit cuts continues in the same turn where it was cut, wherever that is.
func TestG14TheRestOfTheBatchRuns(t *testing.T) {
	for how, step := range handOvers {
		for _, n := range []int{1, 2, 63, 64, 65, 256, 257} {
			for _, at := range []int{0, n / 2, n - 1} {
				ex := coretest.NewExecutor(t, withHandOver(step))
				release := occupy(t, ex)
				var order []int
				for i := range n {
					coretest.MustExecute(t, ex, func() {
						order = append(order, i)
						if i == at {
							goexit()
						}
					})
				}
				release()
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
				if len(order) != n || order[n-1] != n-1 {
					t.Errorf("G14: %s, Goexit in task %d of %d: ran %v", how, at, n, order)
				}
			}
		}
	}
}

func TestG14GoexitManyTimesInARow(t *testing.T) {
	n := 500
	if testing.Short() {
		n = 200
	}
	for how, step := range handOvers {
		t.Run(how, func(t *testing.T) {
			ex := coretest.NewExecutor(t, withHandOver(step))
			local := core.NewLocal[int](nil)
			for range n {
				coretest.MustExecute(t, ex, func() {
					v, _ := local.Get()
					_ = local.Set(v + 1)
					goexit()
				})
			}
			coretest.OnLoop(t, ex, func() {
				if v, err := local.Get(); v != n || err != nil {
					t.Errorf("G14: the loop-local value is %d, %v after %d Goexits, want it kept", v, err, n)
				}
			})
			ex.Shutdown()
			if report := coretest.AwaitDone(t, ex); report.Ran != int64(n)+1 {
				t.Errorf("G14: ran %d, want %d", report.Ran, n+1)
			}
		})
	}
}

// A spawner that calls Goexit at a hand-over counts as one that refuses: the loop continues in
// the deferred call.
func TestG14ASpawnerThatGoexitsAtTheHandOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t, withHandOver(func(func()) error { goexit(); return nil }))
		var j coretest.Journal
		coretest.MustExecute(t, ex, goexit)
		coretest.MustExecute(t, ex, j.Adds("next"))
		time.Sleep(time.Second)
		j.Want(t, "G14: after a spawner that Goexits", "next")
	})
}

// The deferred calls of the body run first, on the old goroutine, in the loop.
func TestG14TheBodysOwnDefersRunBeforeTheLoopMoves(t *testing.T) {
	ex := coretest.NewExecutor(t)
	var j coretest.Journal
	coretest.MustExecute(t, ex, func() {
		defer func() { j.Add(fmt.Sprint("deferred:", ex.InEventLoop())) }()
		goexit()
	})
	coretest.OnLoop(t, ex, j.Adds("next"))
	j.Want(t, "G14", "deferred:true next")
}

func TestG14APanicHandlerThatEndsBadly(t *testing.T) {
	for end, bad := range badEnds {
		for how, step := range handOvers {
			asked := 0
			ex := coretest.NewExecutor(t, withHandOver(step), core.WithPanicHandler(func(*core.PanicError) { asked++; bad.body() }))
			release := occupy(t, ex)
			for range 5 {
				coretest.MustExecute(t, ex, panics)
			}
			mustSchedule(t, ex, 0, panics)
			mustHook(t, ex, panics)
			release()
			coretest.OnLoop(t, ex, func() {})
			ex.Shutdown()
			report := coretest.AwaitDone(t, ex)
			if want := 6 + int(report.TimersRun); asked != want || report.Panicked != int64(want) || report.Ran != 7 {
				t.Errorf("G14: handler %s, spawner %s: spawner called %d times, panicked %d, ran %d; want %d, %d, 7",
					end, how, asked, report.Panicked, report.Ran, want, want)
			}
		}
	}
}

// The last body of all, and every way to end it, with the quiet period running.
func TestG10ABadEndRestartsTheQuietPeriod(t *testing.T) {
	for end, bad := range badEnds {
		for handlerEnds, handler := range map[string]func(){"returns": func() {}, "Goexits": goexit, "panics": panics} {
			t.Run(end+", handler "+handlerEnds, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					ex := coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) { handler() }))
					start := time.Now()
					coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
					time.Sleep(700 * time.Millisecond)
					coretest.MustExecute(t, ex, bad.body)
					if got, want := elapsedAtClose(t, ex, start), 1700*time.Millisecond; got != want {
						t.Errorf("G10: closed at %v, want %v: the last body ended at 700ms", got, want)
					}
				})
			})
		}
	}
}
