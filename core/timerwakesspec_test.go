package core_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// wakesOp is one step of TestPropG12WakeUpsForTimers, which takes no time unless it is "wait".
type wakesOp struct {
	op    string // of wakesOps
	delay time.Duration
	of    int // which timer is moved or cancelled
}

var wakesOps = []string{"schedule", "schedule", "rate", "reset", "reset", "cancel", "wait", "wait", "execute", "lazy"}

// TestPropG12WakeUpsForTimers: while the loop sleeps, a call for a timer wakes it once if the timer is
// due before the loop wakes by itself, and not otherwise. The same holds for the one worker of a pool.
// Nothing else begins a sleep, and no sleep is longer than until the first timer.
func TestPropG12WakeUpsForTimers(t *testing.T) {
	program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wakesOp {
		return wakesOp{
			op:    rapid.SampledFrom(wakesOps).Draw(t, "op"),
			delay: time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")) * time.Second,
			of:    rapid.IntRange(0, 9).Draw(t, "of"),
		}
	}), 8, 40)
	rapid.Check(t, func(rt *rapid.T) {
		ops, pool, wrong := program.Draw(rt, "ops"), rapid.Bool().Draw(rt, "pool"), ""
		synctest.Test(t, func(t *testing.T) {
			spec := &wakesSpec{pool: pool}
			if pool {
				spec.ex = coretest.NewPool(t, 1, core.WithTracer(spec))
			} else {
				spec.ex = coretest.NewExecutor(t, core.WithTracer(spec))
			}
			wrong = spec.run(t, ops)
		})
		if wrong != "" {
			rt.Fatalf("G12: pool %v: %s", pool, wrong)
		}
	})
}

// wakesSpec has the timers of an executor, and until when its loop sleeps.
type wakesSpec struct {
	ex     core.EventExecutor
	pool   bool
	until  atomic.Int64 // a time.Duration, from the trace; negative: for ever
	now    time.Duration
	timers []*wakesTimer
	lazy   bool // a lazy task waits
}

type wakesTimer struct {
	*core.Timer
	at, period time.Duration
	over       bool
}

func (s *wakesSpec) Trace(ev core.Event) {
	if ev.Kind == core.EventPark {
		s.until.Store(int64(ev.Until))
	}
}

// run returns a description of the first difference, or "".
func (s *wakesSpec) run(t *testing.T, ops []wakesOp) string {
	coretest.OnLoop(t, s.ex, func() {})
	for i, op := range ops {
		synctest.Wait()
		before := s.ex.Stats()
		least, most := s.do(t, op)
		synctest.Wait()
		after := s.ex.Stats()
		s.passTo(s.now)
		wakes := after.Wakes - before.Wakes
		if wakes > 0 {
			s.lazy = false
		}
		first, waits := s.first()
		switch until := time.Duration(s.until.Load()); {
		case wakes < least || wakes > most:
			return fmt.Sprintf("step %d of %+v: %d wake-ups, want %d to %d", i, ops, wakes, least, most)
		case op.op != "wait" && after.Parks-before.Parks != wakes:
			return fmt.Sprintf("step %d of %+v: %d sleeps after %d wake-ups", i, ops, after.Parks-before.Parks, wakes)
		case waits && (until < 0 || until > first):
			return fmt.Sprintf("step %d of %+v: the loop sleeps until %v, and a timer is due at %v", i, ops, until, first)
		}
	}
	return ""
}

// do makes one step, and returns how many wake-ups it may take.
func (s *wakesSpec) do(t *testing.T, op wakesOp) (least, most int64) {
	until := time.Duration(s.until.Load()) // before the call
	of := &wakesTimer{over: true}
	if len(s.timers) > 0 {
		of = s.timers[op.of%len(s.timers)]
	}
	set := func(timer *wakesTimer) {
		if timer.at = s.now + op.delay; until < 0 || timer.at < until {
			least, most = 1, 1
		}
	}
	if s.pool && s.lazy {
		most = 1 // a pool may run the task at any call
	}
	var err error
	switch op.op {
	case "schedule", "rate":
		timer := &wakesTimer{}
		if op.op == "schedule" {
			timer.Timer, err = s.ex.Schedule(op.delay, func() {})
		} else {
			timer.period = op.delay + time.Second
			timer.Timer, err = s.ex.ScheduleAtFixedRate(op.delay, timer.period, func() {})
		}
		s.timers = append(s.timers, timer)
		set(timer)
	case "reset":
		if !of.over {
			of.Reset(op.delay)
			set(of)
		}
	case "cancel":
		if !of.over && of.Cancel() && !s.pool {
			most = 1 // a loop removes cancelled timers if they are the majority
		}
		of.over = true
	case "execute":
		err = s.ex.Execute(func() {})
		least, most = 1, 1
	case "lazy":
		err = s.ex.ExecuteLazy(func() {})
		s.lazy = true
	case "wait":
		time.Sleep(op.delay)
		s.now += op.delay
	}
	coretest.Must(t, err)
	return least, most
}

// passTo ends the runs that are due at now.
func (s *wakesSpec) passTo(now time.Duration) {
	for _, t := range s.timers {
		for !t.over && t.at <= now {
			t.at += t.period
			t.over = t.period == 0
		}
	}
}

// first returns the deadline of the first timer that waits, if there is one.
func (s *wakesSpec) first() (at time.Duration, waits bool) {
	for _, t := range s.timers {
		if !t.over && (!waits || t.at < at) {
			at, waits = t.at, true
		}
	}
	return at, waits
}
