// Package time is the look-alike of time whose clock is the scheduler's.
package time

import (
	real "time"

	"eventide/props/lanes/interleave/det"
)

// What has nothing to do with a clock is time's own.
type (
	Duration   = real.Duration
	Time       = real.Time
	Location   = real.Location
	Month      = real.Month
	Weekday    = real.Weekday
	ParseError = real.ParseError
)

// Units of Duration.
const (
	Nanosecond  = real.Nanosecond
	Microsecond = real.Microsecond
	Millisecond = real.Millisecond
	Second      = real.Second
	Minute      = real.Minute
	Hour        = real.Hour
	RFC3339     = real.RFC3339
	RFC3339Nano = real.RFC3339Nano
)

// UTC is time.UTC.
var UTC = real.UTC

// ParseDuration is time.ParseDuration.
func ParseDuration(s string) (Duration, error) { return real.ParseDuration(s) }

// Unix is time.Unix.
func Unix(sec, nsec int64) Time { return real.Unix(sec, nsec) }

// Now is time.Now.
//
//go:norace
func Now() Time { return det.Now() }

// Since is time.Since.
//
//go:norace
func Since(t Time) Duration { return det.Now().Sub(t) }

// Until is time.Until.
//
//go:norace
func Until(t Time) Duration { return t.Sub(det.Now()) }

// Sleep is time.Sleep.
//
//go:norace
func Sleep(d Duration) { det.Sleep(d) }

// Timer is time.Timer.
type Timer struct {
	C <-chan Time

	alarm *det.Alarm
	c     chan Time
}

// AfterFunc is time.AfterFunc.
func AfterFunc(d Duration, f func()) *Timer {
	t := &Timer{alarm: det.NewAlarm(f, false)}
	t.alarm.Set(d)
	return t
}

// NewTimer is time.NewTimer.
func NewTimer(d Duration) *Timer {
	t := &Timer{c: make(chan Time, 1)}
	t.C = t.c
	t.alarm = det.NewAlarm(t.ring, true)
	t.alarm.Set(d)
	return t
}

//go:norace
func (t *Timer) ring() { det.Ring(t.c) }

// After is time.After.
func After(d Duration) <-chan Time { return NewTimer(d).C }

// Stop is Timer.Stop: no stale time comes out of C after it.
//
//go:norace
func (t *Timer) Stop() bool {
	was := t.alarm.Stop()
	return t.drain() || was
}

// Reset is Timer.Reset.
//
//go:norace
func (t *Timer) Reset(d Duration) bool {
	was := t.alarm.Set(d)
	return t.drain() || was
}

//go:norace
func (t *Timer) drain() bool {
	if t.c == nil {
		return false
	}
	select {
	case <-t.c:
		return true
	default:
		return false
	}
}

// Ticker is time.Ticker.
type Ticker struct {
	C <-chan Time

	alarm *det.Alarm
	c     chan Time
	d     Duration
}

// NewTicker is time.NewTicker.
func NewTicker(d Duration) *Ticker {
	if d <= 0 {
		panic("non-positive interval for NewTicker")
	}
	t := &Ticker{c: make(chan Time, 1), d: d}
	t.C = t.c
	t.alarm = det.NewAlarm(t.ring, true)
	t.alarm.Set(d)
	return t
}

//go:norace
func (t *Ticker) ring() {
	det.Ring(t.c)
	t.alarm.Again(t.d)
}

// Tick is time.Tick.
func Tick(d Duration) <-chan Time { return NewTicker(d).C }

// Stop is Ticker.Stop.
//
//go:norace
func (t *Ticker) Stop() { t.alarm.Stop() }

// Reset is Ticker.Reset.
//
//go:norace
func (t *Ticker) Reset(d Duration) {
	t.d = d
	t.alarm.Set(d)
}
