package blocking_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// handshaken counts the handshakes of a connection.
type handshaken struct {
	net.Conn
	calls atomic.Int64
}

func (h *handshaken) HandshakeContext(context.Context) error {
	h.calls.Add(1)
	return nil
}

// TestG22NoHandshakeAfterTheEnd: a channel that has ended before its executor runs calls nothing
// of its closed connection.
func TestG22NoHandshakeAfterTheEnd(t *testing.T) {
	for name, want := range map[string]int64{"before it runs": 0, "while it runs": 1} {
		t.Run(name, func(t *testing.T) {
			held := make(chan struct{})
			g := newGroup(t, 0, core.WithSpawner(func(loop func()) error {
				go func() { <-held; loop() }()
				return nil
			}))
			ours, theirs := net.Pipe()
			closeAtEnd(t, theirs)
			conn, begun := &handshaken{Conn: ours}, make(chan struct{})
			mustRegister(t, g, conn, &handler{active: func(*blocking.Channel) { close(begun) }})
			if want > 0 {
				close(held)
				coretest.Await(t, "Active", begun)
			}
			g.Shutdown()
			if want == 0 {
				close(held)
			}
			coretest.AwaitDone(t, g)
			coretest.Want(t, "G22: the handshakes", conn.calls.Load(), want)
		})
	}
}
