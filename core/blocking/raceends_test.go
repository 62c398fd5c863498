package blocking_test

import (
	"errors"
	"net"
	"sync"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// TestG23WritersMeetThePeersEnd: goroutines write while the peer ends the stream. A write that is accepted is sent or fails at the
// close; the end refuses the others with ErrChannelClosing. With the race detector it checks that the loop begins to refuse writes
// with its lock held.
func TestG23WritersMeetThePeersEnd(t *testing.T) {
	g := newGroup(t, 0)
	for range 40 {
		ours, theirs := net.Pipe()
		var over, begun sync.WaitGroup
		begun.Add(3)
		registered, ends := make(chan struct{}), func() { begun.Wait() } // until all goroutines call the channel
		var ch *blocking.Channel
		for range 3 {
			over.Go(func() {
				<-registered
				open := ch.IsOpen()
				for begun.Done(); open; {
					open = ch.IsOpen()
				}
				if err := ch.Write(nil).Err(); !errors.Is(err, blocking.ErrChannelClosing) && !errors.Is(err, blocking.ErrChannelClosed) {
					t.Errorf("R220: a write after the peer's end: %v, want ErrChannelClosing or ErrChannelClosed", err)
				}
			})
		}
		ch = mustRegister(t, g, &halfClosing{Conn: ours, input: shutdown(ends)}, &handler{})
		close(registered)
		over.Wait()
		coretest.Await(t, "the close", ch.CloseFuture().Done())
		_ = theirs.Close()
	}
}
