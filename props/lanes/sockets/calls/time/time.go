// Package time has the names of package time that the spinner of core's pollers uses, for the
// model of the kernel. Virtual time stands still while a goroutine runs, so a spin would never end:
// here each reading of the clock takes turn.
package time

import (
	"sync/atomic"
	"time"
)

// The names of package time.
type (
	Time     = time.Time
	Duration = time.Duration
)

// Microsecond is time.Microsecond.
const Microsecond = time.Microsecond

// turn is the duration of one turn of a spin.
const turn = time.Microsecond

var readings atomic.Int64

// Now is later than the Now before, by turn at least.
func Now() Time { return time.Now().Add(time.Duration(readings.Add(1)) * turn) }

// Since returns the time from t, which Now has returned.
func Since(t Time) Duration { return Now().Sub(t) }
