package core_test

import (
	"runtime"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// collected fails the test unless the garbage collector has freed the object whose finalizer
// closes done. It runs full cycles, each until the collector has also freed an
// object that is certainly unreachable.
func collected(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	for range 5 {
		sentinel := make(chan struct{})
		runtime.AddCleanup(new([64]byte), func(int) { close(sentinel) }, 0)
		for cycling := true; cycling; {
			runtime.GC()
			select {
			case <-sentinel:
				cycling = false
			default:
				runtime.Gosched()
			}
		}
		select {
		case <-done:
			return
		default:
		}
	}
	t.Errorf("%s is still referenced", what)
}

// traced returns a function that holds something, and a channel that is closed
// when the garbage collector has found it unreachable.
func traced(run func()) (body func(), gone <-chan struct{}) {
	done := make(chan struct{})
	held := new([4096]byte)
	runtime.AddCleanup(held, func(int) { close(done) }, 0)
	return func() { held[0]++; run() }, done
}

// An executor does not reference work that has run, was cancelled, or was removed.
func TestG24EndedWorkIsNotReferenced(t *testing.T) {
	nothing := func() {}
	tests := map[string]func(t *testing.T, ex *core.Executor) <-chan struct{}{
		"a task that ran": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			coretest.OnLoop(t, ex, body)
			return gone
		},
		"a task that panicked": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(panics)
			coretest.MustExecute(t, ex, body)
			return gone
		},
		"a task that exited": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(goexit)
			coretest.MustExecute(t, ex, body)
			return gone
		},
		"a tail task": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			mustTail(t, ex, body)
			return gone
		},
		"a timer that ran, the handle kept": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			timer := mustSchedule(t, ex, 0, body)
			coretest.Await(t, "the timer", timer.Done())
			t.Cleanup(func() { runtime.KeepAlive(timer) })
			return gone
		},
		"a cancelled timer in the heap, at once": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			for range 100 {
				mustSchedule(t, ex, time.Hour, nothing)
			}
			body, gone := traced(nothing)
			timer := mustSchedule(t, ex, 2*time.Hour, body)
			coretest.OnLoop(t, ex, nothing)
			timer.Cancel()
			t.Cleanup(func() { runtime.KeepAlive(timer) })
			return gone
		},
		"a removed hook": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			remove := mustHook(t, ex, body)
			remove()
			t.Cleanup(func() { remove() })
			return gone
		},
		"a submitted function, the future kept": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			f := core.Submit(ex, func() (int, error) { body(); return 0, nil })
			_, _ = f.Wait(neverEnds)
			t.Cleanup(func() { runtime.KeepAlive(f) })
			return gone
		},
		"a cancelled function that is still queued": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			occupy(t, ex)
			body, gone := traced(nothing)
			core.Submit(ex, func() (int, error) { body(); return 0, nil }).Cancel()
			return gone
		},
		"a listener": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			body, gone := traced(nothing)
			p := core.NewPromise[int](ex)
			p.Future().OnDone(func(int, error) { body() })
			p.TrySuccess(1)
			t.Cleanup(func() { runtime.KeepAlive(p) })
			return gone
		},
		"the value of a panic": func(t *testing.T, ex *core.Executor) <-chan struct{} {
			done := make(chan struct{})
			coretest.MustExecute(t, ex, func() {
				held := new([4096]byte)
				runtime.AddCleanup(held, func(int) { close(done) }, 0)
				panic(held)
			})
			return done
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			ex := coretest.NewExecutor(t)
			collected(t, "G24: "+name, prepare(t, ex))
			runtime.KeepAlive(ex)
		})
	}
}

// A terminated executor that is still referenced does not keep its work in memory.
func TestG24NothingIsReferencedAfterDone(t *testing.T) {
	ex := coretest.NewExecutor(t)
	ran := func() {}
	var gone []<-chan struct{}
	add := func(give func(body func()) error) {
		body, done := traced(ran)
		if err := give(body); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, done)
	}
	add(ex.Execute)
	add(ex.ExecuteAfterIteration)
	add(func(body func()) error { _, err := ex.AddShutdownHook(body); return err })
	add(func(body func()) error { _, err := ex.Schedule(time.Hour, body); return err })
	add(func(body func()) error {
		ex.Termination().OnDone(func(core.Report, error) { body() })
		return nil
	})
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	for i, done := range gone {
		collected(t, []string{"G24: the task", "G24: the tail task", "G24: the hook", "G24: the timer", "G24: the listener"}[i], done)
	}
	runtime.KeepAlive(ex)
}

// The memory that a burst of tasks takes is given back.
func TestG24ABurstGivesItsMemoryBack(t *testing.T) {
	ex := coretest.NewExecutor(t)
	release := occupy(t, ex)
	before := heapInUse()
	const n = 300_000
	task := func() {}
	for range n {
		coretest.MustExecute(t, ex, task)
	}
	if grown := heapInUse() - before; grown < n*4 {
		t.Fatalf("the burst took %d bytes only: this test measures nothing", grown)
	}
	release()
	coretest.OnLoop(t, ex, func() {})
	coretest.OnLoop(t, ex, func() {})
	if kept := heapInUse() - before; kept > n*8/20 {
		t.Errorf("G24: %d bytes kept after a burst of %d tasks, want a small part", kept, n)
	}
	runtime.KeepAlive(ex)
}

func TestG24ABurstOfTimersGivesItsMemoryBack(t *testing.T) {
	ex := coretest.NewExecutor(t)
	const n = 50_000
	timers := make([]*core.Timer, n)
	coretest.OnLoop(t, ex, func() {})
	before := heapInUse()
	for i := range timers {
		timers[i] = mustSchedule(t, ex, time.Hour, func() {})
	}
	coretest.OnLoop(t, ex, func() {})
	for _, timer := range timers {
		timer.Cancel()
	}
	clear(timers)
	coretest.OnLoop(t, ex, func() {})
	coretest.OnLoop(t, ex, func() {})
	if kept := heapInUse() - before; kept > n*24/10 {
		t.Errorf("G24: %d bytes kept after a burst of %d timers, want a small part", kept, n)
	}
	runtime.KeepAlive(ex)
	runtime.KeepAlive(timers)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
