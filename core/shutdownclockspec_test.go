package core_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

// shutdownCall is a shutdown call.
type shutdownCall struct {
	graceful       bool
	quiet, timeout time.Duration
}

// clockCalls are the calls that the clock makes as it is read for the first time in a shutdown call, and as it sets the first
// alarm, which takes a time.
type clockCalls struct {
	reading, setting []shutdownCall
	takes            time.Duration
}

// mostOfAlarm is the longest time that the clock takes to set the alarm.
const mostOfAlarm = 3 * time.Second

func drawShutdownCall(t *rapid.T) shutdownCall {
	c := shutdownCall{graceful: rapid.Bool().Draw(t, "graceful")}
	if c.graceful {
		c.timeout = rapid.SampledFrom([]time.Duration{0, 2 * time.Second, time.Hour}).Draw(t, "timeout")
		c.quiet = min(c.timeout, rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "quiet"))
	}
	return c
}

// lengthen makes the quiet period longer than the alarm takes, or as long as the timeout, which closes admission in the call
// itself. The period counts from the reading of the clock, and an idle loop would end it beside the calls that follow.
func (c *shutdownCall) lengthen() { c.quiet = min(c.timeout, mostOfAlarm+time.Second) }

// callingClock is the clock of the bubble. On one goroutine it calls reading and setting, each once.
type callingClock struct {
	on               atomic.Int64 // the goroutine
	reading, setting func()
}

func (c *callingClock) ask(f *func()) {
	if c.on.Load() == goid.Get() && *f != nil {
		call := *f
		*f = nil
		call()
	}
}

func (c *callingClock) Now() time.Time {
	c.ask(&c.reading)
	return time.Now()
}

func (c *callingClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	alarm := time.AfterFunc(d, f)
	c.ask(&c.setting)
	return alarm
}

// shutdownSpec specifies what shutdown calls do to an executor that runs a body, if busy, and has nothing else to do.
type shutdownSpec struct {
	clockCalls     // that are still to come
	busy           bool
	called, closed bool
	quiet, timeout time.Duration
	cause          error
	admits         []string
}

func (s *shutdownSpec) call(c shutdownCall) {
	op, begun := core.OpShutdown, s.closed
	if c.graceful {
		op, begun = core.OpShutdownGracefully, s.called
	}
	if begun {
		return
	}
	s.calls(&s.reading)
	fired := false
	if c.timeout > 0 {
		fired = s.takes >= c.timeout
		s.takes = 0
		s.calls(&s.setting)
	}
	first := !s.called
	closes := !s.closed && (!c.graceful || first && (c.timeout == 0 || fired))
	s.admits = append(s.admits, fmt.Sprintf("%v:%v", op, first || closes))
	if first {
		s.called, s.quiet, s.timeout = true, c.quiet, c.timeout
	}
	if closes {
		s.closed, s.cause = true, core.ErrShutdown
		if c.graceful && (s.busy || c.quiet > 0) {
			s.cause = core.ErrShutdownTimeout
		}
	}
}

// calls makes the calls of the clock, once.
func (s *shutdownSpec) calls(of *[]shutdownCall) {
	calls := *of
	*of = nil
	for _, c := range calls {
		s.call(c)
	}
}

// TestPropG16ShutdownCallsInsideTheClock: a shutdown call reads the clock of the user, and sets an alarm, before it changes
// anything. Other shutdown calls come meanwhile, and the alarm may fire. The first call that changes something sets the quiet
// period and the timeout, later ones only close admission, and each call is traced with what it did (G1, G11, G16).
func TestPropG16ShutdownCallsInsideTheClock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 4 {
			call := drawShutdownCall(rt)
			clock := clockCalls{
				rapid.SliceOfN(rapid.Custom(drawShutdownCall), 0, 2).Draw(rt, "as the clock is read"), rapid.SliceOfN(rapid.Custom(drawShutdownCall), 0, 2).Draw(rt, "as the alarm is set"),
				rapid.SampledFrom([]time.Duration{0, 0, time.Second, mostOfAlarm}).Draw(rt, "to set the alarm takes"),
			}
			busy, started := rapid.Bool().Draw(rt, "a body runs"), rapid.Bool().Draw(rt, "started")
			if !busy {
				call.lengthen()
				for _, calls := range [][]shutdownCall{clock.reading, clock.setting} {
					for i := range calls {
						calls[i].lengthen()
					}
				}
			}
			checkInBubble(t, rt, func(t *testing.T) string {
				for _, pool := range []bool{false, true} {
					if wrong := call.run(t, clock, pool, busy, busy || started); wrong != "" {
						return fmt.Sprintf("pool %v: %s", pool, wrong)
					}
				}
				return ""
			})
		}
	})
}

// run returns a description of the first difference, or "".
func (c shutdownCall) run(t *testing.T, calls clockCalls, pool, busy, started bool) string {
	clock, tracer := &callingClock{}, &admitRun{}
	opts := []core.Option{core.WithClock(clock), core.WithTracer(tracer)}
	var ex core.EventExecutor
	if pool {
		ex = coretest.NewPool(t, 1, opts...)
	} else {
		ex = coretest.NewExecutor(t, opts...)
	}
	if started {
		coretest.OnLoop(t, ex, func() {})
	}
	release := make(chan struct{})
	if busy {
		coretest.MustExecute(t, ex, func() { <-release })
	}
	synctest.Wait()
	tracer.events = nil
	play := func(calls []shutdownCall) {
		for _, inner := range calls {
			inner.make(t, ex)
		}
	}
	clock.reading = func() { play(calls.reading) }
	clock.setting = func() {
		time.Sleep(calls.takes) // of the bubble
		play(calls.setting)
	}
	clock.on.Store(goid.Get())
	c.make(t, ex)
	clock.on.Store(0)
	tracer.mu.Lock()
	admits := tracer.events
	tracer.mu.Unlock()
	spec := &shutdownSpec{clockCalls: calls, busy: busy}
	spec.call(c)
	report, cause := ex.Termination().Report(), context.Cause(ex.Context())
	synctest.Wait()
	close(release)
	coretest.AwaitDoneWithin(t, ex, 2*time.Hour)
	switch ended := context.Cause(ex.Context()); {
	case !slices.Equal(admits, spec.admits):
		return fmt.Sprintf("G16: the tracer has %v, want %v", admits, spec.admits)
	case report.Quiet != spec.quiet || report.Timeout != spec.timeout:
		return fmt.Sprintf("G16: the quiet period is %v and the timeout %v, want %v, %v", report.Quiet, report.Timeout, spec.quiet, spec.timeout)
	case spec.closed && cause != spec.cause || !spec.closed && cause != nil:
		return fmt.Sprintf("G11: after the call the cause is %v, want %v", cause, spec.cause)
	case report.TimedOut != (cause == core.ErrShutdownTimeout) || ended != cause && cause != nil || ended == nil:
		return fmt.Sprintf("G11: the cause is %v and then %v, and the report has a timeout: %v", cause, ended, report.TimedOut)
	}
	return ""
}

func (c shutdownCall) make(t *testing.T, ex core.EventExecutor) {
	if c.graceful {
		coretest.MustShutdownGracefully(t, ex, c.quiet, c.timeout)
	} else {
		ex.Shutdown()
	}
}
