package core

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// purgeStep is a call between two chunks of a purge.
type purgeStep struct {
	op    string // of purgeOps
	of    int    // which timer, from the last one scheduled on
	delay int    // of a timer that moves or that is scheduled again
}

var purgeOps = []string{"cancel", "cancel", "reset", "again", "lower"}

// TestPropG8PurgeBesideCalls: while a pool cancels timers in chunks, its callers cancel, move and schedule the same
// timers. Each timer after the horizon ends once, and no other timer ends (G8, G11, G20).
func TestPropG8PurgeBesideCalls(t *testing.T) {
	steps := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) purgeStep {
		return purgeStep{rapid.SampledFrom(purgeOps).Draw(t, "op"), rapid.IntRange(0, 700).Draw(t, "of"), rapid.IntRange(1, 9).Draw(t, "delay")}
	}), 0, 5), 4, 4)
	rapid.Check(t, func(rt *rapid.T) {
		delays := make([]int, rapid.SampledFrom([]int{1, 10, 255, 256, 257, 512, 700}).Draw(rt, "timers"))
		period := rapid.IntRange(1, 9).Draw(rt, "delays up to")
		for i := range delays {
			delays[i] = i%period + 1
		}
		horizon, program := rapid.IntRange(0, 9).Draw(rt, "horizon"), steps.Draw(rt, "steps")
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = runPurge(t, delays, horizon, program) })
		if wrong != "" {
			rt.Fatalf("G8: %d timers, horizon %d: %s", len(delays), horizon, wrong)
		}
	})
}

// purgedTimer is a timer, and what its specification says of it.
type purgedTimer struct {
	*Timer
	at   int // in seconds
	over bool
}

// runPurge returns a description of the first difference, or "". No time passes, and the worker runs a body until the end.
func runPurge(t *testing.T, delays []int, horizon int, program [][]purgeStep) string {
	p, err := NewPool(1)
	if err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	defer func() {
		p.Shutdown()
		close(gate)
		<-p.term.Done()
	}()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Execute(func() { <-gate }))
	synctest.Wait()
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	timers, cancelled, scheduled := make([]purgedTimer, len(delays)), 0, len(delays)
	for i, delay := range delays {
		timer, err := p.Schedule(second(delay), func() {})
		must(err)
		timers[i] = purgedTimer{Timer: timer, at: delay}
	}
	lower := func(to int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		horizon = min(horizon, to)
		p.timers.horizon = int64(second(horizon))
	}
	chunk := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.purge()
	}
	lower(horizon)
	for i := 0; chunk() || i < len(program); i++ {
		for _, s := range program[i%len(program)] {
			timer := &timers[len(timers)-1-s.of%len(timers)]
			p.mu.Lock()
			timer.over = timer.state == timerOver // the order of a purge is not specified
			p.mu.Unlock()
			switch s.op {
			case "cancel":
				if timer.Cancel() == timer.over {
					return fmt.Sprintf("chunk %d: Cancel of a timer that is over %v returns %[2]v", i, timer.over)
				}
			case "reset":
				want := !timer.over && max(timer.at, s.delay) <= horizon
				if timer.Reset(second(s.delay)) != want {
					return fmt.Sprintf("chunk %d: Reset from %d to %d returns %v", i, timer.at, s.delay, !want)
				}
				if want {
					timer.at = s.delay
				}
			case "again":
				if err := p.ScheduleTimer(timer.Timer, second(s.delay), func() {}); (err == nil) != timer.over {
					return fmt.Sprintf("chunk %d: ScheduleTimer of a timer that is over %v: %v", i, timer.over, err)
				}
				if timer.over {
					timer.at = s.delay
					scheduled++
					cancelled++ // the run before
				}
			case "lower":
				lower(s.delay)
			}
		}
	}
	waiting := 0
	for i := range timers {
		timer := &timers[i]
		ended := timer.state == timerOver
		switch {
		case !ended:
			waiting++
		case timer.Err() != ErrCancelled:
			return fmt.Sprintf("timer %d has ended with %v", i, timer.Err())
		default:
			cancelled++
		}
		if timer.at > horizon && !ended {
			return fmt.Sprintf("timer %d at %d has not ended", i, timer.at)
		}
	}
	if s := p.Stats(); int(s.Timers) != waiting || int(s.TimersCancelled) != cancelled || int(s.TimersScheduled) != scheduled || p.heap.len() != waiting {
		return fmt.Sprintf("G20: %+v with %d in the heap, want %d waiting, %d cancelled, %d scheduled", s, p.heap.len(), waiting, cancelled, scheduled)
	}
	return ""
}
