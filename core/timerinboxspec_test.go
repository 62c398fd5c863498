package core

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPropG8TimerInbox compares the timers of an executor with a specification, one step at a time: what callers post, what
// the loop takes, the heap, the shutdown, and each run. The test is the loop, so it sees each state between two steps, as
// a caller on another goroutine may. No timer is lost, none is in the heap twice or after its end, each ends once, and the
// loop learns of each post (G7, G8, G9, G12, G20).
func TestPropG8TimerInbox(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newInboxSpec(rt)
		steps := s.steps()
		steps[""] = s.check
		rt.Repeat(steps)
		s.horizon, s.e.timers.horizon = beforeAll, beforeAll // the loop ends
		if s.running != nil {
			s.end(rt)
		}
		s.purge(rt)
		s.drain(rt)
		s.check(rt)
		if n := s.e.heap.len(); n > 0 || s.counts.pending > 0 {
			rt.Fatalf("G15: the loop has ended its timers, and %d are in the heap, %d pending", n, s.counts.pending)
		}
	})
}

// inboxSpec specifies the timers of an executor.
type inboxSpec struct {
	e       *Executor
	traced  kindsOfTrace
	policy  TimersAtShutdown
	horizon int64
	purged  int64
	decided bool // by a shutdown call
	closed  bool
	timers  []*inboxTimer
	running *inboxTimer
	inHeap  int // the size of the heap as a canceller knows it
	counts  timerCounts
}

type inboxTimer struct {
	*Timer
	at, ranAt      int64
	id             uint64
	over, cancel   bool // cancel: while it ran
	moved          bool // while it ran
	added, changed bool // it waits for the loop
	counted        bool // among the cancelled ones that wait for the loop
	inHeap         bool
	key            int64  // its deadline in the heap
	keyID          uint64 // its id there
	err            error
	watched        <-chan struct{} // Done of the present run
}

func newInboxSpec(t *rapid.T) *inboxSpec {
	s := &inboxSpec{horizon: noDeadline, purged: noDeadline, traced: kindsOfTrace{}}
	s.policy = rapid.SampledFrom([]TimersAtShutdown{CancelTimers, RunDueTimers, RunTimersUntilTimeout, RunTimersUntilTimeout}).Draw(t, "policy")
	e, err := NewExecutor(WithTimersAtShutdown(s.policy), WithTracer(s.traced))
	if err != nil {
		t.Fatal(err)
	}
	s.e = e
	return s
}

func (s *inboxSpec) steps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"schedule": func(t *rapid.T) {
			timer := &inboxTimer{Timer: &Timer{home: &s.e.setup, ranAt: noDeadline, period: rapid.SampledFrom([]time.Duration{1, 0, -3, 3, 0, -1}).Draw(t, "period"), fn: func() {}}}
			timer.Timer.at = drawAt(t)
			timer.Timer.grid = timer.Timer.at
			s.timers = append(s.timers, timer)
			s.add(t, timer, timer.Timer.at)
		},
		"again": func(t *rapid.T) { // ScheduleTimer
			if timer := s.draw(t, func(timer *inboxTimer) bool { return timer.over && timer.period == 0 }); timer != nil {
				if err := timer.checkEnded(); err != nil {
					t.Fatalf("G8: a timer that has ended is refused: %v", err)
				}
				at := drawAt(t)
				s.e.renew(timer.Timer, at, func() {})
				timer.over, timer.err, timer.watched = false, nil, nil
				s.add(t, timer, at)
			}
		},
		"watch": func(t *rapid.T) {
			if timer := s.draw(t, nil); timer != nil {
				timer.watched = timer.Done()
			}
		},
		"cancel": s.cancel,
		"reset":  s.reset,
		"move":   s.moveEarlier,
		"drain":  s.drain,
		"purge":  s.purge,
		"run": func(t *rapid.T) {
			if s.running != nil {
				s.end(t)
			} else if s.e.heap.len() > 0 {
				s.begin(t)
			}
		},
		"shut down": func(t *rapid.T) {
			horizon := rapid.Int64Range(-1, 9).Draw(t, "horizon")
			moved := s.draw(t, func(timer *inboxTimer) bool { return !timer.over && timer.inHeap && timer.at < timer.key })
			if moved == nil && rapid.IntRange(0, 2).Draw(t, "not yet") > 0 {
				return
			}
			if moved != nil && rapid.Bool().Draw(t, "the deadline of a moved timer") {
				horizon = moved.at // it runs, and its old deadline is after the horizon
			}
			s.horizon = min(s.horizon, horizon)
			s.closed = s.closed || rapid.Bool().Draw(t, "close")
			s.decided = s.closed || s.policy != RunTimersUntilTimeout
			s.e.shutdown.called, s.e.timers.horizon = true, s.horizon
			if s.closed {
				s.e.gate |= gateClosed
			}
			if rapid.Bool().Draw(t, "purge at once") {
				s.purge(t)
			}
		},
		"sleep": func(t *rapid.T) {
			s.e.asleep = rapid.Bool().Draw(t, "asleep")
			s.e.timers.sleepUntil = rapid.SampledFrom([]int64{1, 4, 7, noDeadline}).Draw(t, "until")
		},
	}
}

func drawAt(t *rapid.T) int64 { return rapid.Int64Range(0, 9).Draw(t, "at") }

// draw returns one of the timers for which the condition holds, or nil.
func (s *inboxSpec) draw(t *rapid.T, holds func(*inboxTimer) bool) *inboxTimer {
	some := slices.Clone(s.timers)
	if holds != nil {
		some = slices.DeleteFunc(some, func(timer *inboxTimer) bool { return !holds(timer) })
	}
	if len(some) == 0 {
		return nil
	}
	return some[rapid.IntRange(0, len(some)-1).Draw(t, "timer")]
}

// locked calls f with the mutex held, on the loop or on another goroutine.
func (s *inboxSpec) locked(onLoop bool, f func()) {
	if onLoop {
		defer s.e.leave(s.e.enter())
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	f()
}

func (s *inboxSpec) add(t *rapid.T, timer *inboxTimer, at int64) {
	s.counts.lastID++
	s.counts.scheduled++
	s.counts.pending++
	timer.at, timer.ranAt, timer.id = at, noDeadline, s.counts.lastID
	want := false
	if s.e.shutdown.called && s.policy != RunTimersUntilTimeout || at > s.horizon {
		s.over(timer, ErrCancelled)
	} else {
		timer.counted = false
		timer.added = !timer.changed
		want = s.e.asleep && at < s.e.timers.sleepUntil
	}
	s.locked(false, func() {
		if got := s.e.addTimer(timer.Timer); got != want {
			t.Fatalf("G12: a new timer at %d wakes the loop: %v, want %v", at, got, want)
		}
	})
}

func (s *inboxSpec) over(timer *inboxTimer, err error) {
	timer.over, timer.err = true, err
	s.counts.pending--
	if err == ErrCancelled {
		s.counts.cancelled++
	} else {
		s.counts.ended++
	}
}

func (s *inboxSpec) cancel(t *rapid.T) {
	timer, onLoop := s.draw(t, nil), rapid.Bool().Draw(t, "on the loop")
	if timer == nil {
		return
	}
	wake, want := false, !timer.over
	switch {
	case timer.over:
	case timer == s.running:
		want = timer.period != 0 && !timer.cancel
		timer.cancel = timer.cancel || want
	case timer.added:
		timer.added = false
		s.over(timer, ErrCancelled)
	case onLoop:
		timer.inHeap = false
		s.inHeap = s.size()
		s.over(timer, ErrCancelled)
	default:
		timer.changed, timer.counted = true, true
		cancelled := 0
		for _, timer := range s.timers {
			if timer.counted {
				cancelled++
			}
		}
		wake = 2*cancelled > s.inHeap
		s.over(timer, ErrCancelled)
	}
	s.locked(onLoop, func() {
		if gotWake, got := s.e.cancelTimer(timer.Timer); got != want || gotWake != wake {
			t.Fatalf("G8: Cancel on the loop %v: %v, wakes the loop: %v; want %v, %v", onLoop, got, gotWake, want, wake)
		}
	})
}

func (s *inboxSpec) reset(t *rapid.T) {
	timer, at, onLoop := s.draw(t, nil), drawAt(t), rapid.Bool().Draw(t, "on the loop")
	if s.running != nil && rapid.Bool().Draw(t, "of the running timer") {
		timer = s.running
	}
	if s.horizon >= 0 && rapid.Bool().Draw(t, "to the horizon") {
		at = min(s.horizon, 9)
	}
	if timer != nil {
		s.move(t, timer, at, onLoop)
	}
}

// moveEarlier moves a timer of the heap. The loop finds it at its old deadline until it takes it from the inbox.
func (s *inboxSpec) moveEarlier(t *rapid.T) {
	timer := s.draw(t, func(timer *inboxTimer) bool { return !timer.over && timer.inHeap && timer.key > 0 })
	if timer != nil {
		s.move(t, timer, rapid.Int64Range(0, timer.key-1).Draw(t, "at"), false)
	}
}

func (s *inboxSpec) move(t *rapid.T, timer *inboxTimer, at int64, onLoop bool) {
	wake, want := false, !timer.over && !s.decided && at <= s.horizon
	if timer == s.running {
		want = want && timer.period != 0 && !timer.cancel
		timer.moved = timer.moved || want
	} else if want = want && timer.at <= s.horizon; want {
		wake = at < s.e.timers.sleepUntil
		switch {
		case timer.added || timer.changed:
		case onLoop:
			timer.key = at
		default:
			timer.changed = true
		}
	}
	if want {
		timer.at = at
	}
	s.locked(onLoop, func() {
		if gotWake, got := s.e.moveTimer(timer.Timer, at, at); got != want || gotWake != wake {
			t.Fatalf("G8: Reset to %d on the loop %v: %v, wakes the loop: %v; want %v, %v", at, onLoop, got, gotWake, want, wake)
		}
	})
}

func (s *inboxSpec) drain(t *rapid.T) {
	want := false
	for _, timer := range s.timers {
		if !timer.added && !timer.changed {
			continue
		}
		want = true
		timer.added, timer.changed, timer.counted, timer.inHeap = false, false, false, false
		switch {
		case timer.over:
		case timer.at > s.horizon:
			s.over(timer, ErrCancelled)
		default:
			s.push(timer)
		}
	}
	s.inHeap = s.size()
	s.locked(true, func() {
		s.e.news.Store(false)
		if got := s.e.drainTimerInbox(); got != want {
			t.Fatalf("G12: the loop finds news of timers: %v, want %v", got, want)
		}
	})
}

func (s *inboxSpec) push(timer *inboxTimer) {
	timer.inHeap, timer.key, timer.keyID = true, timer.at, timer.id
}

// size returns the number of timers in the heap.
func (s *inboxSpec) size() (n int) {
	for _, timer := range s.timers {
		if timer.inHeap {
			n++
		}
	}
	return n
}

func (s *inboxSpec) purge(t *rapid.T) {
	if s.purged != s.horizon {
		s.purged = s.horizon
		removed := false
		for _, timer := range s.timers {
			if !timer.inHeap || timer.key <= s.horizon {
				continue
			}
			timer.inHeap, removed = false, true
			if !timer.over && timer.at > s.horizon {
				s.over(timer, ErrCancelled)
			}
		}
		if removed {
			s.inHeap = s.size()
		}
	}
	defer s.e.leave(s.e.enter())
	s.e.purgeTimers()
	if s.horizon == noDeadline {
		return
	}
	heap, late := s.e.heap, &Timer{at: s.horizon + 1}
	s.e.heap = timerHeap{}
	s.e.heap.push(late)
	if s.e.purgeTimers(); s.e.heap.len() != 1 {
		t.Fatalf("G11: the heap is purged again for the horizon %d: each turn would take time for each timer", s.horizon)
	}
	s.e.heap = heap
}
