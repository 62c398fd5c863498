package tcptest_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"
	"eventide/core/tcp/tcptest"
)

// TestSendAfterTheEnd: what the peer sends after the end of its side is dropped, as if its
// kernel had refused it.
func TestSendAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(coretest.Journal)
		peer := tcptest.Connect(t, recorder{Journal: j, then: func(event string, _ *tcp.Channel, p []byte) {
			if event == "Read" {
				j.Add(string(p))
			}
		}}, tcp.WithHalfClosure(true))
		peer.Channel().SetAutoRead(false)
		peer.Send([]byte("early"))
		peer.End()
		peer.Send([]byte("late"))
		peer.Channel().SetAutoRead(true)
		coretest.Want(t, "received", string(peer.Received()), "")
		j.Want(t, "the handler", "Active Read early ReadComplete InputShutdown ReadComplete")
	})
}

// TestErrOfAPeer: nil while the channel's side is open, and io.EOF after its orderly end.
func TestErrOfAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := tcptest.Connect(t, tcp.HandlerBase{})
		coretest.Must(t, peer.Err())
		f := peer.Channel().CloseGracefully(time.Time{})
		if err := peer.Err(); err != io.EOF {
			t.Errorf("while the channel drains: %v, want EOF", err)
		}
		peer.End()
		_, err := f.Wait(t.Context())
		coretest.Must(t, err)
		if err := peer.Err(); err != io.EOF {
			t.Errorf("after the close: %v, want EOF", err)
		}
	})
}
