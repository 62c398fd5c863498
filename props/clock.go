package props

import (
	"time"

	"eventide/core"
	"eventide/props/interleave/control"
)

// clock is the bubble's virtual time. It counts the alarms that are set.
type clock struct {
	mu  control.Mutex
	set map[*alarm]struct{}
}

// alarm is one call of AfterFunc.
type alarm struct {
	clock *clock
	timer *time.Timer
}

// Now implements core.Clock.
func (c *clock) Now() time.Time { return time.Now() }

// AfterFunc implements core.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) core.Alarm {
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
	return a.timer.Stop()
}

// Reset implements core.Alarm.
func (a *alarm) Reset(d time.Duration) bool {
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
