package core

import (
	"slices"
	"testing"
	"time"

	"eventide/core/internal/tasks"

	"pgregory.net/rapid"
)

// sleepersSpec specifies which workers of a pool sleep, and which of them a call claims.
type sleepersSpec struct {
	idle, woken, awake []*worker
	starting           []*worker // they have not called next yet
	timekeeper         *worker
	until              int64 // of the timekeeper
	claims             int64
}

// claim claims the worker that parked last, or else the timekeeper, or nil.
func (s *sleepersSpec) claim() (w *worker) {
	switch n := len(s.idle); {
	case n > 0:
		w, s.idle = s.idle[n-1], s.idle[:n-1]
	case s.timekeeper != nil:
		w, s.timekeeper, s.until = s.timekeeper, nil, noDeadline
	default:
		return nil
	}
	s.woken = append(s.woken, w)
	s.claims++
	return w
}

func (s *sleepersSpec) live() int {
	n := len(s.idle) + len(s.woken) + len(s.awake) + len(s.starting)
	if s.timekeeper != nil {
		n++
	}
	return n
}

// kindsOfTrace counts the traced events of each kind.
type kindsOfTrace map[EventKind]int64

func (k kindsOfTrace) Trace(ev Event) { k[ev.Kind]++ }

// TestPropG12Sleepers compares the sleepers of a pool with a specification: the deadline of each sleep, and which worker
// each call claims or starts. A call claims nobody while a claimed worker is on its way, and a resize as many as are surplus
// beside these.
func TestPropG12Sleepers(t *testing.T) {
	times := rapid.SampledFrom([]int64{1, 2, 3, 4, noDeadline})
	rapid.Check(t, func(t *rapid.T) {
		traced := kindsOfTrace{}
		p, err := NewPool(rapid.IntRange(1, 4).Draw(t, "size"), WithTracer(traced))
		if err != nil {
			t.Fatal(err)
		}
		p.gate &^= gateNotStarted
		s := &sleepersSpec{until: noDeadline}
		for range rapid.IntRange(0, 6).Draw(t, "awake") {
			s.awake = append(s.awake, p.newWorker())
			p.starting--
		}
		take := func(t *rapid.T, from *[]*worker) *worker {
			i := rapid.IntRange(0, len(*from)-1).Draw(t, "worker")
			w := (*from)[i]
			*from = slices.Delete(*from, i, i+1)
			return w
		}
		wantClaim := func(t *rapid.T, call string, got claimed, claims bool) {
			var want *worker
			starts := false
			if claims && p.gate&gateNotStarted == 0 {
				live := s.live()
				want = s.claim()
				starts = want == nil && live < p.size && len(s.starting) == 0 && !p.over
			}
			if got.sleeper != want || (got.start != nil) != starts {
				t.Fatalf("G12: %s claims %p and starts %p; want %p, a start: %v", call, got.sleeper, got.start, want, starts)
			}
			if got.start != nil {
				s.starting = append(s.starting, got.start)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"park": func(t *rapid.T) {
				if len(s.awake) == 0 {
					return
				}
				w, until, want := take(t, &s.awake), times.Draw(t, "until"), noDeadline
				switch {
				case until >= s.until:
					s.idle = append(s.idle, w)
				case s.timekeeper != nil:
					s.idle = append(s.idle, s.timekeeper)
					fallthrough
				default:
					s.timekeeper, s.until, want = w, until, until
				}
				if got := p.park(w, until); got != want {
					t.Fatalf("G12: a worker that has to wake at %d sleeps until %d, want %d", until, got, want)
				}
			},
			"arrive": func(t *rapid.T) { // claimed, at its deadline, or without a cause
				from := rapid.SampledFrom([]*[]*worker{&s.woken, &s.idle, nil}).Draw(t, "from")
				w := s.timekeeper
				switch {
				case from != nil && len(*from) > 0:
					w = take(t, from)
				case w == nil:
					return
				default:
					s.timekeeper, s.until = nil, noDeadline
				}
				p.arrive(w)
				s.awake = append(s.awake, w)
			},
			"start": func(t *rapid.T) {
				for _, w := range s.starting {
					w.countStart()
				}
				s.awake, s.starting = append(s.awake, s.starting...), nil
			},
			"leave": func(t *rapid.T) {
				if len(s.awake) > 0 && s.live() > p.size {
					take(t, &s.awake)
					p.live--
				}
			},
			"resize": func(t *rapid.T) {
				p.size = rapid.IntRange(1, 4).Draw(t, "size")
				var want []*worker
				for range s.live() - p.size - len(s.woken) {
					if w := s.claim(); w != nil {
						want = append(want, w)
					}
				}
				if got := p.claimExcess(); !slices.Equal(got, want) {
					t.Fatalf("G12: a resize claims %d workers, want %d: %v, %v", len(got), len(want), got, want)
				}
			},
			"post": func(t *rapid.T) {
				first, now := times.Draw(t, "first timer"), rapid.SampledFrom([]int64{-1, 1, 2, 3}).Draw(t, "now")
				if p.heap = (timerHeap{}); first != noDeadline {
					p.heap.push(&Timer{at: first, index: -1})
				}
				p.queue = tasks.Shared{}
				for range rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "tasks") {
					p.queue.Push(func() {})
				}
				p.internal = internalQueue{work: make([]func(), rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "internal tasks"))}
				work := p.queue.Size() > 0 || p.internal.len() > 0 || first != noDeadline && (first <= now || first < s.until)
				wantClaim(t, "a post", p.claimForWork(now), work && len(s.woken) == 0)
			},
			"move": func(t *rapid.T) {
				p.mu.Lock()
				wantClaim(t, "a move of the state", p.claimOneAndUnlock(), len(s.woken) == 0)
				if !p.mu.TryLock() {
					t.Fatal("the mutex is held")
				}
				p.mu.Unlock()
			},
			"over":        func(*rapid.T) { p.over = !p.over },
			"not started": func(*rapid.T) { p.gate ^= gateNotStarted },
			"state": func(t *rapid.T) {
				p.state.Store(int32(rapid.SampledFrom([]State{StateStarted, StateShuttingDown, StateShutdown}).Draw(t, "state")))
				p.shutdown.calledAt, p.shutdown.quiet = times.Draw(t, "called at"), time.Duration(times.Draw(t, "quiet"))
				p.lastEnd, p.busy = times.Draw(t, "last end"), rapid.IntRange(0, 1).Draw(t, "busy")
			},
			"": func(t *rapid.T) {
				if !slices.Equal(p.idle, s.idle) || p.timekeeper != s.timekeeper || p.timekeeperUntil != s.until || p.woken != len(s.woken) {
					t.Fatalf("G12: the pool has the sleepers %+v, want %+v", p.sleepers, s)
				}
				if p.live != s.live() || p.starting != len(s.starting) || p.wakes != s.claims || traced[EventWake] != s.claims {
					t.Fatalf("G20: %d workers, %d of them start, %d wake-ups, %d traced; want %d, %d, %d", p.live, p.starting, p.wakes, traced[EventWake], s.live(), len(s.starting), s.claims)
				}
				if workers := p.stats().Workers; int(workers) != s.live()-len(s.starting) {
					t.Fatalf("G20: the stats have %d workers, want %d that have started", workers, s.live()-len(s.starting))
				}
				for _, w := range slices.Concat(s.idle, s.woken, s.awake, s.starting) {
					if asleep := !slices.Contains(s.awake, w) && !slices.Contains(s.starting, w); w.parked != asleep || w.woken != slices.Contains(s.woken, w) {
						t.Fatalf("G12: a worker sleeps %v, woken %v; want %v", w.parked, w.woken, asleep)
					}
				}
				if got, want := p.nextDeadline(), deadlineOf(p); got != want {
					t.Fatalf("G7, G10: a worker has to wake at %d, want %d", got, want)
				}
			},
		})
	})
}

// deadlineOf specifies when a worker must act that nobody wakes.
func deadlineOf(p *Pool) int64 {
	idle := p.busy == 0 && p.queue.Size() == 0 && p.internal.len() == 0
	switch {
	case p.heap.len() > 0:
		return p.heap.first()
	case p.state.Load() != int32(StateShuttingDown) || !idle:
		return noDeadline
	}
	return addTime(max(p.shutdown.calledAt, p.lastEnd), p.shutdown.quiet)
}
