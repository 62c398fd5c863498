package tcp_test

import (
	"errors"
	"syscall"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"
)

// TestG22TheFirstErrorClosesTheChannel: a send fails inside a handler, which then panics. The error of the
// send is the cause of every write that is refused on the loop, from then on, and that of the close.
func TestG22TheFirstErrorClosesTheChannel(t *testing.T) {
	coretest.CheckLeaks(t)
	var ch *tcp.Channel
	var refused error // of a write between the panic and the close
	onPanic := core.WithPanicHandler(func(*core.PanicError) { refused = ch.Write([]byte("x")).Err() })
	p := newPairOn(t, coretest.NewGroup(t, 1, onPanic), func(at string, c *tcp.Channel, b []byte) {
		if at == "Read" {
			ch = c
			c.WriteAndFlush(b)
			panic("boom")
		}
	}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
		if op == "send" {
			return n, syscall.EPIPE
		}
		return n, 0
	}))
	_, err := p.peer.Write([]byte("x"))
	coretest.Must(t, err)
	p.Await(t, 1, "Unregistered")
	p.Want(t, "G22: events", "Active Read Error Inactive Unregistered")
	var closed *tcp.ClosedError
	if !errors.As(refused, &closed) || !errors.Is(closed.Cause, syscall.EPIPE) {
		t.Errorf("G22: a write after the panic: got %v, want a *ClosedError whose cause is the error of the send", refused)
	}
	coretest.WantErr(t, "G22: the cause", p.ch.CloseCause(), syscall.EPIPE)
}
