package history

import (
	"slices"
	"sync"
	"time"

	"github.com/petermattis/goid"
)

// Log is a totally ordered list of events that many goroutines write. The order is that
// in which Add took the log's lock, and nothing more; see "What writers promise" in the
// package documentation.
type Log struct {
	clock func() time.Duration // set once in New

	mu     sync.Mutex
	events []Event
}

// firstCapacity is how many events the log of a small program has.
const firstCapacity = 64

// New returns an empty log. The clock gives the time since the log began; nil
// means time.Since now, which inside a testing/synctest bubble is the bubble's
// virtual time.
func New(clock func() time.Duration) *Log {
	return NewIn(nil, clock)
}

// NewIn is New with a buffer, for a caller that makes one log after another. The log
// takes over buf and overwrites its events; the caller must not use buf any more.
func NewIn(buf []Event, clock func() time.Duration) *Log {
	if clock == nil {
		start := time.Now()
		clock = func() time.Duration { return time.Since(start) }
	}
	if cap(buf) == 0 {
		buf = make([]Event, 0, firstCapacity)
	}
	return &Log{clock: clock, events: buf[:0]}
}

// Add appends the event and returns its position, which a Return passes on as
// its Call. It assigns N, and fills in At with the clock and G with the
// goroutine where they are zero. Times it fills in never decrease along the
// log, as the clock is read under the lock. Safe for simultaneous use; it
// waits for nothing but other Adds.
func (l *Log) Add(e Event) int {
	if e.G == 0 {
		e.G = goid.Get()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.At == 0 {
		e.At = l.clock()
	}
	e.N = len(l.events) + 1
	l.events = append(l.events, e)
	return e.N
}

// Len returns how many events there are: the position of the last. Safe for
// simultaneous use.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// Events returns a copy of what was added so far. Safe for simultaneous use.
func (l *Log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Take returns what was added, not a copy of it, and leaves the log empty: what is added
// from here on is of another list. Safe for simultaneous use.
func (l *Log) Take() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := l.events
	l.events = nil
	return events
}
