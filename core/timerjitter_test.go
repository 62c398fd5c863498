package core_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// constant is a source with one value.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

const longest constant = math.MaxUint64 // gives the longest delay

// A fixed rate keeps its phase, and its delay is less than its period. A fixed delay counts
// from the end of the run before; only the bound limits its delay.
func TestG7JitterOfPeriodicTimers(t *testing.T) {
	const sec = time.Second
	for _, tt := range []struct {
		name     string
		schedule func(ex core.EventExecutor, body func()) (*core.Timer, error)
		want     string
	}{
		{"short rate", func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleAtFixedRate(sec, 2*sec, body)
		}, "2.999999999s 4.999999999s 6.999999999s"},
		{"long rate", func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleAtFixedRate(sec, 10*sec, body)
		}, "5.999999999s 15.999999999s 25.999999999s"},
		{"short delay", func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(sec, 2*sec, body)
		}, "5.999999999s 13.499999998s 20.999999997s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				start := time.Now()
				var j coretest.Journal
				var timer *core.Timer
				runs := 0
				timer, err := tt.schedule(ex, func() {
					j.Add(time.Since(start).String())
					time.Sleep(sec / 2)
					if runs++; runs == 3 {
						timer.Cancel()
					}
				})
				coretest.Must(t, err)
				coretest.Await(t, "the timer", timer.Done())
				j.Want(t, "G7: runs at", tt.want)
			}, core.WithTimerJitter(5*sec, longest))
		})
	}
}

// A fixed rate that Reset has moved counts from the new deadline without its delay.
func TestG7JitterOfResetRate(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		start := time.Now()
		var j coretest.Journal
		timer, err := ex.ScheduleAtFixedRate(0, 20*time.Second, func() { j.Add(time.Since(start).String()) })
		coretest.Must(t, err)
		time.Sleep(2 * time.Second)
		coretest.Want(t, "Reset", timer.Reset(time.Second), true)
		coretest.Want(t, "Deadline", timer.Deadline().Sub(start), 8*time.Second-1)
		time.Sleep(30 * time.Second)
		j.Want(t, "G7: runs at", "7.999999999s 27.999999999s")
	}, core.WithTimerJitter(5*time.Second, longest))
}

// The policy at a shutdown goes by the deadline with the delay, and sums saturate.
func TestG9JitterAtShutdown(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		var j coretest.Journal
		mustSchedule(t, ex, 4*time.Second, j.Adds("before"))
		late := mustSchedule(t, ex, 6*time.Second, j.Adds("after"))
		never := mustSchedule(t, ex, math.MaxInt64, j.Adds("never"))
		coretest.MustShutdownGracefully(t, ex, 0, 10*time.Second)
		coretest.AwaitDone(t, ex)
		j.Want(t, "G9", "before")
		coretest.WantErr(t, "late.Err", late.Err(), core.ErrCancelled)
		coretest.WantErr(t, "never.Err", never.Err(), core.ErrCancelled)
	}, core.WithTimersAtShutdown(core.RunTimersUntilTimeout), core.WithTimerJitter(5*time.Second, longest))
}

var errSource = errors.New("no entropy")

// failing is a source that panics in each call after the first n.
type failing struct{ n atomic.Int64 }

func (f *failing) Uint64() uint64 {
	if f.n.Add(-1) < 0 {
		panic(errSource)
	}
	return 0
}

// A panic of the source reaches the caller of Schedule, and the call has no effect.
func TestG14SourceOfJitterPanicsInSchedule(t *testing.T) {
	source := &failing{}
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		func() {
			defer func() { coretest.Want(t, "panic", recover(), any(errSource)) }()
			_, _ = ex.Schedule(time.Second, func() { t.Error("G3: it ran") })
		}()
		source.n.Store(1)
		timer := mustSchedule(t, ex, time.Second, func() {})
		time.Sleep(time.Hour)
		coretest.Want(t, "G20: timers scheduled", ex.Stats().TimersScheduled, 1)
		coretest.WantErr(t, "Err", timer.Err(), nil)
	}, core.WithTimerJitter(time.Second, source))
}

// On the loop a panic of the source ends the executor, which completes its timers.
func TestG15SourceOfJitterPanicsOnTheLoop(t *testing.T) {
	for name, schedule := range map[string]func(core.EventExecutor, func()) (*core.Timer, error){
		"rate": func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleAtFixedRate(0, time.Second, body)
		},
		"delay": func(ex core.EventExecutor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(0, time.Second, body)
		},
	} {
		source := &failing{}
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, ex core.EventExecutor) {
				source.n.Store(1)
				timer, err := schedule(ex, func() {})
				coretest.Must(t, err)
				coretest.AwaitDone(t, ex)
				coretest.WantErr(t, "G15: Err", ex.Termination().Err(), errSource)
				coretest.WantErr(t, "G9: Err of the timer", timer.Err(), core.ErrCancelled)
				checkConserved(t, ex.Stats())
			}, core.WithTimerJitter(time.Second, source))
		})
	}
}

// alone is a source that counts calls during another call.
type alone struct {
	inside, overlaps atomic.Int64
}

func (a *alone) Uint64() uint64 {
	if a.inside.Add(1) > 1 {
		a.overlaps.Add(1)
	}
	runtime.Gosched()
	a.inside.Add(-1)
	return 0
}

// Executors that share an option read its source one at a time.
func TestJitterSharesItsSource(t *testing.T) {
	var source alone
	opt := core.WithTimerJitter(time.Second, &source)
	var callers sync.WaitGroup
	for range 4 {
		ex := coretest.NewExecutor(t, opt)
		callers.Go(func() {
			for range 500 {
				timer, err := ex.Schedule(time.Hour, func() {})
				if err != nil {
					t.Errorf("Schedule: %v", err)
					return
				}
				timer.Reset(time.Hour)
			}
		})
	}
	callers.Wait()
	coretest.Want(t, "calls of the source during another one", source.overlaps.Load(), 0)
}

// Without the option, many timers of one period run at once; with it they are spread.
func TestJitterSpreadsRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, ex core.EventExecutor) {
		at := map[time.Time]int{}
		for range 100 {
			mustSchedule(t, ex, time.Second, func() { at[time.Now()]++ })
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(at) < 99 {
			t.Errorf("100 timers ran at %d instants, want 99 or more", len(at))
		}
	}, core.WithTimerJitter(time.Second, rand.NewPCG(1, 2)))
}

// G7: the least value of a source gives no delay, and the largest one the longest delay below the bound.
func TestG7JitterOfTheLeastAndTheLargestValue(t *testing.T) {
	const bound = time.Minute
	for source, want := range map[constant]time.Duration{0: 0, longest: bound - 1} {
		onBoth(t, func(t *testing.T, ex core.EventExecutor) {
			now := time.Now()
			coretest.Want(t, "the delay", mustSchedule(t, ex, time.Hour, func() {}).Deadline().Sub(now), time.Hour+want)
		}, core.WithTimerJitter(bound, source))
	}
}
