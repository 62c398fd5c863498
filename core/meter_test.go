package core_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// metered is what has meters: an executor, or a pool.
type metered interface {
	core.EventExecutor
	NewMeter() *core.Meter
}

// eachMetered runs f in virtual time with an executor, and with a pool of one worker, which
// keeps the same promises.
func eachMetered(t *testing.T, f func(t *testing.T, ex metered)) {
	t.Helper()
	t.Run("executor", func(t *testing.T) {
		inBubble(t, func(t *testing.T) { f(t, coretest.NewExecutor(t, core.WithName("bakery"))) })
	})
	t.Run("pool", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			pool, err := core.NewPool(1, core.WithName("bakery"))
			f(t, coretest.EndWithTest(t, pool, err))
		})
	})
}

// sleeper returns a task that sleeps for d.
func sleeper(d time.Duration) func() { return func() { time.Sleep(d) } }

func TestMeterBusyIsTheTimeInBodies(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		time.Sleep(time.Second) // not started: not busy
		coretest.MustExecute(t, ex, sleeper(300*time.Millisecond))
		mustSchedule(t, ex, 500*time.Millisecond, sleeper(200*time.Millisecond))
		time.Sleep(time.Second)
		synctest.Wait()
		r := m.Read()
		if r.Elapsed != 2*time.Second || r.Busy != 500*time.Millisecond {
			t.Errorf("busy for %v of %v, want 500ms of 2s", r.Busy, r.Elapsed)
		}
		coretest.MustExecute(t, ex, sleeper(400*time.Millisecond))
		time.Sleep(100 * time.Millisecond)
		if r := m.Read(); r.Busy != 600*time.Millisecond {
			t.Errorf("inside a body busy is %v, want 600ms", r.Busy)
		}
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		time.Sleep(time.Second)
		if r := m.Read(); r.Busy != 900*time.Millisecond {
			t.Errorf("a second after done busy is %v, want 900ms", r.Busy)
		}
	})
}

// The bodies of a pool overlap, and their times add up.
func TestMeterBusyOfAPoolIsTheSum(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		pool, err := core.NewPool(3)
		coretest.EndWithTest(t, pool, err)
		m := pool.NewMeter()
		for range 3 {
			coretest.MustExecute(t, pool, sleeper(time.Second))
		}
		synctest.Wait()
		if r := m.Read(); len(r.Running) != 3 {
			t.Errorf("running: %v, want 3 bodies", r.Running)
		}
		time.Sleep(2 * time.Second)
		if r := m.Read(); r.Busy != 3*time.Second || !slices.Equal(r.Waits, []time.Duration{time.Second}) {
			t.Errorf("busy for %v, waits %v, want 3s, and 1s until a worker was free", r.Busy, r.Waits)
		}
	})
}

func TestMeterWaitsAreThoseOfATaskAcceptedAtTheRead(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		for range 3 {
			coretest.MustExecute(t, ex, sleeper(100*time.Millisecond))
		}
		synctest.Wait()
		m.Read()
		time.Sleep(50 * time.Millisecond)
		if r := m.Read(); r.Oldest != 50*time.Millisecond || r.Waits != nil {
			t.Errorf("oldest %v, waits %v, want 50ms and none yet", r.Oldest, r.Waits)
		}
		coretest.MustExecute(t, ex, sleeper(time.Second)) // after both reads: no part of the samples
		time.Sleep(time.Second)
		want := []time.Duration{300 * time.Millisecond, 250 * time.Millisecond}
		if r := m.Read(); !slices.Equal(r.Waits, want) || r.Oldest != 0 {
			t.Errorf("waits %v, oldest %v, want %v and nothing waiting", r.Waits, r.Oldest, want)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want = []time.Duration{250 * time.Millisecond} // the rest of the body: nothing was queued
		if r := m.Read(); !slices.Equal(r.Waits, want) {
			t.Errorf("waits %v, want %v", r.Waits, want)
		}
	})
}

// A sample ends between two tasks of one batch, not with the batch.
func TestMeterWaitsEndInsideABatch(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		coretest.MustExecute(t, ex, sleeper(time.Second))
		synctest.Wait() // the loop has taken it alone
		coretest.MustExecute(t, ex, sleeper(time.Second))
		m.Read()
		coretest.MustExecute(t, ex, sleeper(time.Minute))
		coretest.MustExecute(t, ex, func() {})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if r := m.Read(); !slices.Equal(r.Waits, []time.Duration{2 * time.Second}) {
			t.Errorf("waits %v, want 2s: the task of a minute came later", r.Waits)
		}
	})
}

func TestMeterSamplesWakeUpsAndTimers(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		m.Read()
		time.Sleep(time.Second)
		coretest.OnLoop(t, ex, func() {})
		if r := m.Read(); !slices.Equal(r.Waits, []time.Duration{0}) {
			t.Errorf("waits %v, want one wake-up, which takes no virtual time", r.Waits)
		}
		mustSchedule(t, ex, 400*time.Millisecond, func() {})
		coretest.MustExecute(t, ex, sleeper(time.Second))
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		r := m.Read()
		if !slices.Contains(r.Waits, 600*time.Millisecond) {
			t.Errorf("waits %v, want 600ms of the late timer among them", r.Waits)
		}
	})
}

// G10, G12, G17: a meter posts nothing.
func TestG10AMeterKeepsNothingAwake(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		for range 3 {
			if r := m.Read(); r.Stats.State != core.StateNotStarted || r.Waits != nil || r.Running != nil {
				t.Errorf("G17: %+v after a Read, want nothing started", r)
			}
		}
		coretest.OnLoop(t, ex, func() {})
		synctest.Wait()
		before := m.Read().Stats
		began := time.Now()
		term := coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
		for range 999 {
			time.Sleep(time.Millisecond)
			m.Read()
		}
		after := m.Read().Stats
		if after.Wakes > before.Wakes+1 || after.Parks > before.Parks+1 || after.Accepted != before.Accepted {
			t.Errorf("G12: before the readings %+v, after them %+v, want a wake-up by the shutdown at most", before, after)
		}
		<-term.Done()
		if took := time.Since(began); took != time.Second {
			t.Errorf("G10: the quiet period ended after %v, want 1s", took)
		}
	})
}

func TestMeterTellsRunsApart(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		next := make(chan struct{})
		waitForNext := func() { <-next }
		coretest.MustExecute(t, ex, waitForNext)
		core.Submit(ex, func() (int, error) { return 0, nil }).Cancel() // it has a number too
		coretest.MustExecute(t, ex, waitForNext)
		mustSchedule(t, ex, 0, waitForNext)
		mustSchedule(t, ex, 0, waitForNext)
		seen := map[core.RunningBody]bool{}
		for range 4 {
			synctest.Wait()
			first, again := m.Read().Running, m.Read().Running
			if len(first) != 1 || !slices.Equal(first, again) {
				t.Fatalf("running: %v, then %v, want the same body", first, again)
			}
			stack := m.Stack(first[0])
			if !strings.Contains(stack, "TestMeterTellsRunsApart") || strings.Count(stack, "goroutine ") != 1+strings.Count(stack, "in goroutine ") {
				t.Errorf("the stack of the body is %q, want that of its goroutine alone", stack)
			}
			seen[first[0]] = true
			next <- struct{}{}
			synctest.Wait()
			if stack := m.Stack(first[0]); stack != "" {
				t.Errorf("the stack of a body that has ended is %q, want none", stack)
			}
		}
		if len(seen) != 4 {
			t.Errorf("four bodies were %v, want four values", seen)
		}
	})
}

// However long a backlog lasts, the memory is bounded and the age is right.
func TestMeterOfALongBacklog(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		coretest.MustExecute(t, ex, sleeper(time.Hour))
		coretest.MustExecute(t, ex, func() {})
		synctest.Wait()
		for range 3000 {
			m.Read()
			time.Sleep(time.Second)
		}
		if r := m.Read(); r.Oldest != 3000*time.Second {
			t.Errorf("oldest %v, want 50m", r.Oldest)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		r := m.Read()
		if len(r.Waits) > 128 || len(r.Waits) < 64 || slices.Max(r.Waits) != time.Hour {
			t.Errorf("%d waits up to %v, want 64 to 128 up to 1h", len(r.Waits), slices.Max(r.Waits))
		}
	})
}

func TestClosedMeter(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m, other := ex.NewMeter(), ex.NewMeter()
		coretest.OnLoop(t, ex, sleeper(time.Second))
		m.Read()
		m.Close()
		m.Close()
		coretest.OnLoop(t, ex, sleeper(time.Second))
		synctest.Wait()
		if r := m.Read(); r.Busy != 0 || r.Elapsed != 0 || r.Waits != nil || r.Stats.Ran != 2 {
			t.Errorf("a closed meter has %+v, want the counters alone", r)
		}
		if r := other.Read(); r.Busy != 2*time.Second {
			t.Errorf("the other meter has %v, want 2s", r.Busy)
		}
	})
}

// A Read before a task was accepted does not hide how long the task has waited.
func TestMeterOldestBehindATaskThatRuns(t *testing.T) {
	eachMetered(t, func(t *testing.T, ex metered) {
		m := ex.NewMeter()
		coretest.MustExecute(t, ex, sleeper(90*time.Second))
		synctest.Wait()
		m.Read() // nothing waits
		coretest.MustExecute(t, ex, func() {})
		m.Read()
		time.Sleep(time.Minute)
		if r := m.Read(); r.Oldest != time.Minute {
			t.Errorf("oldest %v, want 1m, the time since the first Read behind the task that waits", r.Oldest)
		}
	})
}
