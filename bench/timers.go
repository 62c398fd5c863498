package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"eventide/core"
)

// A canceller is a scheduled timer of any implementation.
type canceller interface{ cancel() }

type coreTimer struct{ *core.Timer }

func (t coreTimer) cancel() { t.Cancel() }

type goTimer struct{ *time.Timer }

func (t goTimer) cancel() { t.Stop() }

func scheduleCancelCases(where string, sizes []int) Group {
	var g Group
	for _, size := range sizes {
		afterFunc := Case{
			Workload: fmt.Sprintf("ScheduleCancel/where=%s/timers=%d", where, size),
			Impl:     "afterfunc", Against: "afterfunc", Unit: "pair",
			Open: func() (Runner, error) { return openTimers(nil, runOutside, size) },
		}
		ours, own := afterFunc, afterFunc
		ours.Impl, own.Impl = "core", "core-own"
		ours.Open = func() (Runner, error) { return openCoreTimers(where, size, false) }
		own.Open = func() (Runner, error) { return openCoreTimers(where, size, true) }
		g = append(g, ours, own, afterFunc)
	}
	return g
}

// openCoreTimers opens timers of core. If own is true, each fresh one is scheduled again in its own
// memory, by ScheduleTimer.
func openCoreTimers(where string, size int, own bool) (Runner, error) {
	ex, err := core.NewExecutor()
	if err != nil {
		return nil, err
	}
	run := runOutside
	if where == "loop" {
		run = runInLoop
	}
	r, err := openTimers(ex, run, size)
	if err != nil {
		return nil, err
	}
	r.own = own
	return r, nil
}

// timerRunner keeps a constant number of timers pending, and replaces a batch of fresh
// timers, which are due before all pending ones. So a fresh timer moves to the top of
// the heap when it is scheduled, and its place is filled from below when it is
// cancelled. If all deadlines were drawn from one range, most timers would stay where
// they are inserted, and the cost of log n would not show.
type timerRunner struct {
	ex      *core.Executor // nil: the runtime's timers
	own     bool           // replace a timer of core by itself
	run     func(*timerRunner, int) (Slice, error)
	delays  []time.Duration // between 0 and spread, used one after the other
	next    int
	pending []canceller
	fresh   []canceller
}

// timerBatch is how many timers are replaced at a time. The timers of a batch are in
// the heap when they are cancelled.
const timerBatch = 64

// Pending timers are due in 2 to 3 hours, fresh ones in 1 to 2: none ever becomes due.
// The delays are drawn in advance from a fixed seed, so every implementation gets the
// same ones.
const (
	pendingDelay = 2 * time.Hour
	freshDelay   = time.Hour
	spread       = time.Hour
	delaySeed    = 1
	delayCount   = 1 << 16
)

func openTimers(ex *core.Executor, run func(*timerRunner, int) (Slice, error), size int) (*timerRunner, error) {
	r := &timerRunner{ex: ex, run: run, delays: make([]time.Duration, delayCount)}
	random := rand.New(rand.NewPCG(delaySeed, delaySeed))
	for i := range r.delays {
		r.delays[i] = time.Duration(random.Int64N(int64(spread)))
	}
	var err error
	if r.pending, err = r.scheduleMany(size, pendingDelay); err == nil {
		r.fresh, err = r.scheduleMany(timerBatch, freshDelay)
	}
	if err == nil {
		err = r.fence()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *timerRunner) scheduleMany(n int, least time.Duration) ([]canceller, error) {
	many := make([]canceller, 0, n)
	for range n {
		t, err := r.schedule(least)
		if err != nil {
			return many, err
		}
		many = append(many, t)
	}
	return many, nil
}

// delay draws the delay of the next timer.
func (r *timerRunner) delay(least time.Duration) time.Duration {
	delay := least + r.delays[r.next%delayCount]
	r.next++
	return delay
}

func (r *timerRunner) schedule(least time.Duration) (canceller, error) {
	delay := r.delay(least)
	if r.ex == nil {
		return goTimer{time.AfterFunc(delay, neverDue)}, nil
	}
	t, err := r.ex.Schedule(delay, neverDue)
	return coreTimer{t}, err
}

func neverDue() { panic("bench: a timer that is an hour away has fired") }

// replace cancels the fresh timers and schedules as many.
func (r *timerRunner) replace() error {
	for i, t := range r.fresh {
		t.cancel()
		var err error
		if r.own {
			err = r.ex.ScheduleTimer(t.(coreTimer).Timer, r.delay(freshDelay), neverDue)
		} else {
			r.fresh[i], err = r.schedule(freshDelay)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fence returns when the loop has handled the timers that were scheduled and cancelled
// before: it does so before it runs a task.
func (r *timerRunner) fence() error {
	if r.ex == nil {
		return nil
	}
	passed := make(chan struct{})
	if err := r.ex.Execute(func() { close(passed) }); err != nil {
		return err
	}
	<-passed
	return nil
}

func (r *timerRunner) Run(n int) (Slice, error) { return r.run(r, n) }

func (r *timerRunner) batches(n int) int { return max(1, n/timerBatch) }

// runOutside replaces batch after batch, with a fence after each.
func runOutside(r *timerRunner, n int) (Slice, error) {
	batches := r.batches(n)
	began := time.Now()
	for range batches {
		if err := r.replace(); err != nil {
			return Slice{}, err
		}
		if err := r.fence(); err != nil {
			return Slice{}, err
		}
	}
	return Slice{Ops: batches * timerBatch, Elapsed: time.Since(began)}, nil
}

// runInLoop has a task replace a batch and submit itself.
func runInLoop(r *timerRunner, n int) (Slice, error) {
	batches, done := r.batches(n), make(chan error, 1)
	left := batches
	var turn func()
	turn = func() {
		if left--; left < 0 {
			done <- nil
			return
		}
		err := r.replace()
		if err == nil {
			err = r.ex.Execute(turn)
		}
		if err != nil {
			done <- err
		}
	}
	began := time.Now()
	if err := r.ex.Execute(turn); err != nil {
		return Slice{}, err
	}
	if err := <-done; err != nil {
		return Slice{}, err
	}
	return Slice{Ops: batches * timerBatch, Elapsed: time.Since(began)}, nil
}

func (r *timerRunner) Close() error {
	for _, t := range append(r.pending, r.fresh...) {
		t.cancel()
	}
	if r.ex == nil {
		return nil
	}
	return r.ex.Close()
}
