package core_test

import (
	"log/slog"
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

// TestG15AnAlarmThatExitsAsThePollerCloses: the loop of an executor and the worker of a pool close their pollers, which stops
// the alarm of their last sleep. If that call panics or calls runtime.Goexit, Done closes all the same, with the error.
func TestG15AnAlarmThatExitsAsThePollerCloses(t *testing.T) {
	clock := stubborn{"", "panics", "exits"}
	for kind, made := range map[string]func(t *testing.T, opts ...core.Option) core.EventExecutor{
		"executor": func(t *testing.T, opts ...core.Option) core.EventExecutor { return coretest.NewExecutor(t, opts...) },
		"pool":     func(t *testing.T, opts ...core.Option) core.EventExecutor { return coretest.NewPool(t, 2, opts...) },
	} {
		for i, want := range []error{nil, errStop, core.ErrGoexit} {
			t.Run(kind+" "+clock[i], func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					ex := made(t, core.WithClock(clock), core.WithLogger(slog.New(slog.DiscardHandler)))
					_, err := ex.Schedule(time.Duration(i+1)*time.Hour, func() {})
					coretest.Must(t, err)
					synctest.Wait()            // a loop or worker sleeps until then, or sets the alarm
					coretest.Pass(time.Minute) // the alarm is set
					ex.Shutdown()
					coretest.AwaitDone(t, ex)
					coretest.WantErr(t, "G15: the error of the end", ex.Termination().Err(), want)
				})
			})
		}
	}
}
