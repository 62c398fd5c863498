package core

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// yieldPlan is a backlog that one producer lets grow behind a body that does not end.
type yieldPlan struct {
	pool  bool
	tasks int
	waits map[int]time.Duration // of the producer, before the call with this number
}

func drawYieldPlan(t *rapid.T) yieldPlan {
	p := yieldPlan{pool: rapid.Bool().Draw(t, "pool"), tasks: rapid.IntRange(firstCheck, 3*yieldEvery).Draw(t, "tasks"), waits: map[int]time.Duration{}}
	for range rapid.IntRange(0, 4).Draw(t, "waits") {
		n := rapid.SampledFrom([]int{firstCheck, firstCheck + 1, 16, 17, 32, 64, 100, 128, yieldEvery}).Draw(t, "before the call")
		p.waits[n] = notRunning + time.Duration(rapid.IntRange(-1, 1).Draw(t, "longer"))
	}
	return p
}

// yields returns the numbers of the calls that yield: those at a check that find a long backlog, or one of which no task
// has begun for long enough since the first check.
func (p yieldPlan) yields() map[int]bool {
	yields := map[int]bool{}
	var since time.Duration // the first check
	for n := 1; n <= p.tasks; n++ {
		since += p.waits[n]
		if n == firstCheck {
			since = 0
		}
		if n >= firstCheck && (n&(n-1) == 0 || n%yieldEvery == 0) && (n%yieldEvery == 0 || since >= notRunning) {
			yields[n] = true
		}
	}
	return yields
}

// run returns the numbers of the calls of Execute that let another goroutine run, with the mutex free. On one processor
// nothing else does, unless the scheduler interrupts the caller.
func (p yieldPlan) run(t *testing.T) map[int]bool {
	var ex EventExecutor
	var err error
	if p.pool {
		ex, err = NewPool(1)
	} else {
		ex, err = NewExecutor()
	}
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	defer func() {
		close(release)
		<-ex.Shutdown().Done()
	}()
	execute := func(task func()) {
		if err := ex.Execute(task); err != nil {
			t.Error(err)
		}
	}
	execute(func() { <-release })
	synctest.Wait()
	mu := ex.(metered).mutex()
	yields := map[int]bool{}
	for n := 1; n <= p.tasks; n++ {
		time.Sleep(p.waits[n])
		var ran atomic.Bool
		go func() {
			if mu.TryLock() {
				mu.Unlock()
				ran.Store(true)
			}
		}()
		execute(func() {})
		if ran.Load() {
			yields[n] = true
		}
		synctest.Wait()
	}
	return yields
}

// TestPropExecuteYields: a call of Execute yields the processor at each 256th task of a backlog, and at checks from the eighth
// task on if no task has begun for 20 microseconds, and at no other task. It does not yield with the mutex held. The scheduler may interrupt a call, and may give the
// processor back to the caller at once, but does neither at the same call in each of several runs.
func TestPropExecuteYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rapid.Check(t, func(rt *rapid.T) {
		p := drawYieldPlan(rt)
		want := p.yields()
		const runs = 6
		differs := map[int]int{} // how often, for each call
		for range runs {
			var got map[int]bool
			synctest.Test(t, func(t *testing.T) { got = p.run(t) })
			same := true
			for n := 1; n <= p.tasks; n++ {
				if got[n] != want[n] {
					differs[n]++
					same = false
				}
			}
			if same {
				return
			}
		}
		for n, times := range differs {
			if times == runs {
				rt.Fatalf("Execute of task %d yields: %v, want yields at %v: %+v", n, !want[n], want, p)
			}
		}
	})
}
