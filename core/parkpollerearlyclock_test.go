package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// earlyClock is a clock before year 1, whose first alarm goes off at once.
type earlyClock struct {
	now   time.Time
	delay time.Duration // of the alarm
}

func (c *earlyClock) Now() time.Time { return c.now }

func (c *earlyClock) AfterFunc(d time.Duration, f func()) core.Alarm {
	c.delay = d
	return time.AfterFunc(0, f)
}

// TestG7FirstAlarmOfAnEarlyClock: no alarm has gone off before the first one, so the first one has the delay that is left,
// also on a clock whose times are before the zero time.
func TestG7FirstAlarmOfAnEarlyClock(t *testing.T) {
	c := &earlyClock{now: time.Time{}.Add(-time.Hour)}
	p := core.NewParkPoller(c)
	coretest.Must(t, p.Wait(c.now.Add(time.Microsecond)))
	coretest.Want(t, "the delay of the first alarm", c.delay, time.Microsecond)
	coretest.Must(t, p.Close())
}
