package core_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// earlyAlarm is a clock whose alarm for one duration is over when AfterFunc returns, as if the caller had been delayed
// there until then.
type earlyAlarm struct{ early time.Duration }

func (earlyAlarm) Now() time.Time { return time.Now() }

func (c earlyAlarm) AfterFunc(d time.Duration, f func()) core.Alarm {
	if d != c.early {
		return time.AfterFunc(d, f)
	}
	f()
	over := time.AfterFunc(time.Hour, func() {})
	over.Stop()
	return over
}

// The timeout may pass while the caller of ShutdownGracefully arms its alarm, before the shutdown is published: nobody
// else would close admission.
func TestG11ATimeoutThatPassesBeforeTheShutdownIsPublished(t *testing.T) {
	const timeout = 2 * time.Hour
	clock := core.WithClock(earlyAlarm{early: timeout})
	for name, ex := range map[string]core.EventExecutor{
		"executor": coretest.NewExecutor(t, clock), "pool": coretest.NewPool(t, 2, clock),
	} {
		t.Run(name, func(t *testing.T) {
			coretest.MustExecute(t, ex, func() {})
			ex.ShutdownGracefully(time.Hour, timeout)
			coretest.Await(t, "G11: Done", ex.Termination().Done())
			coretest.Want(t, "the cause of Context", context.Cause(ex.Context()), core.ErrShutdownTimeout)
		})
	}
}

// The tracer of a loop, and that of a pool, gets an event for a refused Reset.
func TestTracerGetsARefusedReset(t *testing.T) {
	for name, make := range map[string]func(core.Option) core.EventExecutor{
		"executor": func(o core.Option) core.EventExecutor { return coretest.NewExecutor(t, o) },
		"pool":     func(o core.Option) core.EventExecutor { return coretest.NewPool(t, 1, o) },
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			ex := make(core.WithTracer(&r))
			timer := mustSchedule(t, ex, time.Hour, func() {})
			coretest.Want(t, "cancelled", timer.Cancel(), true)
			coretest.Want(t, "moved", timer.Reset(time.Minute), false)
			var accepted []bool
			for _, e := range r.all() {
				if e.Kind == core.EventAdmit && e.Op == core.OpResetTimer {
					accepted = append(accepted, e.Accepted)
				}
			}
			coretest.Want(t, "Accepted of each EventAdmit of a Reset", fmt.Sprint(accepted), "[false]")
		})
	}
}
