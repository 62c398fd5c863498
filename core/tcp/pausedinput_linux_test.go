package tcp_test

import (
	"testing"
	"testing/synctest"

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
