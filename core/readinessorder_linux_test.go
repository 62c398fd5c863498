package core_test

import (
	"slices"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// TestG9AListenerRunsBeforeTheNextReadiness: two descriptors are ready in one poll. The listener of a future
// that the first handler completes runs right after that handler.
func TestG9AListenerRunsBeforeTheNextReadiness(t *testing.T) {
	epollLoops(t, func(t *testing.T, l *core.EventLoop) {
		var order []string // loop only
		p := core.NewPromise[struct{}](l)
		p.Future().OnDone(func(struct{}, error) { order = append(order, "listener") })
		heard := newCounter()
		sources := []*source{mustSource(t), mustSource(t)}
		for _, s := range sources {
			mustRegister(t, l, s.fd, core.Readable, func(core.Readiness) {
				_ = s.Drain()
				order = append(order, "ready")
				p.TrySuccess(struct{}{})
				heard.add()
			})
		}
		coretest.OnLoop(t, l, func() {
			for _, s := range sources {
				coretest.Must(t, s.Input())
			}
		})
		heard.await(t, "one readiness")
		heard.await(t, "the other")
		coretest.OnLoop(t, l, func() {
			if want := []string{"ready", "listener", "ready"}; !slices.Equal(order, want) {
				t.Errorf("the order is %q, want %q", order, want)
			}
		})
	})
}
