package core_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// failingClock is the clock of the bubble. From call number at on, counted on the goroutines of ex alone, it panics, or its
// AfterFunc calls runtime.Goexit.
type failingClock struct {
	ex    atomic.Pointer[core.EventExecutor]
	exits bool
	at    int64
	calls atomic.Int64
}

// hasFailed reports whether a call has failed.
func (c *failingClock) hasFailed() bool { return c.calls.Load() >= c.at }

func (c *failingClock) broken() bool {
	ex := c.ex.Load()
	return ex != nil && (*ex).InEventLoop() && c.calls.Add(1) >= c.at
}

func (c *failingClock) Now() time.Time {
	if c.broken() {
		panic(errClock)
	}
	return time.Now()
}

func (c *failingClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	if c.broken() {
		if c.exits {
			runtime.Goexit()
		}
		panic(errClock)
	}
	return time.AfterFunc(d, f)
}

// failingClockJitter draws no jitter, and counts the calls by the loop after a failure.
type failingClockJitter struct {
	*failingClock
	late atomic.Int64
}

func (j *failingClockJitter) Uint64() uint64 {
	if ex := j.ex.Load(); ex != nil && (*ex).InEventLoop() && j.hasFailed() {
		j.late.Add(1)
	}
	return 0
}

// clockProgram is what an executor, or a pool of a size, does until its clock fails.
type clockProgram struct {
	size          int // 0: an executor
	policy        core.TimersAtShutdown
	tasks, timers []time.Duration
	period        time.Duration // of the first timer; 0: none
	shutdown      string        // "graceful" or "now", after a second; "": none before the failure
}

// TestPropG15ClocksThatFail: whenever the clock of a loop or of a worker fails, the executor ends with this failure. It runs
// what it has accepted and cancels its timers. Each sleep has an end, no loop wakes itself, and the report is that of a shutdown
// without a quiet period and a timeout, unless a shutdown call came first. The loop draws no jitter any more (G3, G9, G12, G15, G16, G20).
func TestPropG15ClocksThatFail(t *testing.T) {
	times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 0, 1, 300, 700, 1500, 4000}).Draw(t, "time")) * time.Millisecond
	}), 0, 5)
	rapid.Check(t, func(rt *rapid.T) {
		p := clockProgram{
			size: rapid.IntRange(0, 3).Draw(rt, "size"), policy: rapid.SampledFrom(policies).Draw(rt, "policy"),
			tasks: times.Draw(rt, "tasks"), timers: times.Draw(rt, "timers"),
			period:   time.Duration(rapid.IntRange(0, 2).Draw(rt, "period")) * 400 * time.Millisecond,
			shutdown: rapid.SampledFrom([]string{"", "", "graceful", "now"}).Draw(rt, "shutdown"),
		}
		clock := &failingClock{exits: rapid.Bool().Draw(rt, "AfterFunc exits"), at: int64(rapid.IntRange(1, 25).Draw(rt, "fails at call"))}
		checkInBubble(t, rt, func(t *testing.T) string { return p.run(t, clock) })
	})
}

// run returns a description of the first difference, or "".
func (p clockProgram) run(t *testing.T, clock *failingClock) string {
	var r recorder
	var ran, timersRan, late atomic.Int64
	logger, log := textLogger()
	jitter := &failingClockJitter{failingClock: clock}
	opts := []core.Option{
		core.WithClock(clock), core.WithTracer(&r), core.WithLogger(logger), core.WithTimersAtShutdown(p.policy), core.WithTimerJitter(1, jitter),
	}
	var ex core.EventExecutor
	if p.size == 0 {
		ex = coretest.NewExecutor(t, opts...)
	} else {
		ex = coretest.NewPool(t, p.size, opts...)
	}
	clock.ex.Store(&ex)
	accepted := int64(0)
	for _, takes := range p.tasks {
		if ex.Execute(func() { ran.Add(1); time.Sleep(takes) }) == nil {
			accepted++
		}
	}
	var timers []*core.Timer
	for i, delay := range p.timers {
		schedule, body := ex.Schedule, func() {
			timersRan.Add(1)
			if clock.hasFailed() {
				late.Add(1)
			}
		}
		if i == 0 && p.period > 0 {
			schedule = func(delay time.Duration, body func()) (*core.Timer, error) {
				return ex.ScheduleAtFixedRate(delay, p.period, body)
			}
		}
		if timer, err := schedule(delay, body); err == nil {
			timers = append(timers, timer)
		}
	}
	time.Sleep(time.Second + 500*time.Microsecond) // nothing else happens then
	synctest.Wait()
	want := [2]time.Duration{}
	switch {
	case p.shutdown == "graceful":
		if ex.State() < core.StateShuttingDown {
			want = [2]time.Duration{time.Second, time.Minute}
		}
		coretest.MustShutdownGracefully(t, ex, time.Second, time.Minute)
	case p.shutdown == "now":
		ex.Shutdown()
	}
	time.Sleep(time.Hour)
	open := ex.State() < core.StateShuttingDown // the clock, if it fails at all, fails in the shutdown
	ex.Shutdown()
	report := coretest.AwaitDoneWithin(t, ex, time.Hour)
	synctest.Wait()
	s, err := ex.Stats(), ex.Termination().Err()
	failed := strings.Contains(log.String(), " failed\" ")
	isFailure := func(err error) bool {
		return errors.Is(err, errClock) || clock.exits && errors.Is(err, core.ErrGoexit)
	}
	switch {
	case failed != isFailure(err) || !failed && err != nil:
		return fmt.Sprintf("G15: the clock fails at call %d, and the end is %v; the log is %q", clock.at, err, log)
	case failed && p.shutdown == "" && !open && !isFailure(context.Cause(ex.Context())):
		return fmt.Sprintf("G11: the cause of Context is %v, want %v", context.Cause(ex.Context()), err)
	case failed && p.size < 2 && strings.Count(log.String(), " failed\" ") != 1:
		return fmt.Sprintf("G15: one failure is logged as %q", log)
	case jitter.late.Load() > 0 && p.size < 2:
		return fmt.Sprintf("G15: the loop draws jitter %d times after the failure", jitter.late.Load())
	case late.Load() > 0 && p.size < 2:
		return fmt.Sprintf("G15: %d timers have run after the failure", late.Load())
	case report.TimedOut || report.Quiet != want[0] || report.Timeout != want[1]:
		return fmt.Sprintf("G16: the report is %+v, want the quiet period and the timeout %v", report, want)
	case s.Accepted != accepted || ran.Load() != accepted || s.Ran != accepted || s.TimersRun != timersRan.Load():
		return fmt.Sprintf("G3, G20: %d tasks were accepted, %d ran, and %d timers: %+v", accepted, ran.Load(), timersRan.Load(), s)
	case s.Timers != 0 || s.TimersScheduled != int64(len(timers)) || s.TimersEnded+s.TimersCancelled != s.TimersScheduled:
		return fmt.Sprintf("G9: %d timers were accepted: %+v", len(timers), s)
	}
	for i, timer := range timers {
		select {
		case <-timer.Done():
		default:
			return fmt.Sprintf("G9: timer %d has not ended", i)
		}
		if err := timer.Err(); err != nil && err != core.ErrCancelled {
			return fmt.Sprintf("G9: timer %d ended with %v", i, err)
		}
	}
	return sleepsOf(r.all(), s, p.size < 2)
}

// sleepsOf compares the traced sleeps with the counts. Each goroutine ends one sleep before it begins another, and a single loop
// does not wake itself.
func sleepsOf(events []core.Event, s core.Stats, single bool) string {
	asleep, parks, wakes := map[int64]bool{}, int64(0), int64(0)
	for _, ev := range events {
		switch ev.Kind {
		case core.EventPark, core.EventUnpark:
			if begins := ev.Kind == core.EventPark; asleep[ev.Goroutine] == begins {
				return fmt.Sprintf("G12: goroutine %d has a second %v in a row", ev.Goroutine, ev.Kind)
			} else if asleep[ev.Goroutine] = begins; begins {
				parks++
			}
		case core.EventWake:
			wakes++
			if _, slept := asleep[ev.Goroutine]; slept && single {
				return "G12: a loop wakes itself"
			}
		}
	}
	for id, still := range asleep {
		if still {
			return fmt.Sprintf("G12: the last sleep of goroutine %d has no end", id)
		}
	}
	if parks != s.Parks || wakes != s.Wakes {
		return fmt.Sprintf("G20: %d sleeps and %d wake-ups were traced, and the counts are %+v", parks, wakes, s)
	}
	return ""
}
