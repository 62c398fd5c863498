package core

import (
	"time"

	"eventide/core/internal/poll"
)

// Clock is the source of all time of an executor, so a program can run in virtual time. The
// default is the runtime's monotonic clock.
//
// Its methods must be safe for concurrent use. Time must not go backwards. The executor never
// calls a Clock while it holds a lock.
//
// Now may be behind the alarms, as with a cached or rounded clock. Timers run, and quiet periods
// end, once Now has reached their deadline. They are late by about that lag at most (G7, G10,
// G12).
//
// A panic of Now or AfterFunc reaches the caller of Schedule or ShutdownGracefully, and
// the call has no effect. On the loop a panic of the clock ends the executor. Shutdown, the
// function that closes admission at the timeout, and termination ignore a panic of Now. If
// Stop panics during termination, Termination.Err has the panic (G15). Now and AfterFunc must not
// call runtime.Goexit.
//
// A Clock has two methods:
//
//	// Now returns the current time. It should carry a monotonic reading.
//	Now() time.Time
//
//	// AfterFunc calls f once, on a goroutine of its own, when d has passed.
//	// It must not call f before it returns.
//	AfterFunc(d time.Duration, f func()) Alarm
type Clock = poll.Clock

// Alarm is a pending call of Clock.AfterFunc. A *time.Timer is one. An Alarm has two
// methods:
//
//	// Stop prevents the call and reports true, or reports false if the call has
//	// begun or was stopped before.
//	Stop() bool
//
//	// Reset moves the call to d from now, and reports whether one was pending.
//	Reset(d time.Duration) bool
type Alarm = poll.Alarm

// Deadline is a moment on the executor's clock. The zero value is "never": a deadline equal
// to the zero Time is moved one nanosecond earlier.
type Deadline = poll.Deadline

// noDeadline is later than any deadline; sums saturate at it (G7).
const noDeadline = int64(1<<63 - 1)

// beforeAll is earlier than any deadline. Do not use -1: on a clock that was set back, deadlines are
// negative.
const beforeAll = int64(-1 << 63)

// now returns the nanoseconds since the executor was made. All internal times are such
// offsets: one word, compared by a single instruction.
func (s *setup) now() int64 {
	if s.cfg.clock == nil {
		return int64(time.Since(s.epoch))
	}
	return int64(s.cfg.clock.Now().Sub(s.epoch))
}

// nowIfItCan returns now, or 0 if the clock panics. A panic of the clock may be the failure
// that the caller handles, so the caller must continue without the clock.
func (s *setup) nowIfItCan() (now int64) {
	defer func() { _ = recover() }()
	return s.now()
}

// Now returns the current time by the executor's clock, which its timers use. Any goroutine
// may call it.
func (e *Executor) Now() time.Time {
	if e.cfg.clock == nil {
		return time.Now()
	}
	return e.cfg.clock.Now()
}

// afterFunc calls AfterFunc of the executor's clock.
func (s *setup) afterFunc(d time.Duration, f func()) Alarm {
	if s.cfg.clock == nil {
		return time.AfterFunc(d, f)
	}
	return s.cfg.clock.AfterFunc(d, f)
}

// deadlineAt converts an offset into a Deadline. The zero Time would mean "never", so it
// is moved one nanosecond earlier (G12). One nanosecond later would be wrong: on a clock
// that stands still the loop would sleep with a timer that is due.
func (s *setup) deadlineAt(at int64) Deadline {
	if at == noDeadline {
		return Deadline{}
	}
	if d := s.epoch.Add(time.Duration(at)); !d.IsZero() {
		return d
	}
	return Deadline{}.Add(-1)
}

// addTime returns at+d for d >= 0, saturating instead of wrapping: a delay of
// MaxInt64 means "never", not "long ago" (netty #7365, #7970; R89).
func addTime(at int64, d time.Duration) int64 {
	if sum := at + int64(d); sum >= at {
		return sum
	}
	return noDeadline
}
