package core_test

import (
	"errors"
	"testing"
	"time"

	"eventide/core"
)

// A clock that panics when the end of a timer's run is entered ends the executor. The
// timer ends with the others: nobody else knows of it any more.
func TestG9ATimerWhoseClockPanicsEnds(t *testing.T) {
	errClock := errors.New("time is out of joint")
	for name, c := range map[string]struct {
		schedule func(ex *core.Executor, body func()) (*core.Timer, error)
		want     error
	}{
		"fixed delay": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(0, time.Hour, body)
		}, core.ErrCancelled},
		"fixed delay, exits": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.ScheduleWithFixedDelay(0, time.Hour, func() { body(); goexit() })
		}, core.ErrGoexit},
		"one shot, in a shutdown": {func(ex *core.Executor, body func()) (*core.Timer, error) {
			return ex.Schedule(0, func() { _, _ = ex.ShutdownGracefully(time.Second, time.Hour); body() })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newManualClock()
			ex := newExecutor(t, core.WithClock(clock))
			gate := make(chan struct{})
			mustExecute(t, ex, func() { <-gate })
			timer, err := c.schedule(ex, func() {
				clock.onNow = func() { clock.onNow = func() {}; panic(errClock) } // once
			})
			must(t, err)
			close(gate)
			awaitDone(t, ex)
			if err := ex.Termination().Err(); !errors.Is(err, errClock) {
				t.Errorf("G15: Err %v, want the clock's panic", err)
			}
			select {
			case <-timer.Done():
				if err := timer.Err(); err != c.want {
					t.Errorf("G9: the timer ended with %v, want %v", err, c.want)
				}
			default:
				t.Errorf("G9: the timer has not ended when Done is closed")
			}
			if s := ex.Stats(); s.Timers != 0 || s.TimersRun != 1 {
				t.Errorf("G20: %d timers left, %d runs; want 0, 1", s.Timers, s.TimersRun)
			}
			checkConserved(t, ex.Stats())
		})
	}
}
