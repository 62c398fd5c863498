package core_test

import (
	"errors"
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

// Without a loop there is no busy time, even if a shutdown then fails to start one.
func TestMeterOfAnExecutorThatCannotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := core.NewExecutor(core.WithSpawner(func(func()) error { return errors.New("no goroutine") }))
		coretest.Must(t, err)
		m := ex.NewMeter()
		time.Sleep(time.Second)
		<-ex.Shutdown().Done()
		time.Sleep(time.Second)
		if r := m.Read(); r.Busy != 0 || r.Elapsed != 2*time.Second {
			t.Errorf("a meter of an executor whose only start failed: Busy is %v of %v, want 0 of 2s", r.Busy, r.Elapsed)
		}
	})
}
