package watch

import (
	"time"

	"eventide/core"
)

// Kind is what a Status is about.
type Kind uint8

// The kinds of a Status.
const (
	KindExecutor Kind = iota // an executor or an event loop
	KindPool
	KindFunctions // a tracked.Group
	KindListener  // a tcp.Listener
)

// Status is what a Watcher knows of one executor, as of its last reading. Names says what a
// Status of another kind has.
type Status struct {
	Name  string
	Kind  Kind
	Stats core.Stats

	// BusyTime is how long the loop was busy since the Watcher has watched it, and Busy
	// the share of the last 10 to 20 seconds in which it was, from 0 to 1. Of a pool
	// BusyTime is summed over the workers that ran a body, and Busy may be as much as
	// their number.
	BusyTime time.Duration
	Busy     float64

	// Lag is how long work waited before it began, and RecentLag the longest wait of the
	// last 10 to 20 seconds.
	Lag       Lag
	RecentLag time.Duration

	// Oldest is for how long at least the oldest accepted task that has not begun has
	// waited. 0: none waits.
	Oldest time.Duration

	// Running are the bodies that run, and of a tracked.Group the functions.
	Running []Running

	Stalls int64 // bodies that have run for longer than the limit

	// Of a listener.
	Connections, RefusedConnections, Pauses int64
}

// Running is a body that runs.
type Running struct {
	Body string        // its kind, or the name of a function
	For  time.Duration // at least
	body core.RunningBody
}

// Longest returns the longest For of Running, or 0.
func (s Status) Longest() (longest time.Duration) {
	for _, r := range s.Running {
		longest = max(longest, r.For)
	}
	return longest
}

// Lag is a distribution of waits (core.Reading.Waits), since the Watcher has watched the
// executor.
type Lag struct {
	Count int64
	Sum   time.Duration

	// Buckets has the number of waits up to each of LagBounds; longer ones are in Count
	// alone.
	Buckets [lagBuckets]int64
}

const lagBuckets = 14

var lagBounds = [lagBuckets]time.Duration{
	100 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 5 * time.Second, 30 * time.Second, time.Minute,
}

// LagBounds returns the upper bounds of Lag.Buckets, in order.
func LagBounds() []time.Duration { return append([]time.Duration(nil), lagBounds[:]...) }

func (l *Lag) add(wait time.Duration) {
	l.Count++
	l.Sum += wait
	for i := lagBuckets - 1; i >= 0 && wait <= lagBounds[i]; i-- {
		l.Buckets[i]++
	}
}

// window is how long a recent value is kept at least; after twice as long it is gone.
const window = 10 * time.Second

// recent keeps what Busy and RecentLag are computed from: the values at the begin of this
// window and of the one before.
type recent struct {
	begun        time.Time
	at, atBefore time.Duration // Elapsed
	busy         time.Duration
	busyBefore   time.Duration
	lag          time.Duration // longest wait
	lagBefore    time.Duration
}

// roll begins a new window if this one is over.
func (r *recent) roll(now time.Time, elapsed, busy time.Duration) {
	if r.begun.IsZero() {
		r.begun = now
	}
	if now.Sub(r.begun) >= window {
		*r = recent{begun: now, at: elapsed, atBefore: r.at, busy: busy, busyBefore: r.busy, lagBefore: r.lag}
	}
}

// share returns how much of the time since the begin of the window before was busy.
func (r *recent) share(elapsed, busy time.Duration) float64 {
	if elapsed <= r.atBefore {
		return 0
	}
	return float64(busy-r.busyBefore) / float64(elapsed-r.atBefore)
}
