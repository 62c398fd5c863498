package tcp_test

import (
	"context"
	"io"
	"testing"
	"time"

	"eventide/core/internal/coretest"
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
		"Close with linger": {[]tcp.Option{tcp.WithLinger(coretest.HangGuard)}, func(ch *tcp.Channel) { ch.Close() }, tcp.ErrChannelClosed, true},
		"CloseGracefully":   {nil, func(ch *tcp.Channel) { ch.CloseGracefully(time.Time{}) }, tcp.ErrChannelClosing, false},
		"CloseOutput":       {nil, func(ch *tcp.Channel) { ch.CloseOutput() }, tcp.ErrOutputShutdown, false},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, append(c.opts, noWaterMarks())...)
			listen := func(w string, f tcp.WriteFuture) {
				f.OnDone(func(_ int, err error) {
					if (err != nil) != (c.failed || w == "refused") {
						t.Errorf("G22: %s ended with %v", w, err)
					}
					p.Add(w)
				})
			}
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
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
				coretest.WantErr(t, "G18: Wait for the refused write, on the loop", err, c.want)
			})
			coretest.OnLoop(t, p.ch.EventLoop(), func() {}) // behind the listener
			p.Want(t, "G22: before the peer reads", "Active refused")
			_, _ = readAll(p.peer)
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			p.Want(t, "G22: order", "Active refused w1 w2 Inactive Unregistered")
		})
	}
}

// TestWritesAfterThePeersEnd: while the channel sends its buffer, and once both sides have ended,
// a write fails with ErrChannelClosing.
func TestWritesAfterThePeersEnd(t *testing.T) {
	for name, halfClosure := range map[string]bool{"sends its buffer": false, "both sides have ended": true} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			p := newPair(t, nil, noWaterMarks(), tcp.WithHalfClosure(halfClosure))
			if halfClosure {
				p.ch.WriteAndFlush(make([]byte, p.ourKernelTakes(t))) // not acknowledged before the peer reads
				coretest.AwaitErr(t, "the output", p.ch.CloseOutput())
			} else {
				p.fill(t)
			}
			coretest.Must(t, p.peer.CloseWrite())
			coretest.Until(t, "the channel to close", func() bool { return !p.ch.IsOpen() })
			coretest.WantErr(t, "a write", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			coretest.OnLoop(t, p.group, func() {
				coretest.WantErr(t, "a write on the loop", p.ch.Write([]byte("x")).Err(), tcp.ErrChannelClosing)
			})
			_, _ = readAll(p.peer)
			_ = p.peer.Close()
			p.Await(t, 1, "Unregistered")
			coretest.WantErr(t, "the cause", p.ch.CloseCause(), io.EOF)
		})
	}
}
