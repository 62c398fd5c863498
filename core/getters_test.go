package core_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestGettersBesideEveryCall: each method without arguments may be called from any goroutine at any
// time.
func TestGettersBesideEveryCall(t *testing.T) {
	for name, ex := range map[string]core.EventExecutor{
		"executor": coretest.NewExecutor(t),
		"loop":     coretest.NewGroup(t, 1).Next(),
		"pool":     coretest.NewPool(t, 2),
	} {
		t.Run(name, func(t *testing.T) {
			call := func() { callEverything(t, ex) }
			coretest.CallGetters(t, ex, []string{"Close", "Shutdown"}, call, call)
		})
	}
}

// callEverything changes what getters show, and ends the executor.
func callEverything(t *testing.T, ex core.EventExecutor) {
	for i := range 300 {
		_ = ex.Execute(func() {})
		if timer, err := ex.Schedule(time.Duration(i%3)*time.Hour, func() {}); err == nil {
			timer.Reset(time.Minute)
			timer.Cancel()
		}
		if hooks, ok := ex.(interface {
			AddShutdownHook(func()) (func() bool, error)
		}); ok {
			if remove, err := hooks.AddShutdownHook(func() {}); err == nil && i%2 == 0 {
				remove()
			}
		}
		if p, ok := ex.(*core.Pool); ok {
			if err := p.Resize(1 + i%3); err != nil {
				t.Error(err)
			}
		}
	}
	ex.ShutdownGracefully(0, time.Minute)
	<-ex.Termination().Done()
}
