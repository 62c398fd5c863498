package core_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// A timeoutCall is one shutdown call, on a goroutine of its own.
type timeoutCall struct {
	graceful bool
	at       time.Duration
	timeout  time.Duration // of ShutdownGracefully
	takes    time.Duration // by the clock, to set the alarm; the alarm may be over before
	stops    bool          // the alarm; otherwise Stop panics
}

// slowAlarms is the system's clock, which takes some time to set an alarm of a given duration, and may not
// be able to stop it.
type slowAlarms map[time.Duration]timeoutCall

func (slowAlarms) Now() time.Time { return time.Now() }

func (c slowAlarms) AfterFunc(d time.Duration, f func()) core.Alarm {
	alarm := time.AfterFunc(d, f)
	call, given := c[d]
	time.Sleep(call.takes)
	if given && !call.stops {
		return unstoppable{alarm}
	}
	return alarm
}

type unstoppable struct{ core.Alarm }

func (unstoppable) Stop() bool { panic("the alarm cannot be stopped") }

// TestPropG11Timeout compares when and why shutdown calls close admission with a specification, beside a body
// that does not end: the timeout of the first call counts, from the call on, however long its clock takes.
func TestPropG11Timeout(t *testing.T) {
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) timeoutCall {
		millis := func(label string) time.Duration {
			return time.Duration(rapid.IntRange(0, 9).Draw(t, label)) * time.Millisecond
		}
		return timeoutCall{rapid.IntRange(0, 4).Draw(t, "graceful") > 0, millis("at"), millis("timeout"), millis("takes"), rapid.Bool().Draw(t, "stops")}
	}), 1, 5)
	rapid.Check(t, func(rt *rapid.T) {
		calls := program.Draw(rt, "calls")
		for i := range calls { // no two at one instant, and no two alarms alike
			calls[i].at += time.Duration(i) * time.Microsecond
			if calls[i].timeout > 0 {
				calls[i].timeout += time.Duration(i)
				calls[i].takes += 500 // the alarm is over before, or it is not
			} else {
				calls[i].takes = 0 // it sets none
			}
		}
		want, got := closeByTimeout(calls), ""
		for name, open := range map[string]func(t *testing.T, o ...core.Option) core.EventExecutor{
			"executor": func(t *testing.T, o ...core.Option) core.EventExecutor { return coretest.NewExecutor(t, o...) },
			"pool":     func(t *testing.T, o ...core.Option) core.EventExecutor { return coretest.NewPool(t, 2, o...) },
		} {
			synctest.Test(t, func(t *testing.T) {
				clock := slowAlarms{}
				for _, c := range calls {
					clock[c.timeout] = c
				}
				var left atomic.Int64 // lines of alarms that could not be stopped
				logger := newHooked(func(message string) {
					if strings.Contains(message, "alarm of a second shutdown call") {
						left.Add(1)
					}
				})
				got = playTimeouts(open(t, core.WithClock(clock), core.WithLogger(logger)), calls)
				got += fmt.Sprintf("; %d alarms left", left.Load())
			})
			if got != want {
				rt.Fatalf("G11: %s: %s, want %s", name, got, want)
			}
		}
	})
}

// playTimeouts makes the calls, and returns how admission was closed.
func playTimeouts(ex core.EventExecutor, calls []timeoutCall) string {
	gate := make(chan struct{})
	_ = ex.Execute(func() { <-gate })
	start := time.Now()
	var callers sync.WaitGroup
	for _, c := range calls {
		callers.Go(func() {
			time.Sleep(c.at)
			if c.graceful {
				_, _ = ex.ShutdownGracefully(0, c.timeout)
			} else {
				ex.Shutdown()
			}
		})
	}
	closed := "it was not closed"
	select {
	case <-ex.Context().Done():
		closed = fmt.Sprintf("closed after %v: %v", time.Since(start), context.Cause(ex.Context()))
	case <-time.After(time.Hour):
		ex.Shutdown()
	}
	synctest.Wait()
	timedOut := ex.Termination().Report().TimedOut
	close(gate)
	<-ex.Termination().Done()
	callers.Wait()
	return fmt.Sprintf("%s; timed out %v", closed, timedOut)
}

// closeByTimeout returns what playTimeouts must return, and the number of alarms that could not be stopped. A call
// takes effect when its alarm is set. It sets none if another call has taken effect.
func closeByTimeout(calls []timeoutCall) string {
	const none = time.Hour
	first, at, cause := none, none, core.ErrShutdown
	for _, c := range calls {
		effect := c.at
		if c.graceful {
			effect += c.takes
		}
		if effect < first {
			first = effect
			if at, cause = c.at, core.ErrShutdown; c.graceful {
				at, cause = c.at+max(c.takes, c.timeout), core.ErrShutdownTimeout
			}
		}
	}
	for _, c := range calls {
		if !c.graceful && c.at < at {
			at, cause = c.at, core.ErrShutdown
		}
	}
	left := 0
	for _, c := range calls {
		if c.graceful && c.timeout > c.takes && c.at < first && c.at+c.takes > first && !c.stops {
			left++
		}
	}
	return fmt.Sprintf("closed after %v: %v; timed out %v; %d alarms left", at, cause, cause == core.ErrShutdownTimeout, left)
}
