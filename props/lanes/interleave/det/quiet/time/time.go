// Package time is the look-alike of time for those who only write down when things
// happened: to read the clock is no scheduling point for them.
package time

import (
	real "time"

	"eventide/props/lanes/interleave/det"
	dettime "eventide/props/lanes/interleave/det/time"
)

// What has nothing to do with a clock is time's own.
type (
	Duration = real.Duration
	Time     = real.Time
)

// Timer is time.Timer. To set one is a scheduling point for everybody.
type Timer = dettime.Timer

// AfterFunc is time.AfterFunc.
func AfterFunc(d Duration, f func()) *Timer { return dettime.AfterFunc(d, f) }

// Units of Duration.
const (
	Nanosecond  = real.Nanosecond
	Microsecond = real.Microsecond
	Hour        = real.Hour
	Millisecond = real.Millisecond
	Second      = real.Second
	Minute      = real.Minute
)

// Now is time.Now.
//
//go:norace
func Now() Time { return det.QuietNow() }

// Since is time.Since.
//
//go:norace
func Since(t Time) Duration { return det.QuietNow().Sub(t) }

// Until is time.Until.
//
//go:norace
func Until(t Time) Duration { return t.Sub(det.QuietNow()) }

// NewTimer is time.NewTimer.
func NewTimer(d Duration) *Timer { return dettime.NewTimer(d) }

// After is time.After.
func After(d Duration) <-chan Time { return dettime.After(d) }

// Sleep is time.Sleep.
//
//go:norace
func Sleep(d Duration) { det.Sleep(d) }
