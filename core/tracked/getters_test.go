package tracked_test

import (
	"context"
	"testing"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tracked"
)

// TestGettersBesideEveryCall: each method of a Group without arguments may be called from any
// goroutine at any time.
func TestGettersBesideEveryCall(t *testing.T) {
	g := tracked.NewGroup()
	coretest.CallGetters(t, g, []string{"Close", "Shutdown"}, func() {
		for i := range 300 {
			if err := g.Go("getter", func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			g.SetLimit(1 + i%3)
		}
		if _, err := g.ShutdownGracefully(0, time.Minute); err != nil {
			t.Error(err)
		}
		<-g.Termination().Done()
	})
}
