package core_test

import (
	"runtime"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// G24: the function that removes a hook does not keep the hook in memory once it has run.
func TestG24AHookThatRanIsNotReferenced(t *testing.T) {
	for name, ex := range map[string]core.EventExecutor{"executor": coretest.NewExecutor(t), "pool": coretest.NewPool(t, 1)} {
		t.Run(name, func(t *testing.T) {
			hooked := ex.(interface {
				AddShutdownHook(func()) (func() bool, error)
			})
			body, gone := traced(func() {})
			remove, err := hooked.AddShutdownHook(body)
			coretest.Must(t, err)
			body = nil
			ex.Shutdown()
			coretest.AwaitDone(t, ex)
			collected(t, "G24: a hook that ran", gone)
			runtime.KeepAlive(remove)
		})
	}
}
