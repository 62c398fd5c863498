package epoll

import (
	"io"
	"testing"
	"testing/synctest"
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

// TestG24CloseAwaitsTheCallOfAnAlarm: the call of an alarm writes to a descriptor that Close closes, and
// whose number another file may get. So Close returns after a call that has begun.
func TestG24CloseAwaitsTheCallOfAnAlarm(t *testing.T) {
	for name, open := range map[string]func(poll.Clock) (io.Closer, *set, error){
		"netpoll": func(clock poll.Clock) (io.Closer, *set, error) {
			p, err := NewNetpoll(clock, 0, System())
			return p, &p.set, err
		},
		"blocking": func(clock poll.Clock) (io.Closer, *set, error) {
			p, err := NewBlocking(clock, System())
			return p, &p.set, err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := &callClock{}
			p, s, err := open(clock)
			if err != nil {
				t.Fatal(err)
			}
			s.alarm = newWakeAlarm(clock, time.Second, func() {})
			closed := make(chan error, 1)
			go func() { closed <- p.Close() }()
			synctest.Wait()
			select {
			case err := <-closed:
				t.Errorf("G24: %s: Close returned %v before the call of the alarm had ended", name, err)
			default:
				clock.call()
				if err := <-closed; err != nil {
					t.Errorf("%s: Close returned %v", name, err)
				}
			}
		})
	}
}
