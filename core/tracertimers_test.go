package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// endsTracer compares the number of timers that were cancelled, by its events, with the number of Done channels that are
// closed.
type endsTracer struct {
	t         *testing.T
	dones     []<-chan struct{} // set before the first timer ends
	cancelled int
}

func (r *endsTracer) Trace(ev core.Event) {
	if ev.Kind != core.EventTimerCancelled {
		return
	}
	r.cancelled++
	closed := 0
	for _, done := range r.dones {
		select {
		case <-done:
			closed++
		default:
		}
	}
	if closed != r.cancelled {
		r.t.Errorf("at TimerCancelled number %d, %d timers have ended, want as many", r.cancelled, closed)
	}
}

// TestATimerHasEndedWhenItsEndIsTraced: at the event of a cancelled timer its Done channel is closed, and none of the timers that
// end later is, whether Cancel or the shutdown ends them.
func TestATimerHasEndedWhenItsEndIsTraced(t *testing.T) {
	for name, make := range map[string]func(core.Option) core.EventExecutor{
		"executor": func(o core.Option) core.EventExecutor { return coretest.NewExecutor(t, o) },
		"pool":     func(o core.Option) core.EventExecutor { return coretest.NewPool(t, 1, o) },
	} {
		r := &endsTracer{t: t}
		ex := make(core.WithTracer(r))
		var timers []*core.Timer
		for range 4 {
			timer := mustSchedule(t, ex, time.Hour, func() {})
			timers, r.dones = append(timers, timer), append(r.dones, timer.Done())
		}
		timers[2].Cancel()
		timers[0].Cancel()
		ex.Shutdown()
		coretest.AwaitDone(t, ex)
		coretest.Want(t, name+": timers cancelled", r.cancelled, 4)
	}
}
