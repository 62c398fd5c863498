package core_test

import (
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// BenchmarkHooks is the time of one shutdown hook of many.
func BenchmarkHooks(b *testing.B) {
	e, err := core.NewExecutor()
	coretest.EndWithTest(b, e, err)
	for range b.N {
		if _, err := e.AddShutdownHook(func() {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	e.Shutdown()
	coretest.AwaitDone(b, e)
}
