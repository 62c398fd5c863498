package bench

import (
	"testing"
	"time"
)

// stalling keeps one call of Execute waiting.
type stalling struct {
	Executor
	at, calls int
	stall     time.Duration
}

func (s *stalling) Execute(task func()) error {
	if s.calls++; s.calls == s.at {
		time.Sleep(s.stall)
	}
	return s.Executor.Execute(task)
}

// TestAStallIsNotLeftOut: of the tasks that a stalled call of 40 ms kept from being
// submitted, half have waited for 20 ms or longer. Measured from the call of Execute
// it would be one.
func TestAStallIsNotLeftOut(t *testing.T) {
	x, err := NewMutex()
	if err != nil {
		t.Fatal(err)
	}
	const perSecond = 10_000
	s, err := Offer(&stalling{Executor: x, at: 100, stall: 40 * time.Millisecond}, Load{Producers: 1, Rate: perSecond, Tasks: 1000})
	if err != nil {
		t.Fatal(err)
	}
	late := s.Latency.TotalCount() - countBelow(s, 20*time.Millisecond)
	if s.Ops != 1000 || late < 190 {
		t.Errorf("got %d of %d tasks late by 20 ms, want 200", late, s.Ops)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

func countBelow(s Slice, d time.Duration) int64 {
	var n int64
	for _, bar := range s.Latency.Distribution() {
		if bar.To < int64(d) {
			n += bar.Count
		}
	}
	return n
}

// TestTheLoadIsOffered: 500 tasks at 10,000 per second are not submitted sooner than
// they are due, by however many producers.
func TestTheLoadIsOffered(t *testing.T) {
	for _, producers := range []int{1, 10} {
		x, err := NewMutex()
		if err != nil {
			t.Fatal(err)
		}
		s, err := Offer(x, Load{Producers: producers, Rate: 10_000, Tasks: 500})
		if err != nil {
			t.Fatal(err)
		}
		if least := 49 * time.Millisecond; s.Ops != 500 || s.Elapsed < least {
			t.Errorf("%d producers: got %d tasks in %v, want 500 in %v or more", producers, s.Ops, s.Elapsed, least)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestEarlyTimersAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		schedule scheduler
		want     int
	}{
		"at once": {func(_ time.Duration, fire func()) error { fire(); return nil }, lateTimers},
		"when due": {func(d time.Duration, fire func()) error {
			time.AfterFunc(d, fire)
			return nil
		}, 0},
	} {
		s, err := lateness(lateTimers, c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		if s.Short != c.want || s.Ops != lateTimers {
			t.Errorf("G7: timers that fire %s: got %d early of %d, want %d", name, s.Short, s.Ops, c.want)
		}
	}
}

// TestTheWarmUpIsNotMeasured: tasks that have been due for a second all wait so long, and
// only those after the warm-up count.
func TestTheWarmUpIsNotMeasured(t *testing.T) {
	p := newProducer(nil, Load{Producers: 1, Rate: 1e9, Warm: 3, Tasks: 2}, 0)
	p.base = time.Now().Add(-time.Second)
	for range 3 {
		p.measure()
	}
	if p.waits[0] != 0 {
		t.Errorf("got a wait of %v after 3 tasks of warm-up, want none", time.Duration(p.waits[0]))
	}
	p.measure()
	p.measure()
	s, err := collect([]*producer{p})
	if err != nil {
		t.Fatal(err)
	}
	if s.Ops != 2 || s.Latency.TotalCount() != 2 || s.Latency.Min() < int64(990*time.Millisecond) || s.Elapsed < 990*time.Millisecond {
		t.Errorf("got %d tasks, %d waits of %v or more, in %v; want 2, each of a second", s.Ops, s.Latency.TotalCount(), time.Duration(s.Latency.Min()), s.Elapsed)
	}
}

// TestEachStartHasAnExecutorOfItsOwn: the first milliseconds are of a new executor, and each
// is closed.
func TestEachStartHasAnExecutorOfItsOwn(t *testing.T) {
	opened, closed := 0, 0
	r := &loadRunner{load: 50, producers: 1, peak: 2 * 100_000, run: startSlice, open: func() (Executor, error) {
		opened++
		x, err := NewMutex()
		return &closing{x, &closed}, err
	}}
	// 100,000 tasks per second are 500 in five milliseconds.
	s, err := r.Run(1200)
	if err != nil {
		t.Fatal(err)
	}
	if opened != 3 || closed != 3 || s.Ops != 1500 {
		t.Errorf("got %d tasks on %d executors, %d closed; want 1500 on 3, all closed", s.Ops, opened, closed)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// closing counts calls of Close.
type closing struct {
	Executor
	closed *int
}

func (c *closing) Close() error { *c.closed++; return c.Executor.Close() }
