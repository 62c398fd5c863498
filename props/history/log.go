package history

import (
	"slices"
	"time"

	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// Log is a totally ordered list of events that many goroutines write. The order of the
// events is the order in which calls of Add lock the log. The package documentation, under
// "What writers promise", states what the order means.
type Log struct {
	clock func() time.Duration // set once in New

	mu     control.Mutex
	events []Event
}

// firstCapacity is enough for the events of a small program.
const firstCapacity = 64

// New returns an empty log. The clock gives the time since the log began; nil
// means time.Since now, which inside a testing/synctest bubble is the bubble's
// virtual time.
func New(clock func() time.Duration) *Log {
	return NewIn(nil, clock)
}

// NewIn is New with a buffer, for a caller that makes one log after another. The log owns
// buf from now on and overwrites its events.
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

// Add appends the event and returns its position, which the writer of a Return passes in its
// field Call. It assigns N. If At is zero it sets At by the clock, and if G is zero it sets G
// to the calling goroutine. The clock is read under the lock, so these times never decrease
// along the log. It is safe for concurrent use, and blocks only for other calls of Add.
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
	control.Mark()
	l.events = append(l.events, e)
	return e.N
}

// Len returns the number of events, which is the position of the last one. It is safe for
// concurrent use.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// Events returns a copy of the events so far. It is safe for concurrent use.
func (l *Log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Take returns the events so far, not a copy, and makes the log empty. It is safe for
// concurrent use.
func (l *Log) Take() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := l.events
	l.events = nil
	return events
}
