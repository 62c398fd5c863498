package props

import (
	"errors"
	"time"

	"eventide/core"
)

// due is what a timer said in its last run.
type due struct {
	known bool      // the run began after Schedule had returned
	at    time.Time // Deadline
}

// lookAtTimer compares the answers of a timer, in its body, with what runs: the timer has not ended,
// and its deadline is not later than now. Only every second timer is asked for Done, which makes the
// channel: the others end without one.
func (h *harness) lookAtTimer(id int) {
	h.mu.Lock()
	t := h.timers[id]
	h.mu.Unlock()
	seen := due{known: t != nil}
	if t != nil {
		seen.at = t.Deadline()
		now := h.clock.reading()
		switch {
		case t.Err() != nil:
			h.blame("timer %d runs, and its Err is %v", id, t.Err())
		case id%2 == 0 && isClosed(t.Done()):
			h.blame("timer %d runs, and its Done is closed", id)
		case !h.real && !h.rec.fails && seen.at.After(now):
			h.blame("timer %d runs, and its Deadline %v is later than now, %v", id, seen.at, now)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dues[id] = seen
}

// lookAtCancelled checks a one-shot timer whose Cancel has returned true: it has ended.
func (h *harness) lookAtCancelled(id int, t *core.Timer) {
	h.mu.Lock()
	once := h.oneShots[id]
	h.mu.Unlock()
	if once && (!isClosed(t.Done()) || !errors.Is(t.Err(), core.ErrCancelled)) {
		h.blame("timer %d was cancelled, and its Err is %v; Done is closed: %v", id, t.Err(), isClosed(t.Done()))
	}
}

// lookAtEnded looks at the timers after Done.
func (h *harness) lookAtEnded() {
	for id, t := range h.timers {
		if isClosed(t.Done()) { // S16 judges that
			h.lookAtEndedTimer(id, t)
		}
	}
}

// lookAtEndedTimer compares the deadline of an ended timer: it is that of the last run, or the zero
// Time if there was none.
func (h *harness) lookAtEndedTimer(id int, t *core.Timer) {
	at := t.Deadline()
	h.mu.Lock()
	seen, runs := h.dues[id], h.runs[id]
	h.mu.Unlock()
	switch {
	case runs == 0 && !at.IsZero():
		h.blame("timer %d has ended without a run, and its Deadline is %v", id, at)
	case seen.known && !at.Equal(seen.at):
		h.blame("timer %d has ended, and its Deadline is %v; in its last run it was %v", id, at, seen.at)
	}
}
