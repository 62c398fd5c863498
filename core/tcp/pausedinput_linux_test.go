package tcp_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// TestPausedInput: during a pause no read begins and the end of the stream is not noticed, and
// a pause by the handler holds for the input of the same readiness event.
func TestPausedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		p := tcptest.Connect(t, h)
		p.Channel().SetAutoRead(false)
		p.Send([]byte("x"))
		p.End()
		h.Want(t, "in the pause", "Active")
		p.Channel().SetAutoRead(true)
		synctest.Wait()
		h.Want(t, "after the pause", "Active Read ReadComplete Inactive Unregistered")
	})
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{then: func(at string, ch *tcp.Channel, _ []byte) {
			if at == "Read" {
				ch.SetAutoRead(false)
			}
		}}
		p := tcptest.Connect(t, h, tcp.WithReadBuffer(1))
		p.Send([]byte("xyz"))
		h.Want(t, "a pause in Read", "Active Read ReadComplete")
	})
}

// TestG23PausedInputIsDiscardedByADrain: a graceful close reads the input of a pause, as a peer that writes before it
// reads would block otherwise. A close after that resets no connection.
func TestG23PausedInputIsDiscardedByADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		p := tcptest.Connect(t, h)
		p.Channel().SetAutoRead(false)
		p.Send([]byte("x"))
		drained := p.Channel().CloseGracefully(time.Time{})
		synctest.Wait()
		p.Channel().Close()
		if err := p.Err(); err != io.EOF {
			t.Errorf("G23: the peer got %v, want the end of the stream: its input was not read", err)
		}
		coretest.WantErr(t, "G23: the graceful close, cut short", coretest.AwaitErr(t, "it", drained), tcp.ErrChannelClosed)
		h.Want(t, "G23: of input that is discarded", "Active Inactive Unregistered")
	})
}
