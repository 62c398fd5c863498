package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"eventide/props/interleave/inprocess"
)

// clock checks that only timers move the clock, to the nanosecond, and that each schedule
// begins at the same time.
func clock() string {
	s, _ := inprocess.New("walk", 1)
	var begins [2]time.Time
	for i := range begins {
		s.Begin()
		var slept, worked time.Duration
		real := time.Now()
		r := inprocess.Run(s, inprocess.Options{}, func() {
			start := time.Now()
			begins[i] = start
			time.AfterFunc(time.Hour, func() {}).Stop()
			var n atomic.Int32
			for range 100 {
				n.Add(1)
			}
			worked = time.Since(start)
			time.Sleep(12345 * time.Nanosecond)
			slept = time.Since(start)
		})
		switch {
		case r.Verdict != inprocess.Finished:
			return fmt.Sprint(r.Verdict, r.Blocked)
		case worked != 0 || slept != 12345:
			return fmt.Sprintf("a hundred operations took %v, and with a sleep of 12345ns %v", worked, slept)
		case time.Since(real) > time.Hour || time.Now().Before(real):
			return "the clock of the process does not show real time after a schedule"
		}
	}
	if begins[0] != begins[1] {
		return fmt.Sprintf("one schedule began at %v, the next at %v", begins[0], begins[1])
	}
	return ""
}

// waits checks that no timer expires while a goroutine can run, unless it is asked for.
func waits() string {
	s, err := inprocess.NewMix(3, inprocess.Names()...)
	if err != nil {
		return err.Error()
	}
	for range 500 {
		s.Begin()
		expired := false
		r := inprocess.Run(s, inprocess.Options{}, func() { expired = early() })
		if expired {
			return fmt.Sprintf("%s moved the clock beside a goroutine", s.Name())
		}
		s.End(r, true)
	}
	return ""
}

// abandonedTimers checks that a timer which a schedule has left behind is no timer of the
// next schedule: neither a ticker nor a function.
func abandonedTimers() string {
	var again func()
	again = func() { time.AfterFunc(time.Millisecond, again) }
	for _, leave := range []func(){func() { ticker() }, again} {
		s := inprocess.NewReplay(nil)
		s.Begin()
		r := inprocess.Run(s, inprocess.Options{MaxSteps: 500}, leave)
		if r.Verdict != inprocess.OutOfSteps {
			return fmt.Sprintf("the schedule that is to leave a timer behind: %v", r.Verdict)
		}
		s.Begin()
		r = inprocess.Run(s, inprocess.Options{MaxSteps: 500}, func() { time.Sleep(time.Second) })
		if r.Verdict != inprocess.Finished || r.Steps > 10 {
			return fmt.Sprintf("%v after %d steps", r.Verdict, r.Steps)
		}
	}
	return ""
}
