package blocking_test

import (
	"io"
	"net"
	"testing"
	"time"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestFlushOnTheExecutorBeforeTheStart: a task of an idle executor registers a connection, which gets this executor, and writes.
// Nothing can be sent before the handshake, so Flush returns at once, and the bytes are sent behind Active, in their order.
func TestFlushOnTheExecutorBeforeTheStart(t *testing.T) {
	g, err := blocking.NewGroup(2)
	coretest.EndWithTest(t, g, err)
	first, _ := net.Pipe()
	old := mustRegister(t, g, first, echo())
	old.Close()
	coretest.Until(t, "the executor to be idle", func() bool { return g.Stats().Idle == 1 })
	ours, theirs := net.Pipe()
	defer theirs.Close()
	onLoop(t, old, func() {
		ch := mustRegister(t, g, ours, &handler{active: func(ch *blocking.Channel) { ch.Write([]byte("!")) }}) // it is not flushed
		if ch.EventLoop() != old.EventLoop() {
			t.Error("not exercised: the connection got another executor")
		}
		ch.WriteAndFlush([]byte("ab"))
		ch.WriteAndFlush([]byte("c"))
	})
	coretest.Must(t, theirs.SetReadDeadline(time.Now().Add(coretest.HangGuard)))
	got := make([]byte, 3)
	if _, err := io.ReadFull(theirs, got); err != nil || string(got) != "abc" {
		t.Errorf("the peer has got %q, %v, want \"abc\"", got, err)
	}
}
