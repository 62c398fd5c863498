package watch

import (
	"time"

	"eventide/core"
)

// Kind is the kind of the subject of a Status.
type Kind uint8

// The kinds of a Status.
const (
	KindExecutor Kind = iota // an executor or an event loop
	KindPool
	KindFunctions // a tracked.Group
	KindListener  // a tcp.Listener
)

// Status is the state of one executor, or of a subject of another Kind, at the last reading of
// a Watcher. Numbers that a Kind does not have (see Metric.Value) are 0.
type Status struct {
	Name  string
	Kind  Kind
	Stats core.Stats

	// BusyTime is how long the loop was busy while it was watched (core.Reading.Busy). Busy
	// is the busy share of the last 10 to 20 seconds, from 0 to 1. For a pool both are summed
	// over the workers, so Busy may be as large as the number of workers.
	BusyTime time.Duration
	Busy     float64

	// Lag is the distribution of the waits of work before it began. RecentLag is the longest
	// wait of the last 10 to 20 seconds.
	Lag       Lag
	RecentLag time.Duration

	// Oldest is a lower bound of how long the oldest accepted task that has not begun has
	// waited (core.Reading.Oldest).
	Oldest time.Duration

	// Running lists the running bodies, or the running functions of a tracked.Group.
	Running []Running

	Stalls int64 // bodies that have run for longer than the limit

	// Listeners only.
	Connections, RefusedConnections, Pauses int64
}

// Running is a running body or function.
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

	// Buckets[i] counts the waits of at most LagBounds()[i], so it includes Buckets[i-1].
	// Waits longer than the last bound are in Count only.
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

// window is the length of a window. A recent value covers the current window and the one
// before: the last 10 to 20 seconds.
const window = 10 * time.Second

// recent holds what Busy and RecentLag are computed from: Elapsed and Busy of the meter at
// the begin of the current window and of the window before, and the longest wait in each
// window.
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

// share returns the busy share of the time since the begin of the previous window.
func (r *recent) share(elapsed, busy time.Duration) float64 {
	if elapsed <= r.atBefore {
		return 0
	}
	return float64(busy-r.busyBefore) / float64(elapsed-r.atBefore)
}
