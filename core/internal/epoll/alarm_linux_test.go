package epoll

import (
	"testing"
	"time"

	"eventide/core/internal/poll"
)

// callClock gives the function of an alarm to the test, which calls it.
type callClock struct{ call func() }

func (*callClock) Now() time.Time { return time.Time{} }
func (c *callClock) AfterFunc(_ time.Duration, f func()) poll.Alarm {
	c.call = f
	return passedAlarm{}
}

// passedAlarm is an alarm whose call has begun.
type passedAlarm struct{}

func (passedAlarm) Stop() bool               { return false }
func (passedAlarm) Reset(time.Duration) bool { return false }

// TestG24AnAlarmIsOverAfterItsWakeUp: while the call of an alarm wakes the poller, the alarm is not over, so Close waits before
// it closes the descriptor that the call writes to. It is over after a wake-up that panics, too.
func TestG24AnAlarmIsOverAfterItsWakeUp(t *testing.T) {
	for _, panics := range []bool{false, true} {
		clock, woken := &callClock{}, false
		var a *wakeAlarm
		a = newWakeAlarm(clock, time.Second, func() {
			woken = true
			if a.isOver() {
				t.Error("G24: the alarm is over while it wakes the poller")
			}
			if panics {
				panic("of a wake-up")
			}
		})
		func() {
			defer func() { _ = recover() }()
			clock.call()
		}()
		if !woken || !a.isOver() {
			t.Errorf("G24: woken is %v and over is %v after the call, want true of both (the wake-up panics: %v)", woken, a.isOver(), panics)
		}
	}
}
