package blocking

import (
	"bytes"
	"net"
	"runtime"
	"testing"

	"eventide/core/internal/coretest"
)

// Whoever has waited for the end of the last channel finds room for the next one at once (R177): the channel gives its
// place back before its future is complete. The test holds the lock that this takes, and looks where the loop waits.
func TestR177ThePlaceIsFreeBeforeTheFuture(t *testing.T) {
	g, err := NewGroup(1)
	coretest.Must(t, err)
	near, far := net.Pipe()
	ch, err := g.Register(near, HandlerBase{})
	coretest.Must(t, err)
	coretest.Must(t, far.Close())
	g.mu.Lock()
	ch.Close()
	stacks := make([]byte, 1<<20)
	for !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*Group).release(")) {
		select {
		case <-ch.CloseFuture().Done():
			g.mu.Unlock()
			t.Fatal("the future is complete, and the place is not free")
		default:
			runtime.Gosched()
		}
	}
	g.mu.Unlock()
	coretest.Await(t, "the end of the channel", ch.CloseFuture().Done())
	coretest.Must(t, g.Close())
}
