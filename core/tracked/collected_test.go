package tracked

import (
	"context"
	"testing"
	"time"

	"eventide/core/internal/coretest"
)

// TestG24AnEndedGroupIsCollected: no timer of a graceful shutdown keeps the memory of a group that
// has ended.
func TestG24AnEndedGroupIsCollected(t *testing.T) {
	for name, end := range map[string]func(*Group){
		"Shutdown in the quiet period": func(g *Group) {
			_, err := g.ShutdownGracefully(time.Hour, 2*time.Hour)
			coretest.Must(t, err)
			g.Shutdown()
		},
		"a quiet period after a function": func(g *Group) {
			_, err := g.ShutdownGracefully(time.Hour, 3*time.Hour)
			coretest.Must(t, err)
			gate := make(chan struct{})
			coretest.Must(t, g.Go("late", func(context.Context) error { <-gate; return nil }))
			g.Shutdown()
			close(gate)
		},
		"long before the deadline": func(g *Group) {
			_, err := g.ShutdownGracefully(0, time.Hour)
			coretest.Must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.AwaitCollected(t, "the group (G24)", func() *Group {
				g := NewGroup()
				end(g)
				<-g.Termination().Done()
				return g
			})
		})
	}
}
