package exectest_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// TestMistakesAreNoDataRaces: with the race detector, no planted mistake is one by a data race of its own: the tests of the kit
// would fail with it now and then. One goroutine gives work to an executor while another reads it, and both yield often. Nothing
// orders the two: that is what the detector needs.
func TestMistakesAreNoDataRaces(t *testing.T) {
	for _, m := range subjects.Mistakes() {
		t.Run(m.Guarantee+" "+m.Name, func(t *testing.T) {
			t.Parallel()
			s := m.New()
			if a, ok := s.(exectest.Abandoner); ok {
				defer a.Abandon()
			}
			var all sync.WaitGroup
			all.Go(func() { giveWork(s) })
			all.Go(func() { readAll(s) })
			all.Wait()
			_ = s.Shutdown(0, time.Millisecond)
			readAll(s)
		})
	}
}

// giveWork makes each call that gives s work. Some of it panics, if s has hooks: the small executors, which have none, contain
// no panic.
func giveWork(s exectest.Subject) {
	_, contains := s.(exectest.Hooker)
	for _, panics := range []bool{false, true, false} {
		work := func() {
			pause()
			if panics && contains {
				panic("work of the test")
			}
		}
		_ = s.Execute(work)
		if s, ok := s.(exectest.Scheduler); ok {
			if cancel, err := s.Schedule(0, work); err == nil && panics {
				go cancel() // which may not return
			}
		}
		if s, ok := s.(exectest.Hooker); ok {
			_, _ = s.AddShutdownHook(work)
		}
		if s, ok := s.(exectest.Submitter); ok {
			s.Submit(func() error { work(); return nil })
		}
		pause()
	}
}

// readAll calls each method that reads s, for as long as the work takes.
func readAll(s exectest.Subject) {
	for range 20 {
		if s, ok := s.(exectest.Counter); ok {
			s.Stats()
		}
		if s, ok := s.(exectest.Stater); ok {
			s.State()
		}
		if s, ok := s.(exectest.LoopTeller); ok {
			s.InEventLoop()
		}
		pause()
	}
}

// pause lets other goroutines run.
func pause() {
	for range 10 {
		runtime.Gosched()
	}
}
