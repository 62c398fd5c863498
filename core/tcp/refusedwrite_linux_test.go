package tcp_test

import (
	"context"
	"testing"
	"time"

	"eventide/core/tcp"
)

// TestG22ARefusedWriteHasFailedAlready: it waits for nothing, not for the writes before
// it, which may be pending for as long as the peer does not read. Those that were
// accepted complete in their order.
func TestG22ARefusedWriteHasFailedAlready(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []tcp.Option
		close  func(ch *tcp.Channel)
		want   error // of the refused write
		failed bool  // so do the writes before it
	}{
		"Close with linger": {[]tcp.Option{tcp.WithLinger(hangGuard)}, func(ch *tcp.Channel) { ch.Close() }, tcp.ErrChannelClosed, true},
		"CloseGracefully":   {nil, func(ch *tcp.Channel) { ch.CloseGracefully(time.Time{}) }, tcp.ErrChannelClosing, false},
		"CloseOutput":       {nil, func(ch *tcp.Channel) { ch.CloseOutput() }, tcp.ErrOutputShutdown, false},
	} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			p := newPair(t, nil, append(c.opts, noWaterMarks())...)
			listen := func(w string, f tcp.WriteFuture) {
				f.OnDone(func(_ int, err error) {
					if (err != nil) != (c.failed || w == "refused") {
						t.Errorf("G22: %s ended with %v", w, err)
					}
					p.add("%s", w)
				})
			}
			on(t, p.ch.EventLoop(), func() {
				p.fillInLoop(t)
				w1, w2 := p.ch.WriteAndFlush([]byte("one")), p.ch.Write([]byte("two"))
				c.close(p.ch)
				refused := p.ch.Write([]byte("x"))
				listen("w2", w2)
				listen("w1", w1)
				listen("refused", refused)
				select {
				case <-refused.Done():
				default:
					t.Error("G22: the refused write is pending")
				}
				_, err := refused.Wait(context.Background())
				wantErr(t, "G18: Wait for the refused write, on the loop", err, c.want)
			})
			on(t, p.ch.EventLoop(), func() {}) // behind the listener
			wantLog(t, "G22: before the peer reads", p.String(), "Active refused")
			_, _ = readAll(p.peer)
			_ = p.peer.Close()
			p.await(t, "Unregistered")
			wantLog(t, "G22: order", p.String(), "Active refused w1 w2 Inactive Unregistered")
		})
	}
}
