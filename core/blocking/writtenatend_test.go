package blocking_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// G23: a write of another goroutine, while the executor sends the rest after the peer's end, is
// refused: the close follows, and would discard its bytes.
func TestG23WriteWhileTheRestIsSentAfterThePeersEnd(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := net.Pipe()
	closeAtEnd(t, theirs)
	ch := mustRegister(t, g, &halfClosing{Conn: ours, closeWrite: func() {}, input: eof{}}, &handler{
		active: func(ch *blocking.Channel) { ch.Write([]byte("rest")) },
	})
	got := make([]byte, 1)
	if _, err := io.ReadFull(theirs, got); err != nil { // the executor is inside the flush
		t.Fatal(err)
	}
	late := ch.Write([]byte("late"))
	refused := late.Err()
	all, err := io.ReadAll(theirs)
	if err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "the close", ch.CloseFuture().Done())
	if !errors.Is(refused, blocking.ErrChannelClosing) || string(got)+string(all) != "rest" || ch.CloseCause() != io.EOF {
		t.Errorf("G23: the late write returned %v, the peer got %q, the cause is %v; want ErrChannelClosing, %q, %v",
			refused, string(got)+string(all), ch.CloseCause(), "rest", io.EOF)
	}
	if ch.PendingBytes() != 0 {
		t.Errorf("G23: %d accepted bytes are discarded", ch.PendingBytes())
	}
}
