package props

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/props/history"
	"eventide/props/interleave/control"
)

// Clock is the clock of a program.
type Clock string

// The clocks.
const (
	ClockCounted Clock = ""        // the virtual time; its alarms are counted, and its faults are those of the program
	ClockSystem  Clock = "system"  // none is given: the executor takes the runtime's, whose time is virtual too
	ClockRounded Clock = "rounded" // Now is a multiple of clockGrain, and so behind the alarms
)

const (
	// clockGrain divides no point of the grid but zero and 15 ms.
	clockGrain = 3 * time.Millisecond

	// roundedLate is how late work may begin on a rounded clock: by the grain, and by the last pause
	// between two readings of the clock, which is no longer than the time before it.
	roundedLate = 2*clockGrain + time.Millisecond

	// roundedTurns is in how many turns a loop may find its clock behind an alarm: the pauses between
	// two readings double from 0.1 ms, and there is one more of the wake-up before them.
	roundedTurns = 7

	// backStep is how far the clock goes back at a time, and backMost how far in all.
	// It may be behind the making of the executor then.
	backStep = 20 * time.Millisecond
	backMost = 2 * backStep

	// aheadStep is how far the clock jumps ahead at a time, and aheadMost how far in all.
	aheadStep = 5 * time.Millisecond
	aheadMost = 2 * aheadStep
)

// Faults of the clock. Each panic comes once.
const (
	FaultNow   Fault = "now panics"
	FaultAlarm Fault = "alarm panics" // as it is set
	FaultStop  Fault = "stop panics"  // after it was stopped
	FaultBack  Fault = "goes back"
	FaultAhead Fault = "jumps ahead" // alarms that are set stay where they are, and so are late
)

// jumps reports whether the clock only shows another time from now on.
func (f Fault) jumps() bool { return f == FaultBack || f == FaultAhead }

// faultsOfClocks lists the faults of a clock.
var faultsOfClocks = []Fault{FaultNow, FaultNow, FaultAlarm, FaultStop, FaultBack}

// errClock is in the chain of each panic of the clock.
var errClock = errors.New("props: the clock is broken")

// errStop is the panic of an alarm that is stopped.
var errStop = fmt.Errorf("%w: Stop panics", errClock)

// clock is the bubble's virtual time. It counts the alarms that are set.
type clock struct {
	h     *harness      // set once; nil: the clock has no faults
	of    *harness      // set once
	start time.Time     // set once
	grain time.Duration // set once; 0: Now is exact

	shift atomic.Int64 // how far the clock is ahead of the virtual time; negative: behind

	mu      control.Mutex
	set     map[*alarm]struct{}
	planned map[Fault]bool
	maybe   error // a failure that may have ended the executor
	stopped error // of an alarm as it was stopped
}

// alarm is one call of AfterFunc.
type alarm struct {
	clock *clock
	timer *time.Timer
}

// reading returns the time that the clock shows, without faults.
func (c *clock) reading() time.Time {
	now := time.Now()
	if c.grain > 0 {
		now = c.start.Add(now.Sub(c.start).Truncate(c.grain))
	}
	return now.Add(time.Duration(c.shift.Load()))
}

// Now implements core.Clock.
func (c *clock) Now() time.Time {
	if c.of != nil && c.of.ex != nil {
		c.of.lookAtState()
	}
	c.called(FaultNow)
	return c.reading()
}

// called panics if the fault is planned.
func (c *clock) called(how Fault) {
	if c.h == nil || c.h.ex == nil {
		return
	}
	if c.fires(how) {
		if c.h.ex.InEventLoop() && !c.h.rec.calling() {
			c.h.rec.fault(history.Errored)
		}
		panic(errClock)
	}
}

func (c *clock) fires(how Fault) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.planned[how] {
		return false
	}
	delete(c.planned, how)
	if how == FaultStop {
		c.stopped = errStop
	} else {
		c.maybe = errClock
	}
	return true
}

// fail makes the clock fail in the given way.
func (c *clock) fail(how Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.h == nil:
	case how == FaultBack:
		c.shift.Store(max(c.shift.Load()-int64(backStep), -int64(backMost)))
	case how == FaultAhead:
		c.shift.Store(min(c.shift.Load()+int64(aheadStep), int64(aheadMost)))
	default:
		if c.planned == nil {
			c.planned = map[Fault]bool{}
		}
		c.planned[how] = true
	}
}

// AfterFunc implements core.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.called(FaultAlarm)
	a := &alarm{clock: c}
	c.mark(a, true)
	a.timer = time.AfterFunc(d, func() {
		c.mark(a, false)
		f()
	})
	return a
}

// Stop implements core.Alarm.
func (a *alarm) Stop() bool {
	a.clock.mark(a, false)
	stopped := a.timer.Stop()
	if a.clock.h != nil && a.clock.fires(FaultStop) {
		panic(errStop)
	}
	return stopped
}

// Reset implements core.Alarm.
func (a *alarm) Reset(d time.Duration) bool {
	a.clock.called(FaultAlarm)
	a.clock.mark(a, true)
	return a.timer.Reset(d)
}

func (c *clock) mark(a *alarm, set bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		c.set = make(map[*alarm]struct{})
	}
	if set {
		c.set[a] = struct{}{}
	} else {
		delete(c.set, a)
	}
}

// pending returns how many alarms are set.
func (c *clock) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.set)
}

// withoutPanic makes a call and reports whether a panic of the clock has ended it. Such a call has
// had no effect.
func withoutPanic(call func() history.Outcome) (out history.Outcome, panicked bool) {
	defer func() {
		v := recover()
		if err, is := v.(error); is && errors.Is(err, errClock) {
			out, panicked = history.Returned, true
		} else if v != nil {
			panic(v)
		}
	}()
	return call(), false
}

// clockFaults reports whether the clock of the program has faults.
func (p Program) clockFaults() bool {
	return p.Clock == ClockCounted && p.AnyStep(func(s *Step) bool { return s.Env == EnvClock })
}
