package tcp_test

import (
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22ALateCloseCompletesCloseFutureFirst: a call that finds the channel closed, while the loop is
// about to complete the futures, leaves that to the loop: so its future completes after
// CloseFuture, and so do its listeners.
func TestG22ALateCloseCompletesCloseFutureFirst(t *testing.T) {
	for name, end := range map[string]func(ch *tcp.Channel) *core.Future[struct{}]{
		"CloseFuture":     func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseFuture() },
		"Close":           func(ch *tcp.Channel) *core.Future[struct{}] { return ch.Close() },
		"CloseGracefully": func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseGracefully(time.Time{}) },
		"CloseOutput":     func(ch *tcp.Channel) *core.Future[struct{}] { return ch.CloseOutput() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, nil)
			var late *core.Future[struct{}]
			order := make(chan string, 2)
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				p.ch.WhileCloseIsPublished(func() {
					late = end(p.ch)
					late.OnDone(func(struct{}, error) { order <- "late" })
					select {
					case <-late.Done():
						t.Error("G22: the future is complete before the loop has completed CloseFuture")
					default:
					}
				})
				p.ch.CloseFuture().OnDone(func(struct{}, error) { order <- "CloseFuture" })
				p.ch.Close()
			})
			coretest.Await(t, "the future of the late call", late.Done())
			want := "CloseFuture"
			if name == want {
				want = "late" // it is the same future, with this listener first
			}
			if first := <-order; first != want {
				t.Errorf("G22: the listener of %s ran first, want that of %s", first, want)
			}
			coretest.Await(t, "the future of a call after all", end(p.ch).Done())
		})
	}
}

// TestG22ALateCloseOfAListener is the same of a listener.
func TestG22ALateCloseOfAListener(t *testing.T) {
	for name, end := range map[string]func(l *tcp.Listener) *core.Future[struct{}]{
		"CloseFuture": func(l *tcp.Listener) *core.Future[struct{}] { return l.CloseFuture() },
		"Close":       func(l *tcp.Listener) *core.Future[struct{}] { return l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			g := coretest.NewGroup(t, 1)
			l, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler { return tcp.HandlerBase{} })
			coretest.WantErr(t, "Listen", err, nil)
			var late *core.Future[struct{}]
			coretest.OnLoop(t, l.EventLoop(), func() {
				l.WhileCloseIsPublished(func() {
					late = end(l)
					select {
					case <-late.Done():
						t.Error("G22: the future is complete before the loop has completed CloseFuture")
					default:
					}
				})
				l.Close()
			})
			coretest.Await(t, "the future of the late call", late.Done())
			coretest.Await(t, "the future of a call after all", end(l).Done())
		})
	}
}

// TestG22AWriteHasFailedOnceTheCloseIsPublished: a channel sends no byte once its close is published. So Err of a pending
// write returns the error, although the future of the write completes later, after the futures of the close.
func TestG22AWriteHasFailedOnceTheCloseIsPublished(t *testing.T) {
	coretest.CheckLeaks(t)
	p := newPair(t, nil)
	coretest.OnLoop(t, p.ch.EventLoop(), func() {
		w := p.ch.Write([]byte("never sent"))
		coretest.WantErr(t, "a pending write", w.Err(), nil)
		p.ch.WhileCloseIsPublished(func() {
			coretest.WantErr(t, "G22: the write while the close is published", w.Err(), tcp.ErrChannelClosed)
		})
		p.ch.Close()
	})
	coretest.Await(t, "the close", p.ch.CloseFuture().Done())
}
