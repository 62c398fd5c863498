package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// lateClock is the system's, whose alarms go off late: when they are let.
type lateClock struct {
	due     chan struct{} // an alarm is due
	release chan struct{}
}

func (lateClock) Now() time.Time { return time.Now() }

func (c lateClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	return time.AfterFunc(d, func() {
		c.due <- struct{}{}
		<-c.release
		f()
	})
}

// TestG24CloseAwaitsALateAlarm: Close of a poller returns when the call of its alarm has begun, and no earlier, also if a wake-up
// is pending: an executor's Done must not close while a goroutine of its clock is about to call it.
func TestG24CloseAwaitsALateAlarm(t *testing.T) {
	for name, wakes := range map[string]int{"no wake-up": 0, "a wake-up": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := lateClock{due: make(chan struct{}), release: make(chan struct{})}
				p := core.NewParkPoller(c)
				p.Wake()
				coretest.Must(t, p.Wait(time.Now().Add(time.Hour)))
				<-c.due // in an hour
				for range wakes {
					p.Wake()
				}
				closed := make(chan error, 1)
				go func() { closed <- p.Close() }()
				synctest.Wait()
				if len(closed) > 0 {
					t.Error("G24: Close returns before the call of the alarm, want it to wait")
				}
				close(c.release)
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
