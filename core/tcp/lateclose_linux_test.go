package tcp_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22ALateCloseCompletesCloseFutureFirst: a call that finds the channel closed, while the loop is
// about to complete the futures, completes CloseFuture before its own future.
func TestG22ALateCloseCompletesCloseFutureFirst(t *testing.T) {
	for name, end := range map[string]func(ch *tcp.Channel) *core.Future[struct{}]{
		"Close":           func(ch *tcp.Channel) *core.Future[struct{}] { return ch.Close() },
		"CloseGracefully": func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseGracefully(time.Time{}) },
		"CloseOutput":     func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseOutput() },
	} {
		p := newPair(t, nil)
		coretest.OnLoop(t, p.ch.EventLoop(), func() {
			closed := p.ch.CloseFuture()
			p.ch.WhileCloseIsPublished(func() {
				<-end(p.ch).Done()
				select {
				case <-closed.Done():
				default:
					t.Errorf("%s: its future is complete, and CloseFuture is not", name)
				}
			})
		})
	}
}
