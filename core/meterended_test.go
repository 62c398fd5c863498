package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// A meter that is made after the end measures no busy time: no body runs any more.
func TestMeterMadeAfterTheEnd(t *testing.T) {
	for name, newOne := range map[string]func() (core.EventExecutor, error){
		"executor": func() (core.EventExecutor, error) { return core.NewExecutor() },
		"pool":     func() (core.EventExecutor, error) { return core.NewPool(2) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ex, err := newOne()
				coretest.Must(t, err)
				coretest.Must(t, ex.Execute(func() {}))
				coretest.Must(t, ex.Close())
				m := ex.(interface{ NewMeter() *core.Meter }).NewMeter()
				time.Sleep(time.Second)
				if r := m.Read(); r.Busy != 0 || r.Elapsed != time.Second {
					t.Errorf("a meter made after the end: Busy is %v of %v, want 0 of 1s", r.Busy, r.Elapsed)
				}
			})
		})
	}
}
