package core_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// A jitterCall is one call of a program of timers, from a goroutine outside the loop.
type jitterCall struct {
	kind          int           // 0: Schedule; 1: fixed rate; 2: fixed delay; 3: Reset; 4: Cancel
	at            time.Duration // of the call
	delay, period time.Duration
	takes         time.Duration // by the body
	of            int           // index of the timer that is reset or cancelled
}

// TestPropG7Jitter compares the instants of all runs with those of a specification that reads
// an equal source: so deadlines, their order, the phase of a rate, and the number of values read.
func TestPropG7Jitter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := jitterCalls(rt)
		bound := rapid.SampledFrom([]time.Duration{1, 7, 3 * time.Millisecond, 50 * time.Millisecond, time.Hour}).Draw(rt, "bound")
		seed := rapid.Uint64().Draw(rt, "seed")
		spec := &jitterSpec{bound: bound, source: rand.NewPCG(seed, 1), freeAt: -1}
		want := spec.play(calls)
		if spec.tied {
			return // the log of the executor depends on which of two goroutines is first
		}
		opt := core.WithTimerJitter(bound, rand.NewPCG(seed, 1))
		for name, start := range map[string]func(t *testing.T) core.EventExecutor{
			"executor": func(t *testing.T) core.EventExecutor { return coretest.NewExecutor(t, opt) },
			"pool":     func(t *testing.T) core.EventExecutor { return coretest.NewPool(t, 1, opt) },
		} {
			opt = core.WithTimerJitter(bound, rand.NewPCG(seed, 1))
			got := ""
			synctest.Test(t, func(t *testing.T) { got = playJitter(t, start(t), calls) })
			if got != want {
				rt.Fatalf("G7: %s, bound %v, calls %+v:\nruns %s\nwant %s", name, bound, calls, got, want)
			}
		}
	})
}

func jitterCalls(rt *rapid.T) []jitterCall {
	millis := func(least, most int, label string) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(rt, label)) * time.Millisecond
	}
	calls := make([]jitterCall, rapid.IntRange(1, 12).Draw(rt, "calls"))
	at, timers := time.Duration(0), 0
	for i := range calls {
		at += millis(0, 20, "wait") + 100 // no two calls at one instant
		c := jitterCall{kind: rapid.IntRange(0, 4).Draw(rt, "kind"), at: at, delay: millis(0, 30, "delay")}
		if timers == 0 {
			c.kind %= 3
		}
		if c.kind < 3 {
			c.period, c.takes = millis(5, 20, "period"), millis(0, 8, "takes")
			if c.takes > 0 && rapid.IntRange(0, 4).Draw(rt, "shortest period") == 0 {
				c.period = 1 // the body takes longer, so the runs are not too many
			}
			timers++
		} else {
			c.of = rapid.IntRange(0, timers-1).Draw(rt, "of")
		}
		calls[i] = c
	}
	return calls
}

// jitterEnd is when a program of calls ends: it cancels all timers.
const jitterEnd = 300*time.Millisecond + 77

// playJitter makes the calls on ex and returns the runs.
func playJitter(t *testing.T, ex core.EventExecutor, calls []jitterCall) string {
	start := time.Now()
	var j coretest.Journal
	var timers []*core.Timer
	for _, c := range calls {
		time.Sleep(c.at - time.Since(start))
		synctest.Wait()
		n := len(timers)
		body := func() {
			j.Add(fmt.Sprintf("%d@%v", n, time.Since(start)))
			time.Sleep(c.takes)
		}
		timer, err := (*core.Timer)(nil), error(nil)
		switch c.kind {
		case 0:
			timer, err = ex.Schedule(c.delay, body)
		case 1:
			timer, err = ex.ScheduleAtFixedRate(c.delay, c.period, body)
		case 2:
			timer, err = ex.ScheduleWithFixedDelay(c.delay, c.period, body)
		case 3:
			timers[c.of].Reset(c.delay)
			continue
		case 4:
			timers[c.of].Cancel()
			continue
		}
		coretest.Must(t, err)
		timers = append(timers, timer)
	}
	time.Sleep(jitterEnd - time.Since(start))
	synctest.Wait()
	for _, timer := range timers {
		timer.Cancel()
	}
	return j.String()
}

// jitterSpec is the specification of timers with jitter on one goroutine.
type jitterSpec struct {
	bound   time.Duration
	source  rand.Source
	timers  []*specTimer // in the order scheduled
	running *specTimer
	freeAt  time.Duration // the end of the running body, or of the last one
	runs    string
	tied    bool // a call and a begin or end of a run were at one instant
}

type specTimer struct {
	call     jitterCall
	n        int
	grid, at time.Duration
	over     bool
	moved    bool // during its run
}

func (s *jitterSpec) play(calls []jitterCall) string {
	for _, c := range calls {
		s.advance(c.at)
		switch c.kind {
		case 3:
			s.reset(s.timers[c.of], c.at+c.delay)
		case 4:
			s.timers[c.of].over = true
		default:
			t := &specTimer{call: c, n: len(s.timers)}
			s.timers = append(s.timers, t)
			s.set(t, c.at+c.delay)
		}
	}
	s.advance(jitterEnd)
	return s.runs
}

// set draws the delay of a timer that is due at grid without it.
func (s *jitterSpec) set(t *specTimer, grid time.Duration) {
	delay := s.draw(t)
	t.grid, t.at = grid, grid+delay
}

func (s *jitterSpec) draw(t *specTimer) time.Duration {
	bound := s.bound
	if t.call.kind == 1 {
		bound = min(bound, t.call.period)
	}
	delay, _ := bits.Mul64(s.source.Uint64(), uint64(bound))
	return time.Duration(delay)
}

func (s *jitterSpec) reset(t *specTimer, grid time.Duration) {
	delay := s.draw(t) // also if it is too late
	if t.over || t == s.running && t.call.kind == 0 {
		return
	}
	t.grid, t.at, t.moved = grid, grid+delay, t == s.running
}

// advance runs what is due before until.
func (s *jitterSpec) advance(until time.Duration) {
	for {
		if t := s.running; t != nil {
			s.tied = s.tied || s.freeAt == until
			if s.freeAt >= until {
				return
			}
			s.running = nil
			s.end(t)
			continue
		}
		t := s.first()
		if t == nil {
			return
		}
		begin := max(t.at, s.freeAt)
		s.tied = s.tied || begin == until
		if begin >= until {
			return
		}
		if s.runs != "" {
			s.runs += " "
		}
		s.runs += fmt.Sprintf("%d@%v", t.n, begin)
		s.running, s.freeAt = t, begin+t.call.takes
	}
}

// first returns the timer with the earliest deadline, of equal ones the one scheduled first.
func (s *jitterSpec) first() *specTimer {
	var first *specTimer
	for _, t := range s.timers {
		if !t.over && (first == nil || t.at < first.at) {
			first = t
		}
	}
	return first
}

// end ends a run of t at freeAt.
func (s *jitterSpec) end(t *specTimer) {
	if t.call.kind == 0 {
		t.over = true
		return
	}
	delay := s.draw(t) // also if it was moved or cancelled
	if t.moved {
		t.moved = false
		return
	}
	t.grid += t.call.period
	if t.call.kind == 2 {
		t.grid = s.freeAt + t.call.period
	}
	t.at = t.grid + delay
}
