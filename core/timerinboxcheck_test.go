package core

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// check compares everything that a caller or the loop can see.
func (s *inboxSpec) check(t *rapid.T) {
	in, posted, cancelled, first := &s.e.timers, false, 0, noDeadline
	for i, timer := range s.timers {
		if wrong := timer.differs(s.e, timer == s.running); wrong != "" {
			t.Fatalf("timer %d: %s", i, wrong)
		}
		posted = posted || timer.added || timer.changed
		if timer.counted {
			cancelled++
		}
		if timer.inHeap {
			first = min(first, timer.key)
		}
		if timer.added {
			first = min(first, timer.at)
		}
	}
	s.counts.horizon = s.horizon
	switch {
	case in.timerCounts != s.counts:
		t.Fatalf("G20: the counts are %+v, want %+v", in.timerCounts, s.counts)
	case s.traced[EventTimerCancelled] != s.counts.cancelled:
		t.Fatalf("G20: %d ends of cancelled timers were traced, want %d", s.traced[EventTimerCancelled], s.counts.cancelled)
	case s.e.heap.len() != s.size() || in.inHeap != s.inHeap:
		t.Fatalf("G24: %d timers are in the heap, and callers know of %d; want %d, %d", s.e.heap.len(), in.inHeap, s.size(), s.inHeap)
	case in.nCancelled != cancelled:
		t.Fatalf("G24: %d cancelled timers wait for the loop, want %d", in.nCancelled, cancelled)
	case posted && !s.e.news.Load():
		t.Fatal("G12: a timer was posted, and the loop is told no news")
	case s.e.earliestTimer() != first:
		t.Fatalf("G7: the earliest timer is at %d, want %d", s.e.earliestTimer(), first)
	}
}

// differs compares one timer.
func (t *inboxTimer) differs(e *Executor, running bool) string {
	want := t.at
	if t.over || running {
		want = t.ranAt
	}
	at := noDeadline
	if d := t.Deadline(); !d.IsZero() {
		at = int64(d.Sub(e.epoch))
	}
	done := false
	select {
	case <-t.watched:
		done = true
	default:
	}
	listed := slices.ContainsFunc(e.heap.entries, func(entry timerEntry) bool { return entry == timerEntry{t.key, t.keyID, t.Timer} })
	switch {
	case at != want:
		return fmt.Sprintf("G7: the deadline is %d, want %d", at, want)
	case t.Err() != t.err:
		return fmt.Sprintf("G8: it ended with %v, want %v", t.Err(), t.err)
	case done != (t.over && t.watched != nil):
		return fmt.Sprintf("G8: Done is closed: %v, want %v", done, t.over)
	case (t.fn == nil) != t.over:
		return fmt.Sprintf("G24: it refers to its function: %v, and has ended: %v", t.fn != nil, t.over)
	case listed != t.inHeap:
		return fmt.Sprintf("G24: the heap has it at %d: %v, want %v", t.key, listed, t.inHeap)
	}
	return ""
}
