package core_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestG9ListenersRunInOrderOnTheLoop(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	f := core.Submit(ex, func() (int, error) { return 7, nil })
	var j coretest.Journal
	done := make(chan struct{})
	for i := range 3 {
		f.OnDone(func(v int, err error) {
			if v != 7 || err != nil || !ex.InEventLoop() {
				t.Errorf("G9: listener got %d, %v, in the loop %v; want 7, nil, true", v, err, ex.InEventLoop())
			}
			j.Add(fmt.Sprint(i))
			if i == 0 {
				f.OnDone(func(int, error) { j.Add("added"); close(done) })
			}
		})
	}
	f.OnDone(nil)
	release()
	coretest.Await(t, "the listener added by a listener", done)
	j.Want(t, "G9", "0 1 2 added")
	last := make(chan bool, 1)
	f.OnDone(func(int, error) { last <- ex.InEventLoop() })
	if !<-last {
		t.Error("G9: a listener of a complete future ran off the loop while that lives")
	}
}

// One that ends badly does not keep the others from running, wherever they run.
func TestG9AListenerThatEndsBadlyStopsNoOther(t *testing.T) {
	for end, bad := range badEnds {
		for _, where := range []string{"on the loop", "off the loop", "no executor"} {
			var log panicLog
			ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
			var p *core.Promise[int]
			switch where {
			case "on the loop":
				coretest.OnLoop(t, ex, func() {})
				p = core.NewPromise[int](ex)
			case "off the loop":
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
				p = core.NewPromise[int](ex)
			default:
				p = core.NewPromise[int](nil)
			}
			var j coretest.Journal
			p.Future().OnDone(func(int, error) { j.Add("a") })
			p.Future().OnDone(func(int, error) { j.Add("bad"); bad.body() })
			p.Future().OnDone(func(int, error) { j.Add("b") })
			var wg sync.WaitGroup
			wg.Go(func() { p.TrySuccess(1) }) // a Goexit ends this goroutine
			wg.Wait()
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			j.Want(t, "G9: "+end+" "+where, "a bad b")
			if got := int64(len(log.all())); where != "no executor" && (got != bad.panicked || ex.Stats().Panicked != got) {
				t.Errorf("G14: %s %s: %d panics reported, %d counted; want %d", end, where, got, ex.Stats().Panicked, bad.panicked)
			}
		}
	}
}

// A listener follows the body that completed its future, not the batch.
func TestG9AListenerFollowsItsBody(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	f := core.Submit(ex, func() (int, error) { j.Add("body"); return 1, nil })
	f.OnDone(func(int, error) { j.Add("listener") })
	coretest.MustExecute(t, ex, j.Adds("next"))
	release()
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G9", "body listener next")
}

// The listeners that the turn has taken wait for the first hook, because the body has changed the state;
// those of what this hook completes still run before the second.
func TestG9AListenerFollowsItsHook(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	p := core.NewPromise[int](ex)
	p.Future().OnDone(func(int, error) { j.Add("listener") })
	f := core.Submit(ex, func() (int, error) {
		mustHook(t, ex, func() { j.Add("hook"); p.TrySuccess(1) })
		mustHook(t, ex, j.Adds("next"))
		ex.Shutdown()
		return 1, nil
	})
	f.OnDone(func(int, error) { j.Add("taken") })
	release()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G9", "hook taken listener next")
}

// A second call moves the state within a body. Hooks then run before the listener of that body. The first hook
// completes a promise, whose listener still runs before the second hook.
func TestG9AListenerFollowsItsHookAfterASecondCall(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	p := core.NewPromise[int](ex)
	p.Future().OnDone(func(int, error) { j.Add("listener") })
	f := core.Submit(ex, func() (int, error) { ex.Shutdown(); return 1, nil })
	f.OnDone(func(int, error) { j.Add("left") })
	_, err := ex.ShutdownGracefully(time.Second, time.Hour)
	coretest.Must(t, err)
	coretest.MustExecute(t, ex, j.Adds("task"))
	mustHook(t, ex, func() { j.Add("hook"); p.TrySuccess(1) })
	mustHook(t, ex, j.Adds("second"))
	release()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G9", "hook left listener second task")
}

// The hook itself moves the state while a listener is queued. The hook also completes a promise, whose listener
// runs after the queued one and before the next task.
func TestG9AListenerFollowsAHookThatCallsShutdown(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	var j coretest.Journal
	left, p := core.NewPromise[int](ex), core.NewPromise[int](ex)
	left.Future().OnDone(func(int, error) { j.Add("left") })
	p.Future().OnDone(func(int, error) { j.Add("listener") })
	left.TrySuccess(1)
	_, err := ex.ShutdownGracefully(time.Second, time.Hour)
	coretest.Must(t, err)
	coretest.MustExecute(t, ex, j.Adds("task"))
	mustHook(t, ex, func() { j.Add("hook"); ex.Shutdown(); p.TrySuccess(1) })
	release()
	coretest.AwaitDone(t, ex)
	j.Want(t, "G9", "hook left listener task")
}

// What is left of the listeners of a future comes before those of others behind it, if
// one ends badly too.
func TestG9RemainingListenersKeepTheirPlace(t *testing.T) {
	for end, bad := range badEnds {
		for _, where := range []string{"on the loop", "off the loop"} {
			ex := coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) {}))
			first, second := core.NewPromise[int](ex), core.NewPromise[int](ex)
			var j coretest.Journal
			first.Future().OnDone(func(int, error) { j.Add("1a"); bad.body() })
			first.Future().OnDone(func(int, error) { j.Add("1b") })
			second.Future().OnDone(func(int, error) { j.Add("2") })
			both := func() { first.TrySuccess(1); second.TrySuccess(1) }
			if where == "on the loop" {
				coretest.OnLoop(t, ex, both) // the listeners follow the body
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
			} else {
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
				outer := core.NewPromise[int](ex)
				outer.Future().OnDone(func(int, error) { both() })
				var wg sync.WaitGroup
				wg.Go(func() { outer.TrySuccess(1) }) // a Goexit ends this goroutine
				wg.Wait()
			}
			j.Want(t, "G9: "+end+" "+where, "1a 1b 2")
		}
	}
}

// The executor of a refused Submit is known: a panic of a listener is its own.
func TestG14AListenerOfARefusedSubmitThatPanicsIsReported(t *testing.T) {
	var log panicLog
	ex := coretest.NewExecutor(t, core.WithPanicHandler(log.handle))
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	called := false
	core.Submit(ex, func() (int, error) { return 0, nil }).OnDone(func(_ int, err error) {
		called = true
		panic(err)
	})
	if !called {
		t.Error("G9: the listener of a refused Submit did not run on the caller")
	}
	if n := len(log.all()); n != 1 || ex.Stats().Panicked != 1 {
		t.Errorf("G14: %d panics reported, %d counted; want 1, 1", n, ex.Stats().Panicked)
	}
}

// Each listener completes the next future: on the loop, off it, and on the loop
// of an executor that ends meanwhile.
func TestG9ChainsOfListenersDoNotNest(t *testing.T) {
	const n = 100_000
	var pcs [512]uintptr
	for _, where := range []string{"on the loop", "off the loop", "no executor"} {
		t.Run(where, func(t *testing.T) {
			var owner core.EventExecutor
			ex := coretest.NewExecutor(t)
			switch where {
			case "on the loop":
				coretest.OnLoop(t, ex, func() {})
				owner = ex
			case "off the loop":
				owner = ex
				ex.Shutdown()
				coretest.AwaitDone(t, ex)
			}
			promises := make([]*core.Promise[int], n)
			for i := range promises {
				promises[i] = core.NewPromise[int](owner)
			}
			depth := 0
			for i := range promises {
				promises[i].Future().OnDone(func(v int, _ error) {
					if i+1 < n {
						promises[i+1].TrySuccess(v + 1)
					} else {
						depth = runtime.Callers(0, pcs[:])
					}
				})
			}
			promises[0].TrySuccess(1)
			if v, err := promises[n-1].Future().Wait(neverEnds); v != n || err != nil {
				t.Errorf("G9: the end of the chain has %d, %v; want %d, nil", v, err, n)
			}
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			if depth == 0 || depth > 100 {
				t.Errorf("G9: the last of %d listeners ran at depth %d, want a bounded one", n, depth)
			}
		})
	}
}

// Completed in one goroutine, listened to in others: each called once, one at a
// time.
func TestG9ListenersOfOneFutureNeverOverlap(t *testing.T) {
	for _, owner := range []core.EventExecutor{nil, coretest.NewExecutor(t)} {
		if owner != nil {
			coretest.OnLoop(t, owner, func() {})
		}
		for range 200 {
			p := core.NewPromise[int](owner)
			var inside atomic.Bool
			calls := 0
			heard := make(chan struct{}, 40)
			listener := func(int, error) {
				if !inside.CompareAndSwap(false, true) {
					t.Error("G9: two listeners of one future at once")
				}
				calls++
				runtime.Gosched()
				inside.Store(false)
				heard <- struct{}{}
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 10 {
						p.Future().OnDone(listener)
					}
				})
			}
			wg.Go(func() { p.TrySuccess(1) })
			wg.Wait()
			for range 40 {
				<-heard
			}
			if calls != 40 {
				t.Fatalf("G9: %d calls of 40 listeners", calls)
			}
		}
	}
}

// Notification takes no room in a bounded queue.
func TestG9ListenersRunWhenTheQueueIsFull(t *testing.T) {
	ex := coretest.NewExecutor(t, core.WithMaxPendingTasks(16))
	release := occupy(t, ex)
	heard := make(chan bool, 1)
	p := core.NewPromise[int](ex)
	p.Future().OnDone(func(int, error) { heard <- ex.InEventLoop() })
	for ex.Execute(func() {}) == nil {
	}
	p.TrySuccess(1)
	release()
	coretest.Want(t, "G9: the listener ran on the loop", <-heard, true)
}

// A listener added in the loop to a complete future runs later, not inside.
func TestG9AListenerAddedInTheLoopRunsAfterTheBody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ex := coretest.NewExecutor(t)
		p := core.NewPromise[int](ex)
		p.TrySuccess(1)
		var j coretest.Journal
		coretest.OnLoop(t, ex, func() {
			p.Future().OnDone(func(int, error) { j.Add("listener") })
			j.Add("body")
		})
		synctest.Wait()
		j.Want(t, "G9", "body listener")
	})
}

// G13: futures that are completed without end, each by the listener of the one
// before, delay tasks by no more than a turn.
func TestG13ListenersWithoutEndDoNotStarveTasks(t *testing.T) {
	const most = 100_000
	ex := coretest.NewExecutor(t)
	listeners, stop := 0, false // touched on the loop alone
	var next func()
	next = func() {
		p := core.NewPromise[int](ex)
		p.Future().OnDone(func(int, error) {
			if listeners++; !stop && listeners < most {
				next()
			}
		})
		p.TrySuccess(0)
	}
	begun := make(chan struct{})
	if err := ex.Execute(func() { next(); close(begun) }); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := ex.Execute(func() { stop = true }); err != nil {
		t.Fatal(err)
	}
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	if listeners >= most {
		t.Errorf("G13: the task ran after all %d listeners, want it between them", most)
	}
}

// G13: a listener that adds itself to its future, which is complete, without end, delays
// tasks by no more than a turn: also if it panics or exits each time.
func TestG13AListenerThatAddsItselfDoesNotStarveTasks(t *testing.T) {
	for _, end := range []struct {
		name string
		f    func()
	}{{"returns", func() {}}, {"panics", func() { panic("planted") }}, {"exits", runtime.Goexit}} {
		t.Run(end.name, func(t *testing.T) {
			const most = 1000
			ex := coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) {}))
			p := core.NewPromise[int](ex)
			listeners, ran := 0, 0 // touched on the loop alone
			var again func(int, error)
			again = func(int, error) {
				if listeners++; listeners < most {
					p.Future().OnDone(again)
				}
				end.f()
			}
			coretest.MustExecute(t, ex, func() {
				p.Future().OnDone(again)
				p.TrySuccess(0)
				coretest.MustExecute(t, ex, func() { ran = listeners })
				ex.Shutdown()
			})
			coretest.AwaitDone(t, ex)
			if ran > 64 || listeners != most {
				t.Errorf("G13: the task ran after %d of %d listeners, want at most 64 of %d", ran, listeners, most)
			}
		})
	}
}
