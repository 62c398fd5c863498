package poll

import "time"

// Clock is documented as core.Clock.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Alarm
}

// Alarm is documented as core.Alarm.
type Alarm interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// Deadline is core.Deadline: a moment on a Clock. The zero value is "never".
type Deadline = time.Time

// SystemClock is the runtime's monotonic clock.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (SystemClock) AfterFunc(d time.Duration, f func()) Alarm { return time.AfterFunc(d, f) }
