package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
)

// firedClock is a clock whose alarms have all fired, and whose calls the test makes later.
type firedClock struct{ calls []func() }

func (*firedClock) Now() time.Time { return time.Now() }
func (c *firedClock) AfterFunc(_ time.Duration, f func()) core.Alarm {
	c.calls = append(c.calls, f)
	return firedAlarm{}
}

type firedAlarm struct{}

func (firedAlarm) Stop() bool               { return false }
func (firedAlarm) Reset(time.Duration) bool { return false }

// TestG24CloseAwaitsALateAlarm: Close of a poller returns when the call of its alarm has begun, and no earlier, also if a wake-up
// is pending: an executor's Done must not close while a goroutine of its clock is about to call it.
func TestG24CloseAwaitsALateAlarm(t *testing.T) {
	for name, wakes := range map[string]int{"no wake-up": 0, "a wake-up": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &firedClock{}
				p := core.NewParkPoller(c)
				p.Wake()
				if err := p.Wait(time.Now().Add(time.Hour)); err != nil || len(c.calls) != 1 {
					t.Fatalf("Wait: %v with %d alarms, want nil and 1", err, len(c.calls))
				}
				for range wakes {
					p.Wake()
				}
				closed := make(chan error, 1)
				go func() { closed <- p.Close() }()
				synctest.Wait()
				if len(closed) > 0 {
					t.Error("G24: Close returns before the call of the alarm, want it to wait")
				}
				c.calls[0]()
				synctest.Wait()
				if len(closed) == 0 {
					t.Fatal("G24: Close has not returned after the call of the alarm")
				}
				if err := <-closed; err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		})
	}
}
