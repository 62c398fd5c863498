package core

import (
	"time"

	"pgregory.net/rapid"
)

// begin takes the first timer from the heap, and begins its run, unless it has ended or moved meanwhile.
func (s *inboxSpec) begin(t *rapid.T) {
	var first *inboxTimer
	for _, timer := range s.timers {
		if timer.inHeap && (first == nil || timer.key < first.key || timer.key == first.key && timer.keyID < first.keyID) {
			first = timer
		}
	}
	if got := s.e.heap.pop(); got != first.Timer {
		t.Fatalf("G7: the loop takes the timer of %d, want that of %d", got.at, first.key)
	}
	first.inHeap = false
	runs := !first.over && !first.changed
	if runs && first.at > s.horizon {
		s.over(first, ErrCancelled)
		runs = false
	}
	if body := s.e.beginTimer(first.Timer, first.key); (body != nil) != runs {
		t.Fatalf("G8: the timer of %d begins: %v, want %v", first.key, body != nil, runs)
	}
	if runs {
		first.ranAt, s.running = first.at, first
	}
}

func (s *inboxSpec) end(t *rapid.T) {
	timer, now, jitter := s.running, rapid.Int64Range(0, 9).Draw(t, "now"), rapid.Int64Range(0, 2).Draw(t, "jitter")
	outcome := rapid.SampledFrom([]Outcome{OutcomeNormal, OutcomeNormal, OutcomeNormal, OutcomePanicked, OutcomeExited}).Draw(t, "outcome")
	s.running = nil
	s.counts.runs++
	s.e.panics = []*PanicError{{Value: "an earlier one"}, {Value: "the last one"}}
	grid := timer.Timer.grid
	switch {
	case outcome == OutcomePanicked:
		s.over(timer, s.e.panics[1])
	case outcome == OutcomeExited:
		s.over(timer, ErrGoexit)
	case timer.period == 0:
		s.over(timer, nil)
	case timer.cancel:
		s.over(timer, ErrCancelled)
	default:
		switch {
		case timer.moved:
		case timer.period > 0:
			timer.at = grid + int64(timer.period) + jitter
		default:
			timer.at = now - int64(timer.period) + jitter
		}
		timer.moved = false
		if s.closed || timer.at > s.horizon {
			s.over(timer, ErrCancelled)
		} else {
			s.push(timer)
			s.inHeap = s.size()
		}
	}
	defer s.e.leave(s.e.enter())
	s.e.endRun(timer.Timer, outcome, now, time.Duration(jitter))
}
